"""Which way the edges of a picture run, and where: what makes a shape, whatever its ink or its light."""

from typing import Any

import numpy as np
import numpy.typing as npt

_PARTS, _DIRECTIONS = 7, 8


def edge_strengths(pictures: npt.NDArray[Any]) -> npt.NDArray[np.float32]:
    r"""Compute histograms of gradient directions over a grid of parts (Dalal and Triggs, 2005).

    Pixels compare pictures point by point, so a stroke that lies two pixels further is another one. Edges
    compare them by strokes: upside-down digits, which lie among upright ones as pixels go, stand apart. Each
    pixel's gradient is shared between the two nearest of 8 directions; roots make the strengths comparable.

    >>> stroke = np.zeros((1, 1, 7, 7))
    >>> stroke[..., 4:] = 1.0  # dark to the left, light to the right
    >>> strengths = edge_strengths(stroke).reshape(7, 7, 8)
    >>> np.unique(np.nonzero(strengths)[2]), np.unique(np.nonzero(strengths)[1])
    (array([0]), array([3, 4]))

    Args:
        pictures: Pictures ``[n, c, h, w]``; colours are averaged.

    Returns:
        ``[n, f]``, with f = 7 · 7 · 8, or less where a side has fewer than 7 pixels.
    """
    grey = pictures.mean(1, dtype=np.float32)
    across, down = np.zeros_like(grey), np.zeros_like(grey)
    across[:, :, 1:-1] = grey[:, :, 2:] - grey[:, :, :-2]
    down[:, 1:-1] = grey[:, 2:] - grey[:, :-2]
    strength = np.hypot(across, down)
    direction = np.arctan2(down, across) * np.float32(_DIRECTIONS / (2 * np.pi)) % _DIRECTIONS
    first = np.floor(direction)
    share = direction - first
    rows, columns = (np.linspace(0, side, min(side, _PARTS) + 1).astype(int)[:-1] for side in grey.shape[1:])
    found = np.empty((len(grey), len(rows), len(columns), _DIRECTIONS), np.float32)
    for k in range(_DIRECTIONS):
        part = np.where(first % _DIRECTIONS == k, strength * (1 - share), 0)
        part += np.where((first + 1) % _DIRECTIONS == k, strength * share, 0)
        found[..., k] = np.add.reduceat(np.add.reduceat(part, rows, 1), columns, 2)
    return np.sqrt(np.maximum(found, 0)).reshape(len(grey), -1)
