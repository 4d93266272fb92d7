"""Samples drawn small: pictures as they are, curves as lines, grids as heat maps, rows as bars."""

from typing import Any

import numpy as np
import numpy.typing as npt
from PIL import Image, ImageDraw

_INK, _PAPER, _BELOW = (38, 70, 110), "white", (176, 72, 40)
_MARGIN = 3


def as_picture(sample: npt.NDArray[Any]) -> Image.Image:
    """A sample ``[c, h, w]`` as a picture; floats are taken between 0 and 1.

    >>> as_picture(np.zeros((1, 2, 3), dtype=np.uint8)).size
    (3, 2)

    Args:
        sample: Grey or colour.
    """
    if sample.dtype != np.uint8:
        sample = np.rint(sample.clip(0, 1) * 255).astype(np.uint8)
    return Image.fromarray(sample[0] if len(sample) == 1 else np.ascontiguousarray(np.moveaxis(sample, 0, 2)))


def draw_array(sample: npt.NDArray[Any], side: int) -> Image.Image:
    """Draw an array: a line where it has one axis, else a heat map of its last two.

    Args:
        sample: Numbers of any shape.
        side: The side of the picture in pixels.
    """
    numbers = sample.astype(np.float64)
    numbers = (
        numbers.reshape(-1)
        if numbers.ndim < 2 or 1 in numbers.shape[-2:]
        else numbers.reshape(-1, numbers.shape[-1])
    )
    scaled = (numbers - numbers.min()) / (np.ptp(numbers) or 1)
    if numbers.ndim == 2:
        return Image.fromarray(np.rint(scaled * 255).astype(np.uint8))
    image = Image.new("RGB", (side, side), _PAPER)
    room = side - 1 - 2 * _MARGIN
    across = np.linspace(_MARGIN, _MARGIN + room, len(scaled)) if len(scaled) > 1 else np.array([side / 2])
    points = list(zip(across.tolist(), (_MARGIN + room * (1 - scaled)).tolist(), strict=True))
    draw = ImageDraw.Draw(image)
    if len(points) > 1:
        draw.line(points, fill=_INK, width=max(1, side // 64))
    else:
        draw.ellipse((side / 2 - 2, side / 2 - 2, side / 2 + 2, side / 2 + 2), fill=_INK)
    return image


def draw_bars(deviations: npt.NDArray[np.float64], side: int) -> Image.Image:
    """Draw a row as bars from a middle line, up to 3 standard deviations up and down.

    Args:
        deviations: Each column's number in standard deviations from the column's mean.
        side: The side of the picture in pixels.
    """
    image = Image.new("RGB", (side, side), _PAPER)
    draw = ImageDraw.Draw(image)
    middle, room = (side - 1) / 2, (side - 1) / 2 - _MARGIN
    edges = np.linspace(_MARGIN, side - _MARGIN, len(deviations) + 1).tolist()
    for left, right, height in zip(edges, edges[1:], deviations.clip(-3, 3).tolist(), strict=False):
        top = middle - room * height / 3
        box = (left, min(top, middle), max(left, right - 1), max(top, middle))
        draw.rectangle(box, fill=_INK if height >= 0 else _BELOW)
    return image
