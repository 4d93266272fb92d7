"""From a picture to numbers of a given size: the centre square, reduced by averaging."""

from typing import Any

import numpy as np
import numpy.typing as npt
from PIL import Image

from proponent.data._decoding import loaded, turn
from proponent.data._modes import on_white, to_eight_bits

# A JPEG is decoded at a fraction of its size as long as this many of its pixels are left for one of ours.
_FINER = 2


def fitted(image: Image.Image, size: int | None, grey: bool | None) -> npt.NDArray[np.uint8]:
    """Bring a picture to numbers, ``[c, size, size]``.

    The largest square in its middle is taken, upright, and reduced by averaging over areas; a smaller one is
    enlarged smoothly. Without `size` it stays whole as it is, ``[c, h, w]``.

    Args:
        image: A picture whose head was read.
        size: The side in pixels.
        grey: Whether to give grey, or colour; unless given, grey where all pixels are grey.

    Raises:
        UnusableError: It can't be decoded.
    """
    if size is not None:
        image.draft(None, (size * _FINER, size * _FINER))
    image = loaded(image)
    turned = turn(image)
    image = to_eight_bits(image)
    if size is not None and image.size != (size, size):
        image = square(image, size)
    image = on_white(image)
    if turned is not None:
        image = image.transpose(turned)
    if grey is not None and (image.mode == "L") != grey:
        image = image.convert("L" if grey else "RGB")
    values = np.asarray(image)
    if image.mode == "L":
        return values[None]
    if grey is None and _is_grey(values):
        return np.ascontiguousarray(values[None, :, :, 0])
    return np.ascontiguousarray(np.moveaxis(values, 2, 0))


def within(image: Image.Image, size: int | None) -> Image.Image:
    """Decode a picture for a person: upright, on white, its longer side at most `size`.

    Raises:
        UnusableError: It can't be decoded.
    """
    if size is not None:
        image.draft(None, (size, size))
    image = loaded(image)
    turned = turn(image)
    image = to_eight_bits(image)
    if size is not None and max(image.size) > size:
        scale = size / max(image.size)
        width, height = (max(1, round(side * scale)) for side in image.size)
        image = image.resize((width, height), Image.Resampling.BOX, reducing_gap=2.0)
    image = on_white(image)
    return image if turned is None else image.transpose(turned)


def square(image: Image.Image, size: int) -> Image.Image:
    """Bring the centre square of a picture to a size: averaged over areas, or enlarged smoothly."""
    width, height = image.size
    side = min(width, height)
    left, top = (width - side) // 2, (height - side) // 2
    centre = image.crop((left, top, left + side, top + side))
    return centre.resize((size, size), Image.Resampling.BOX if side >= size else Image.Resampling.BICUBIC)


def _is_grey(values: npt.NDArray[Any]) -> bool:
    return bool((values[..., 0] == values[..., 1]).all() and (values[..., 0] == values[..., 2]).all())
