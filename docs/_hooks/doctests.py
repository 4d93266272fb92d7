"""Shows the doctests of docstrings as code, where Markdown alone would take ``>>>`` for quotations."""

import re
from typing import Any

from markdown import Extension, Markdown
from markdown.preprocessors import Preprocessor
from mkdocs.plugins import event_priority

_FENCE = re.compile(r"^\s*(```|~~~)")


@event_priority(100)  # before mkdocstrings takes the extensions over
def on_config(config: Any) -> Any:
    """Give the extension to pages and docstrings alike."""
    config.markdown_extensions.append(_Doctests())
    return config


def fenced(lines: list[str]) -> list[str]:
    """Put fences around doctests that have none; each ends at a blank line, as Python has it."""
    result: list[str] = []
    in_fence = in_doctest = False
    for line in lines:
        if not in_doctest and _FENCE.match(line):
            in_fence = not in_fence
        if not in_fence and not in_doctest and line.startswith(">>> "):
            in_doctest = True
            result += ["", "```python"]
        if in_doctest and not line.strip():
            in_doctest = False
            result.append("```")
        result.append(line)
    return [*result, "```"] if in_doctest else result


class _Fences(Preprocessor):
    def run(self, lines: list[str]) -> list[str]:
        return fenced(lines)


class _Doctests(Extension):
    def extendMarkdown(self, md: Markdown) -> None:
        """Register before fences are looked for."""
        md.preprocessors.register(_Fences(md), "doctests", 28)
