"""The queue with learning switched off: the order of one ranking, with a random control arm among it."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from proponent.review._decisions import Decision, standing

_WIDE = 1.96  # standard deviations of a normal law that hold 95% of it


@dataclass(frozen=True)
class Entry:
    """A sample whose turn it is.

    Attributes:
        i: Its position in the data.
        arm: Whether the ranking brought it, ``"queue"``, or chance, ``"control"``.
    """

    i: int
    arm: Literal["queue", "control"]


@dataclass(frozen=True)
class Estimate:
    """What the decisions so far say of the rest.

    Attributes:
        found: How many were discarded.
        looked_at: How many have a decision.
        expected_left: How many more would be discarded if all were looked at; none while chance has brought
            no sample.
        low: The lower end of its 95% interval.
        high: The upper end.
        precision_queue: The share discarded of what the ranking brought; none where it brought nothing.
        precision_control: The share discarded of what chance brought.
    """

    found: int
    looked_at: int
    expected_left: float | None
    low: float | None
    high: float | None
    precision_queue: float | None
    precision_control: float | None


class RankedQueue:
    """Samples in the order of a ranking; at some places chance chooses from those that are left.

    The whole order follows from the seed, so it is the same however often it is asked for, and the log of
    decisions says where it stands. What chance brings measures what the ranking is worth, if the person
    can't tell which is which.

    >>> queue = RankedQueue(["a", "b", "c"], np.array([0.1, 0.9, 0.5]), control_share=0.0)
    >>> [entry.i for entry in queue.next([], 2)]
    [1, 2]
    >>> [entry.i for entry in queue.next([Decision(1, "b", "keep")], 2)]
    [2, 0]
    """

    def __init__(
        self, ids: Sequence[str], ranking: npt.NDArray[Any], seed: int = 0, control_share: float = 0.1
    ) -> None:
        """Fix the order.

        Args:
            ids: The ids of the samples, ``[n]``.
            ranking: Numbers, ``[n]``; high comes first, ties in the order of the samples.
            seed: What chance follows from.
            control_share: The share of places at which chance chooses.

        Raises:
            ValueError: The share is no share.
        """
        if not 0 <= control_share < 1:
            raise ValueError(f"`control_share` must be from 0 to under 1, got {control_share}.")
        self._ids = list(ids)
        random = np.random.default_rng([seed, len(self._ids)])
        control = random.random(len(self._ids)) < control_share
        ranked, drawn = iter(np.argsort(-ranking, kind="stable")), iter(random.permutation(len(self._ids)))
        taken: set[int] = set()
        self._order: list[Entry] = []
        for by_chance in control.tolist():
            i = next(int(i) for i in (drawn if by_chance else ranked) if i not in taken)
            taken.add(i)
            self._order.append(Entry(i, "control" if by_chance else "queue"))

    def next(self, log: Sequence[Decision], count: int, shown: Collection[int] = ()) -> list[Entry]:
        """The samples whose turn it is.

        Args:
            log: The decisions so far.
            count: How many are wanted; fewer come where fewer are left.
            shown: The positions of samples that stand on a screen already.
        """
        stands = standing(log)
        entries: list[Entry] = []
        for entry in self._order:
            if len(entries) == count:
                break
            if entry.i not in shown and self._ids[entry.i] not in stands:
                entries.append(entry)
        return entries

    def estimate(self, log: Sequence[Decision]) -> Estimate:
        """What the decisions say of the samples that nobody looked at, from what chance brought.

        The interval is Wilson's for a share, times the number of samples left.

        >>> log = [Decision(1, "a", "discard", "control"), Decision(2, "b", "keep", "control")]
        >>> queue = RankedQueue(list("abcd"), np.arange(4.0))
        >>> queue.estimate(log).expected_left
        1.0
        """
        ids = set(self._ids)
        stands = [each for id_, each in standing(log).items() if id_ in ids]
        found = {arm: [each.verdict == "discard" for each in stands if each.arm == arm] for arm in _ARMS}
        left = len(ids) - len(stands)
        control = found["control"]
        low, high = share_interval(sum(control), len(control)) if control else (None, None)
        share = _mean(control)
        return Estimate(
            found=sum(each.verdict == "discard" for each in stands),
            looked_at=len(stands),
            expected_left=None if share is None else share * left,
            low=None if low is None else low * left,
            high=None if high is None else high * left,
            precision_queue=_mean(found["queue"]),
            precision_control=share,
        )


_ARMS = ("queue", "control")


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


def _mean(hits: Sequence[bool]) -> float | None:
    return sum(hits) / len(hits) if hits else None
