r"""How well a ranking finds foreign samples whose places are known.

A detection curve counts the foreign samples among the k highest, for every k. Where scores tie, every
order of the tied is as likely as any other and the curve holds the expected count, so that no measure
depends on where in the data the foreign samples lie.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from proponent.scores import FloatArray


@dataclass(frozen=True)
class Detection:
    r"""What a ranking of N samples finds of the M foreign ones.

    Attributes:
        sample_count: N.
        foreign_count: M.
        curve_area: The paper's "AUC": the mean over k = 1..N of the share of foreign samples found among
            the k highest, $1 - \overline{\mathrm{rank}} / N$ with ranks from 0.
        curve_area_maximum: What `curve_area` is when every foreign sample comes first,
            $1 - (M - 1) / 2N$. It is under 1.
        roc_area: The area under the ROC curve: the chance that a foreign sample stands above another one,
            a tie counting one half. Its maximum is 1, and 1/2 is chance.
        found: Foreign samples among the M highest. Not a whole number where scores tie there.
    """

    sample_count: int
    foreign_count: int
    curve_area: float
    curve_area_maximum: float
    roc_area: float
    found: float

    @property
    def precision(self) -> float:
        """The share of foreign samples among the M highest; it is also the share of them found there."""
        return self.found / self.foreign_count


def detection_curve(values: npt.ArrayLike, foreign: npt.ArrayLike) -> FloatArray:
    """Count the foreign samples among the k highest, for k = 0..N.

    >>> detection_curve([0.1, 0.9, 0.5, 0.4], [False, True, False, True])
    array([0., 1., 1., 2., 2.])

    Tied samples share what they find among them.

    >>> detection_curve([1.0, 1.0], [False, True])
    array([0. , 0.5, 1. ])

    Args:
        values: The score of each sample, ``[n]``; the highest is looked at first.
        foreign: Which samples are foreign, ``[n]``, true or false.

    Raises:
        TypeError: `foreign` is not true or false.
        ValueError: The shapes disagree, a value is NaN, or all or none of the samples are foreign.
    """
    scores, is_foreign = _check(values, foreign)
    order = np.argsort(-scores, kind="stable")
    falling = scores[order]
    counts = np.concatenate([[0.0], np.cumsum(is_foreign[order])])
    # Known at the ends of each group of equal scores; linear, thus in expectation, inside it. Scores are
    # compared, as two infinite ones have no difference.
    ends = np.concatenate([[0], np.flatnonzero(falling[1:] != falling[:-1]) + 1, [len(scores)]])
    curve: FloatArray = np.interp(np.arange(len(scores) + 1), ends, counts[ends])
    return curve


def detect(values: npt.ArrayLike, foreign: npt.ArrayLike) -> Detection:
    """Measure how well a ranking finds the foreign samples.

    >>> found = detect([0.1, 0.9, 0.5, 0.4], [False, True, False, True])
    >>> found.curve_area, found.curve_area_maximum, found.roc_area, found.precision
    (0.75, 0.875, 0.75, 0.5)

    Args:
        values: The score of each sample, ``[n]``; the highest is looked at first.
        foreign: Which samples are foreign, ``[n]``, true or false.

    Raises:
        TypeError: `foreign` is not true or false.
        ValueError: The shapes disagree, a value is NaN, or all or none of the samples are foreign.
    """
    curve = detection_curve(values, foreign)
    N, M = len(curve) - 1, int(curve[-1])
    area = float(curve[1:].mean()) / M
    mean_rank = (1 - area) * N
    return Detection(
        sample_count=N,
        foreign_count=M,
        curve_area=area,
        curve_area_maximum=1 - (M - 1) / (2 * N),
        # Foreign samples above others are (M - 1) / 2 ranks from each other; the rest are others above them.
        roc_area=1 - (mean_rank - (M - 1) / 2) / (N - M),
        found=float(curve[M]),
    )


def _check(values: npt.ArrayLike, foreign: npt.ArrayLike) -> tuple[FloatArray, npt.NDArray[np.bool_]]:
    scores, is_foreign = np.asarray(values, dtype=np.float64), np.asarray(foreign)
    if is_foreign.dtype != np.bool_:
        raise TypeError(f"`foreign` must be true or false for each sample, got dtype {is_foreign.dtype}.")
    if scores.ndim != 1 or scores.shape != is_foreign.shape:
        raise ValueError(
            f"`values` and `foreign` must both be [n], got shapes {scores.shape} and {is_foreign.shape}."
        )
    if np.isnan(scores).any():
        raise ValueError(
            f"`values` must be numbers, but {int(np.isnan(scores).sum())} of {len(scores)} are NaN. "
            "A sample without a score has no rank: leave it out of both."
        )
    if is_foreign.all() or not is_foreign.any():
        raise ValueError(
            f"`foreign` must mark some samples and leave others, got {int(is_foreign.sum())} of "
            f"{len(is_foreign)} marked."
        )
    return scores, is_foreign
