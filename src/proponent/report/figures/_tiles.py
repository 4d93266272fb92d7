"""Images side by side in one pair of axes."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from proponent.report.figures._style import INK, MUTED

_SIZE = 0.86  # of a cell; the rest parts it from the next


@dataclass(frozen=True, eq=False)
class Tile:
    """An image with a frame and a line of text under it.

    Attributes:
        image: ``[h, w]`` or ``[h, w, 3]``, between 0 and 1.
        column: Its place from the left; gaps may be fractions.
        row: Its place from the top.
        caption: What stands under it.
        frame: The colour of its frame.
    """

    image: npt.NDArray[Any]
    column: float
    row: float
    caption: str = ""
    frame: str | None = None


def draw_tiles(ax: Axes, tiles: Sequence[Tile], caption_size: float = 7, invert: bool = True) -> Axes:
    """Draw images at their places in a grid of cells one unit wide.

    Args:
        ax: Where to draw. Its limits are set to hold all tiles; its axes are hidden.
        tiles: What to draw.
        caption_size: The captions' font size.
        invert: Whether grey images are shown dark on light, as on paper.

    Returns:
        `ax`.

    Raises:
        ValueError: There are no tiles.
    """
    if not tiles:
        raise ValueError("`tiles` must hold at least one image, got none.")
    height = 1.28 if any(tile.caption for tile in tiles) else 1.0
    for tile in tiles:
        left, top = tile.column, tile.row * height
        grey = {"cmap": "gray_r" if invert else "gray", "vmin": 0, "vmax": 1} if tile.image.ndim == 2 else {}
        ax.imshow(
            np.clip(tile.image, 0, 1),
            extent=(left, left + _SIZE, top + _SIZE, top),
            interpolation="nearest",
            aspect="equal",
            **grey,  # type: ignore[arg-type]
        )
        ax.add_patch(
            Rectangle(
                (left, top),
                _SIZE,
                _SIZE,
                fill=False,
                edgecolor=tile.frame or MUTED,
                linewidth=1.8 if tile.frame else 0.5,
            )
        )
        if tile.caption:
            ax.text(
                left + _SIZE / 2, top + _SIZE + 0.05, tile.caption,
                ha="center", va="top", fontsize=caption_size, color=tile.frame or INK,
            )  # fmt: skip
    ax.set_xlim(min(t.column for t in tiles) - 0.06, max(t.column for t in tiles) + _SIZE + 0.06)
    ax.set_ylim((max(t.row for t in tiles) + 1) * height, min(t.row for t in tiles) * height - 0.06)
    ax.set_axis_off()
    return ax
