"""What is known of each sample, as blocks of numbers that a kernel can compare.

A block is centred and has rows of mean square norm 1, so that a distance of 1 is a large one in each.
"""

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt
from scipy.special import ndtri
from scipy.stats import rankdata

FloatArray = npt.NDArray[np.float64]
# `[n, f]`, in float32: kernels of them are as good, in half the time.
Blocks = dict[str, npt.NDArray[np.float32]]

_FLOOR = 0.003  # of the variance of all columns, below which a column of "whitened" isn't amplified
_SPREAD = 0.1  # the same for the standard deviation of a column of the others


def gaussian_ranks(values: npt.NDArray[np.floating]) -> FloatArray:
    """Replace numbers by the normal quantiles of their ranks, so that only their order counts.

    >>> gaussian_ranks(np.array([5.0, 1.0, 9.0])).round(3)
    array([ 0.   , -0.967,  0.967])

    Args:
        values: The numbers, ``[n]``; equal ones get the same.
    """
    return np.asarray(ndtri((rankdata(values) - 0.5) / len(values)), dtype=np.float64)


def blocks_of(
    rankings: Mapping[str, npt.NDArray[np.floating]], features: Mapping[str, npt.NDArray[np.floating]]
) -> Blocks:
    """Make the blocks of a kernel.

    >>> blocks = blocks_of({"loss": np.array([1.0, 2.0])}, {"pixels": np.array([[0.0], [8.0]])})
    >>> {name: block.ravel().tolist() for name, block in blocks.items()}
    {'scores': [-1.0, 1.0], 'pixels': [-1.0, 1.0], 'whitened': [-1.0, 1.0]}

    Args:
        rankings: Numbers ``[n]`` by name; together they are one block, ``"scores"``.
        features: Blocks ``[n, f]`` by name. ``"pixels"`` is compared as it is, where its large columns
            count for most, and ``"whitened"``, where its small ones count too; ``"residuals"`` as it is;
            all others, such as ``"latents"`` and ``"edges"``, with columns of nearly one spread.

    Returns:
        The blocks; one that is the same for all samples is left out.
    """
    raw: dict[str, FloatArray] = {}
    raw["scores"] = np.stack([gaussian_ranks(values) for values in rankings.values()], 1)
    for name, values in features.items():
        centred = values.astype(np.float64) - values.mean(0, dtype=np.float64)
        if name == "pixels":
            raw["pixels"], raw["whitened"] = centred, _whitened(centred)
        elif name == "residuals":
            raw[name] = centred
        else:
            spread = centred.std(0)
            raw[name] = _over(centred, spread + _SPREAD * centred.std())
    return {name: _of_norm_one(block) for name, block in raw.items() if np.any(block)}


def _whitened(centred: FloatArray) -> FloatArray:
    variances = (centred**2).mean(0)
    return _over(centred, np.sqrt(variances + _FLOOR * variances.sum()))


def _over(values: FloatArray, scales: FloatArray) -> FloatArray:
    """Columns over their scales; a column without one is 0 anyway."""
    return np.divide(values, scales, out=np.zeros_like(values), where=scales > 0)


def _of_norm_one(block: FloatArray) -> npt.NDArray[np.float32]:
    return np.asarray(block / np.sqrt((block**2).sum(1).mean()), dtype=np.float32)
