"""Turns formulas from LaTeX into MathML, which browsers show by themselves: no script, nothing fetched."""

import html
import logging
import re
from typing import Any

from mkdocs.exceptions import PluginError

_log = logging.getLogger("mkdocs.hooks.formulas")
_FORMULA = re.compile(
    r'<(span|div) class="arithmatex">\s*(?:\\\((?P<inline>.*?)\\\)|\\\[(?P<block>.*?)\\\])\s*</\1>', re.DOTALL
)


def on_page_content(content: str, page: Any, **_: Any) -> str:
    """Convert the formulas of a page, those of docstrings among them."""
    return with_mathml(content, page.file.src_path)


def with_mathml(content: str, where: str) -> str:
    """Convert formulas; without the converter they stay in LaTeX.

    Raises:
        PluginError: A formula can't be read.
    """
    try:
        from latex2mathml.converter import convert
    except ImportError:
        if _FORMULA.search(content):
            _log.info("%s: formulas stay in LaTeX; `pip install latex2mathml` shows them set.", where)
        return content

    def converted(match: re.Match[str]) -> str:
        latex = html.unescape(match["inline"] or match["block"]).strip()
        display = "inline" if match["inline"] else "block"
        try:
            return str(convert(latex, display=display))
        except Exception as error:  # whatever its parser says
            raise PluginError(f"`{where}` has a formula that can't be read: {latex} ({error!r})") from error

    return _FORMULA.sub(converted, content)
