r"""How many would be discarded of what nobody looked at: bounds from the control arm alone.

If $R$ would-be discards are left now, $F$ were found, and $F_j$ of them before the $j$-th draw of chance,
then it had $R + F - F_j$ of them to hit among the $U_j$ samples that nobody had seen:

$$p_j(R) = \frac{R + F - F_j}{U_j}.$$

There is no model in it, and every answer of the control arm counts however the queue changed in between.
What is bounded is what this person would discard, slips included, not what there is.
"""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from proponent.review._blocks import FloatArray
from proponent.review._control import Draws

IntArray = npt.NDArray[np.int64]

_AT_A_TIME = 33  # values that are tried side by side
_BETS = np.array([0.1, 0.25, 0.5, 0.75, 0.95])


def chances(draws: Draws, found: int, left: IntArray) -> FloatArray:
    """The chance $p_j(R)$ of each draw to hit, ``[r, c]``, for several $R$.

    Args:
        draws: The control arm's draws.
        found: $F$, how many were discarded by now.
        left: The $R$ to try, ``[r]``.
    """
    return np.clip((left[:, None] + found - draws.found) / draws.left, 0.0, 1.0)


def interval(draws: Draws, found: int, unseen: int, error: float = 0.1) -> tuple[int, int]:
    """All $R$ that the number of hits doesn't speak against: the exact test, inverted.

    The number of hits is a sum of coins with the chances $p_j(R)$ (a Poisson binomial law). An $R$ is out if
    as many hits or more, or as few or fewer, have a chance of at most half of `error`. With one chance for
    all this is Clopper's and Pearson's interval.

    >>> draws = Draws(np.full(10, 100.0), np.zeros(10), np.zeros(10, bool))
    >>> interval(draws, 0, 100)  # 0.05 = (1 - R/100)^10 at R = 25.9
    (0, 25)

    Args:
        draws: The control arm's draws.
        found: How many were discarded by now.
        unseen: How many nobody has seen.
        error: The chance to miss, both sides together.

    Returns:
        The least and the largest; everything is possible while chance has brought nothing.
    """
    if not len(draws):
        return 0, unseen
    hits = int(draws.hits.sum())

    def too_many_hits(left: IntArray) -> npt.NDArray[np.bool_]:
        return 1 - _at_most(chances(draws, found, left), hits - 1) <= error / 2

    def few_enough(left: IntArray) -> npt.NDArray[np.bool_]:
        return _at_most(chances(draws, found, left), hits) > error / 2

    low = min(_count_true(too_many_hits, 0, unseen), unseen)
    high = _count_true(few_enough, low, unseen) - 1
    return low, max(low, high)


def licence(draws: Draws, found: int, unseen: int, error: float = 0.05) -> int:
    r"""The largest $R$ that can't be excluded, valid whenever one looks and for whatever reason one stops.

    One bets against $R$ at each draw, at its own odds: with the stake $b$ the wealth times $1 - b$ at a hit,
    and times $1 + b\, p_j / (1 - p_j)$ otherwise. Were $R$ true, the mean wealth over several $b$ would
    exceed $1 / \mathrm{error}$ ever with a chance of at most `error` (Ville's inequality).

    >>> draws = Draws(np.full(10, 100.0), np.zeros(10), np.zeros(10, bool))
    >>> licence(draws, 0, 100)
    34

    Args:
        draws: The control arm's draws.
        found: How many were discarded by now.
        unseen: How many nobody has seen.
        error: The chance to be wrong at any time.
    """
    if not len(draws):
        return unseen

    def can_be(left: IntArray) -> npt.NDArray[np.bool_]:
        p = np.clip(chances(draws, found, left), 1e-12, 1 - 1e-9)[:, None]
        b = _BETS[:, None]
        wealth = np.where(draws.hits, np.log1p(-b), np.log1p(b * p / (1 - p))).sum(2)
        mean = np.logaddexp.reduce(wealth, axis=1) - np.log(len(_BETS))
        return np.asarray(mean < np.log(1 / error))

    return max(_count_true(can_be, 0, unseen) - 1, 0)


def answers_needed(unseen: int, at_most: int, error: float = 0.05) -> int:
    """How many random samples, none of them to be discarded, show that at most so many are left.

    >>> answers_needed(4700, 25)  # somewhat under 3 · 4,700 / 25
    511

    Args:
        unseen: How many nobody has seen.
        at_most: The number left to be shown.
        error: The chance to be wrong.

    Raises:
        ValueError: `at_most` is negative.
    """
    if at_most < 0:
        raise ValueError(f"`at_most` must be 0 or more, got {at_most}.")
    if at_most + 1 > unseen:
        return 0
    # The chance that c draws miss all of at_most + 1, were they left.
    misses = np.cumsum(np.log1p(-(at_most + 1) / np.arange(unseen, at_most + 1, -1, dtype=np.float64)))
    return int(min(np.searchsorted(-misses, -np.log(error)) + 1, unseen - at_most))


def _count_true(holds: Callable[[IntArray], npt.NDArray[np.bool_]], first: int, last: int) -> int:
    """The first number from `first` on at which something no longer holds; `last` + 1 if it always does."""
    low, high = first, last + 1  # the answer is from low to high
    while low < high:
        tried = np.unique(np.linspace(low, high - 1, _AT_A_TIME).astype(np.int64))
        true = int(np.searchsorted(~holds(tried), True))
        low, high = (
            (int(tried[true - 1]) + 1 if true else low),
            (int(tried[true]) if true < len(tried) else high),
        )
    return low


def _at_most(p: FloatArray, hits: int) -> FloatArray:
    """The chance of at most `hits` heads among coins with the chances `p` ``[r, c]``, exactly."""
    if hits < 0:
        return np.zeros(len(p))
    law = np.zeros((len(p), hits + 1))
    law[:, 0] = 1
    for j in range(p.shape[1]):
        moved = law[:, :-1] * p[:, j, None]
        law *= 1 - p[:, j, None]
        law[:, 1:] += moved
    return np.asarray(law.sum(1))
