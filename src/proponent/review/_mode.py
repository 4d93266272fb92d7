"""The most probable log odds of answers under a Gaussian prior, when a few of the answers are wrong."""

import numpy as np
import numpy.typing as npt
from scipy.linalg import cho_solve, cholesky
from scipy.special import expit

from proponent.review._blocks import FloatArray

_LEAST = 1e-6  # of a curvature
_LONGEST = 8.0  # step of a log odds: from afar the quadratic model is good for no more
_SETTLED = 0.05  # a step that changes no order to speak of


def posterior_mode(
    covariance: FloatArray,
    mean: FloatArray,
    answers: npt.NDArray[np.bool_],
    start: FloatArray,
    wrong: float = 0.02,
    steps: int = 6,
) -> tuple[FloatArray, FloatArray]:
    r"""Climb to the mode of $p(f \mid y)$ by Fisher scoring.

    $f \sim \mathcal{N}(\mu, K)$ and $P(y_j = 1 \mid f_j) = e + (1 - 2e)\,\sigma(f_j)$. Each step solves with
    $I + W^{1/2} K W^{1/2}$, $W$ the Fisher information of the answers, whose eigenvalues are at least 1.

    >>> one = np.array([[4.0]])
    >>> f, a = posterior_mode(one, np.zeros(1), np.array([True]), np.zeros(1), wrong=0.0, steps=50)
    >>> bool(abs(f - 4 * a) < 1e-12), bool(abs(a - (1 - expit(f))) < 1e-3)  # f = K a, a = y - σ(f)
    (True, True)

    Args:
        covariance: $K$, ``[m, m]``.
        mean: $\mu$, ``[m]``.
        answers: $y$, ``[m]``.
        start: Where to start, ``[m]``; near the mode a step or two are enough.
        wrong: $e$, the share of answers that are a slip.
        steps: The most steps to take.

    Returns:
        $f$ ``[m]``, and $a$ ``[m]`` with $f = \mu + K a$, from which the log odds of every other sample
        follow.
    """
    f = start.copy()
    a = np.zeros_like(f)
    identity = np.eye(len(f))
    for _ in range(steps):
        s = expit(f)
        q = wrong + (1 - 2 * wrong) * s  # P(y = 1)
        slope = (1 - 2 * wrong) * s * (1 - s)
        gradient = np.where(answers, slope / np.maximum(q, 1e-300), -slope / np.maximum(1 - q, 1e-300))
        W = np.maximum(slope**2 / np.maximum(q * (1 - q), 1e-300), _LEAST)
        root = np.sqrt(W)
        L = cholesky(
            identity + root[:, None] * covariance * root, lower=True, overwrite_a=True, check_finite=False
        )
        b = W * (f - mean) + gradient
        a = b - root * cho_solve((L, True), root * (covariance @ b), check_finite=False)
        target = mean + covariance @ a
        longest = np.abs(target - f).max()
        f = target if longest < _LONGEST else f + (target - f) * (_LONGEST / longest)
        if longest < _SETTLED:
            break
    return f, a
