"""The offline report as one HTML file: nothing is fetched, and no script runs but its own."""

import base64
import hashlib
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from proponent.report._bundle import bundled
from proponent.report._curve_drawing import drawn_curves
from proponent.report._numbers import count, plain, signed
from proponent.report._offline_record import Report, fit_for_json
from proponent.report._verdict import verdict
from proponent.report._views import View

_OWN = Path(__file__).parent / "static"
# The gallery, the scatter and the sample are those of the review page; read, not imported.
_SHARED = Path(__file__).parents[1] / "review" / "static"
_STYLES = (_SHARED / "tokens.css", _SHARED / "components.css", _OWN / "offline.css")


def render_report(
    report: Report, views: Mapping[str, View], query_views: Mapping[str, View] | None = None
) -> str:
    """Make the page. Whatever comes from the data is escaped.

    Args:
        report: What it says.
        views: What is drawn of each sample, by id: `thumb`, `values` and `details`.
        query_views: The same of the queries.
    """
    modules = {path.name: path.read_text("utf-8") for path in (*_SHARED.glob("*.js"), *_OWN.glob("*.js"))}
    script = "\n" + bundled(modules, "offline.js") + "\n"
    style = "\n".join(path.read_text("utf-8") for path in _STYLES)
    policy = (
        f"default-src 'none'; script-src {_hash(script)}; style-src {_hash(style)}; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )
    environment = Environment(
        loader=FileSystemLoader(_OWN),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    filters: dict[str, Callable[..., str]] = {
        "signed": signed,
        "plain": plain,
        "count": count,
        "fact": fact,
        "coded": coded,
    }
    environment.filters |= filters
    return environment.get_template("offline.html.jinja").render(
        report=report,
        verdict=None if report.detection is None else verdict(report.detection),
        drawing=drawn_curves(report.curves, report.default),
        policy=policy,
        style=Markup(style),  # its own
        script=Markup(script),
        data=Markup(_as_data(_page_data(report, views, query_views or {}))),  # escaped
    )


def _page_data(report: Report, views: Mapping[str, View], query_views: Mapping[str, View]) -> dict[str, Any]:
    samples = report.samples
    places = {id_: i for i, id_ in enumerate(samples.ids)}

    def side(entries: Any) -> list[tuple[int, float]]:
        return [(places[entry.id], entry.value) for entry in entries]

    record: dict[str, Any] = fit_for_json(
        {
            "n": report.sample_count,
            "kind": report.kind,
            "default": report.default,
            "scatter": report.scatter,
            "rankings": [
                {
                    "name": ranking.name,
                    "about": ranking.about,
                    "highest": [places[id_] for id_ in ranking.highest],
                    "lowest": [places[id_] for id_ in ranking.lowest],
                }
                for ranking in report.rankings
            ],
            "samples": vars(samples),
            "views": [views.get(id_, {}) for id_ in samples.ids],
            "queries": [
                {
                    "id": row.id,
                    "view": query_views.get(row.id, {}),
                    "proponents": side(row.proponents),
                    "opponents": side(row.opponents),
                }
                for row in report.queries
            ],
        }
    )
    return record


def coded(text: str) -> Markup:
    """Set what stands between backticks as code; the rest is escaped.

    >>> coded("Begin with `loss`, not <b>.")
    Markup('Begin with <code>loss</code>, not &lt;b&gt;.')
    """
    parts = text.split("`")
    return Markup("").join(
        Markup("<code>{}</code>").format(part) if i % 2 and i + 1 < len(parts) else escape(part)
        for i, part in enumerate(parts)
    )


def fact(value: Any) -> str:
    """Write a fact for a person to read.

    >>> fact(True), fact(None), fact([1, 28, 28]), fact(812000), fact(0.5)
    ('yes', '–', '1, 28, 28', '812,000', '0.500')
    """
    if value is None or value == []:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return plain(value)
    if isinstance(value, list | tuple):
        return ", ".join(str(each) for each in value)
    return str(value)


def _as_data(record: Mapping[str, Any]) -> str:
    """JSON that can stand inside an element of a page: no character in it means anything to HTML."""
    text = json.dumps(record, ensure_ascii=True, separators=(",", ":"), allow_nan=False)
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"
