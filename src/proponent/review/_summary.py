"""What a review comes to: counts, what the ranking was worth against chance, and the time it took."""

from collections.abc import Sequence
from itertools import pairwise
from math import sqrt
from statistics import median
from typing import Any

from proponent.review._decisions import ARMS, VERDICTS, Decision, standing

_PAUSE = 60.0  # seconds after which a person was elsewhere
_WIDE = 1.96  # standard deviations of a normal law that hold 95% of it


def summary_of(log: Sequence[Decision]) -> dict[str, Any]:
    """Sum up a log.

    >>> log = [
    ...     Decision(1, "a", "discard", "queue", at=0.0),
    ...     Decision(2, "b", "keep", "control", at=2.0),
    ...     Decision(3, "b", "undo", "control", at=3.0, undoes=2),
    ... ]
    >>> summary = summary_of(log)
    >>> summary["counts"], summary["arms"]["queue"]["share"], summary["seconds"]
    ({'keep': 0, 'discard': 1, 'unsure': 0}, 1.0, {'total': 3.0, 'median': 1.5})

    Args:
        log: The rows, in their order.

    Returns:
        The counts of what stands; for each arm how many it brought and the share discarded of them with its
        95% interval; how many rows were taken back; the seconds at work, pauses left out.
    """
    stands = list(standing(log).values())
    gaps = [later.at - earlier.at for earlier, later in pairwise(log)]
    at_work = [gap for gap in gaps if 0 <= gap <= _PAUSE]
    return {
        "counts": {verdict: sum(each.verdict == verdict for each in stands) for verdict in VERDICTS},
        "arms": {arm: _arm([each for each in stands if each.arm == arm]) for arm in ARMS},
        "undone": sum(row.undoes is not None for row in log),
        "seconds": {"total": sum(at_work), "median": median(at_work) if at_work else None},
    }


def share_interval(hits: int, count: int) -> tuple[float, float]:
    r"""Wilson's 95% interval of a share $p$: all $p$ with $|h/n - p| \le z \sqrt{p (1-p) / n}$.

    >>> low, high = share_interval(0, 4)
    >>> low, round(high, 3)  # z² / (n + z²)
    (0.0, 0.49)

    Args:
        hits: How many were hit, $h$.
        count: How many there were, $n$, at least 1.
    """
    share, z2 = hits / count, _WIDE**2
    middle = (share + z2 / (2 * count)) / (1 + z2 / count)
    half = _WIDE * sqrt(share * (1 - share) / count + z2 / (4 * count**2)) / (1 + z2 / count)
    return max(middle - half, 0.0), min(middle + half, 1.0)


def _arm(decisions: Sequence[Decision]) -> dict[str, Any]:
    discarded, count = sum(each.verdict == "discard" for each in decisions), len(decisions)
    low, high = share_interval(discarded, count) if count else (None, None)
    share = discarded / count if count else None
    return {"looked_at": count, "discarded": discarded, "share": share, "low": low, "high": high}
