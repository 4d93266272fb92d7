"""The first of a ranking, as images on a grid."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy.typing as npt
from matplotlib.axes import Axes

from proponent.report._records import Entry
from proponent.report.figures._style import PLANTED
from proponent.report.figures._tiles import Tile, draw_tiles


def draw_gallery(
    ax: Axes, entries: Sequence[Entry], samples: Mapping[str, npt.NDArray[Any]], columns: int = 8
) -> Axes:
    """Draw samples row by row, the planted ones framed.

    Args:
        ax: Where to draw.
        entries: The samples, in order.
        samples: Their images by id.
        columns: Images in a row.

    Returns:
        `ax`.

    Raises:
        ValueError: There are no entries.
    """
    return draw_tiles(
        ax,
        [
            Tile(
                samples[entry.id],
                column=float(i % columns),
                row=float(i // columns),
                frame=PLANTED if entry.foreign else None,
            )
            for i, entry in enumerate(entries)
        ],
    )
