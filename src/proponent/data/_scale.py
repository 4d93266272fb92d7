"""Bringing the numbers of a file to the floats that models take."""

from typing import Any

import numpy as np
import numpy.typing as npt


def as_floats(array: npt.NDArray[Any], name: str = "samples") -> npt.NDArray[np.float32]:
    """Turn an array into float32: bytes are taken for pixels and divided by 255, floats keep their values.

    >>> as_floats(np.array([[0, 255]], dtype=np.uint8))
    array([[0., 1.]], dtype=float32)

    Args:
        array: Floats, bytes, or true and false.
        name: What messages call it.

    Raises:
        TypeError: They are integers other than bytes, whose scale can't be known.
    """
    if array.dtype == np.uint8:
        return array.astype(np.float32) / np.float32(255)
    if array.dtype.kind in "fb":
        return array.astype(np.float32)
    raise TypeError(
        f"`{name}` must be floats, or pixels as uint8, got {array.dtype}, whose scale is unknown. "
        "Divide by the largest possible value and save as float32."
    )
