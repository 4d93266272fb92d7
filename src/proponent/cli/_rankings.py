"""How rankings are printed: the first of one, how far they go together, where two disagree."""

from typing import TYPE_CHECKING

import numpy as np
from rich.markup import escape

from proponent.cli._console import output

if TYPE_CHECKING:
    from proponent.evaluation import Rankings


def print_first(rankings: "Rankings", count: int) -> None:
    """Print the samples to look at first, with their places in every ranking."""
    from rich.table import Table

    table = Table(
        title=f"The first {count} by {rankings.default}, and their places by the others",
        title_justify="left",
        box=None,
    )
    table.add_column("sample", overflow="fold")
    places = {name: np.argsort(rankings.order(name)) + 1 for name in rankings.columns}
    for name in places:
        table.add_column(name, justify="right")
    for i in rankings.order()[:count].tolist():
        table.add_row(escape(str(rankings.ids[i])), *(f"{places[name][i]:,}" for name in places))
    output().print(table)


def print_correlations(rankings: "Rankings") -> None:
    """Print Spearman's correlation of self-influence, or else of the default, with each other ranking."""
    from rich.table import Table

    one = "self-influence" if "self-influence" in rankings.columns else rankings.default
    table = Table(title=f"Spearman's correlation of {one} with", title_justify="left", box=None)
    row = rankings.correlations().loc[one].drop(one)
    for name in row.index:
        table.add_column(str(name), justify="right")
    table.add_row(*(f"{value:.2f}" for value in row))
    output().print(table)


def print_disagreement(rankings: "Rankings", one: str, other: str, count: int) -> None:
    """Print the samples that one ranking puts much before another."""
    from rich.table import Table

    sooner = rankings.disagreement(one, other)
    places = {name: np.argsort(rankings.order(name)) + 1 for name in (one, other)}
    table = Table(
        title=f"Where they disagree most: place by {one}, by {other}", title_justify="left", box=None
    )
    for name in (f"sooner by {one}", "", f"sooner by {other}", ""):
        table.add_column(name, justify="left" if name else "right", overflow="fold")
    first, last = np.argsort(-sooner, kind="stable")[:count], np.argsort(sooner, kind="stable")[:count]
    for i, j in zip(first.tolist(), last.tolist(), strict=True):
        cells = []
        for k in (i, j):
            cells += [escape(str(rankings.ids[k])), f"{places[one][k]:,} / {places[other][k]:,}"]
        table.add_row(*cells)
    output().print(table)
