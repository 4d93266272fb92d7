"""The likely number left: the control arm's answers and the learner's guess together."""

import numpy as np

from proponent.review._control import Draws
from proponent.review._left import chances

_SHAPE = 0.5  # of the gamma law about the guess: wide, with a fifth of its mass under a fifteenth of the mean
_AT_LEAST = 2.0  # mean of that law: a learner that expects none is not believed
_GRID = 400


def likely(draws: Draws, found: int, unseen: int, guess: float | None) -> int:
    """The median of what is left, given the control arm's answers.

    A guess, not a guarantee: the learner is often wrong about what it has not seen, so its own guess is only
    the mean of a wide law that the answers then narrow down.

    >>> nothing = Draws(np.zeros(0), np.zeros(0), np.zeros(0, bool))
    >>> likely(nothing, 0, 1000, 40.0)  # of a gamma law, less than half its mean
    19

    Args:
        draws: The control arm's draws.
        found: How many were discarded by now.
        unseen: How many nobody has seen.
        guess: How many the learner expects; where nothing learns all numbers are as likely to begin with.
    """
    R = np.arange(unseen + 1)
    logs = np.zeros(unseen + 1)
    if guess is not None:
        logs = (_SHAPE - 1) * np.log(R + 0.5) - R * _SHAPE / max(guess, _AT_LEAST)
    if len(draws):
        grid = np.unique(np.geomspace(1, unseen + 1, _GRID).round().astype(np.int64)) - 1
        p = np.clip(chances(draws, found, grid), 1e-9, 1 - 1e-9)
        logs = logs + np.interp(R, grid, np.where(draws.hits, np.log(p), np.log1p(-p)).sum(1))
    weights = np.cumsum(np.exp(logs - logs.max()))
    return int(np.searchsorted(weights, 0.5 * weights[-1]))
