"""Writes the paper's statements, measured at the build, in place of ``<!-- statements: density -->``."""

from collections.abc import Sequence
from typing import Any

MARK = "<!-- statements: density -->"


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Put the table in its place."""
    if MARK not in markdown:
        return markdown
    from proponent.paper import density_figures, density_statements

    return markdown.replace(MARK, table_of(density_statements(density_figures())))


def table_of(statements: Sequence[Any]) -> str:
    """A row for each statement: what the paper says, what is right where that is wrong, what was measured."""
    rows = ["| | the paper | measured | |", "|---|---|---|---|"]
    for each in statements:
        text = each.text + (f" *Instead:* {each.instead}" if each.outcome == "changed" else "")
        outcome = each.outcome if each.outcome == "holds" else f"**{each.outcome}**"
        cells = (each.method, text, each.measured, outcome)
        rows.append(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |")
    return "\n".join(rows)
