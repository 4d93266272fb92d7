"""Samples as pictures, where they are."""

from typing import Any

import numpy as np
import numpy.typing as npt


def as_pictures(samples: npt.ArrayLike) -> npt.NDArray[Any] | None:
    """Bring samples to ``[n, h, w]`` grey or ``[n, h, w, 3]`` colour; none where they are no pictures.

    A channel axis may stand first, as in PyTorch, or last.

    >>> as_pictures(np.zeros((5, 3, 8, 8))).shape
    (5, 8, 8, 3)
    >>> as_pictures(np.zeros((5, 64))) is None
    True

    Args:
        samples: An array with samples along the first axis.
    """
    array = np.asarray(samples)
    if array.ndim == 4 and array.shape[1] in (1, 3) and array.shape[3] not in (1, 3):
        array = np.moveaxis(array, 1, 3)
    if array.ndim == 4 and array.shape[3] == 1:
        array = array[..., 0]
    if array.ndim == 3 or (array.ndim == 4 and array.shape[3] == 3):
        return array
    return None
