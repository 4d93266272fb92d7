"""How two orders of the same samples agree."""

import numpy as np
import numpy.typing as npt
import pandas as pd

from proponent.scores import FloatArray

_ROUNDING = 1e-10


def rising_pairs(first: FloatArray, second: FloatArray) -> int:
    """Count the pairs of samples in which both quantities are higher for the same one.

    It is 0 where the second is in the reverse order of the first. What differs by rounding alone is a tie,
    and a tie rises in nothing.

    >>> rising_pairs(np.array([1.0, 2.0, 3.0]), np.array([9.0, 7.0, 8.0]))
    1

    Args:
        first: ``[n]``.
        second: ``[n]``.
    """
    return int((_above(first) & _above(second)).sum())


def rank_correlation(first: FloatArray, second: FloatArray) -> float:
    """Spearman's rank correlation; ties share their mean rank. It is 0 where one of them is constant.

    >>> rank_correlation(np.array([1.0, 2.0, 3.0]), np.array([9.0, 8.0, -7.0]))
    -1.0

    Args:
        first: ``[n]``.
        second: ``[n]``.
    """
    ranks = pd.DataFrame({"first": first, "second": second}).rank().to_numpy()
    if (np.ptp(ranks, axis=0) == 0).any():
        return 0.0
    return float(np.corrcoef(ranks.T)[0, 1])


def _above(values: FloatArray) -> npt.NDArray[np.bool_]:
    """Whether each is above each other one by more than rounding, ``[n, n]``."""
    least = _ROUNDING * max(1.0, float(np.abs(values).max(initial=0.0)))
    return np.asarray(values[:, None] - values > least)
