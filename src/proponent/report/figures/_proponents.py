"""Queries with the training samples that moved their loss most."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy.typing as npt
from matplotlib.axes import Axes

from proponent.report._numbers import signed
from proponent.report._records import QueryRow
from proponent.report.figures._style import INK, OPPONENT, PROPONENT
from proponent.report.figures._tiles import Tile, draw_tiles

_GAP = 0.45


def draw_proponents(
    ax: Axes,
    rows: Sequence[QueryRow],
    queries: Mapping[str, npt.NDArray[Any]],
    samples: Mapping[str, npt.NDArray[Any]],
    query_name: str = "query",
) -> Axes:
    """Draw a row for each query: itself, its strongest proponents, its strongest opponents.

    Args:
        ax: Where to draw.
        rows: The queries and what moved them.
        queries: The queries' images by id.
        samples: The training samples' images by id.
        query_name: What stands over the queries.

    Returns:
        `ax`.

    Raises:
        ValueError: There are no queries.
    """
    if not rows:
        raise ValueError("`rows` must hold at least one query, got none.")
    tiles = []
    k = max(len(row.proponents) for row in rows)
    starts = (0.0, 1 + _GAP, 1 + 2 * _GAP + k)
    for r, row in enumerate(rows):
        tiles.append(Tile(queries[row.id], 0.0, float(r), frame=INK))
        for start, colour, entries in (
            (starts[1], PROPONENT, row.proponents),
            (starts[2], OPPONENT, row.opponents),
        ):
            tiles += [
                Tile(samples[entry.id], start + c, float(r), signed(entry.value), colour)
                for c, entry in enumerate(entries)
            ]
    draw_tiles(ax, tiles)
    for start, colour, title in (
        (starts[0], INK, query_name),
        (starts[1], PROPONENT, "proponents: lowered its loss"),
        (starts[2], OPPONENT, "opponents: raised it"),
    ):
        ax.text(start, -0.12, title, ha="left", va="bottom", fontsize=9, color=colour)
    return ax
