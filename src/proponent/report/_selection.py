"""Which samples a page shows, the most important first."""

from collections.abc import Iterable, Mapping

import numpy as np
import numpy.typing as npt

Positions = npt.NDArray[np.intp]


def selected(orders: Mapping[str, Positions], named: Iterable[int], show: int, most: int) -> list[int]:
    """Choose samples: those that are named, the ends of every ranking, then others by chance.

    >>> orders = {"loss": np.array([4, 3, 2, 1, 0])}
    >>> selected(orders, [2], show=1, most=3)
    [2, 4, 0]

    Args:
        orders: The positions of all samples in the order of each ranking.
        named: Positions that have to be there.
        show: How many of either end.
        most: How many at most; those that have to be there count, but are never left out.

    Returns:
        Positions, the most important first.
    """
    chosen = dict.fromkeys(named)
    for order in orders.values():
        chosen |= dict.fromkeys([*order[:show].tolist(), *order[::-1][:show].tolist()])
    n = max((len(order) for order in orders.values()), default=0)
    for position in np.random.default_rng(0).permutation(n).tolist():
        if len(chosen) >= most:
            break
        chosen[position] = None
    return list(chosen)
