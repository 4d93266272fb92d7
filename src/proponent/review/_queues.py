"""The queues of a review: one for each ranking, made when it is first asked for."""

from collections.abc import Collection, Sequence
from threading import Lock
from typing import Any, Protocol, runtime_checkable

from proponent.review._decisions import Decision
from proponent.review._items import ReviewItems
from proponent.review._ranked_queue import RankedQueue


@runtime_checkable
class ReviewQueue(Protocol):
    """What a queue answers; it depends on the log and on nothing that happened before."""

    def next(self, log: Sequence[Decision], count: int, shown: Collection[int] = ()) -> Sequence[Any]:
        """The next samples: their positions `i` and the arms that brought them."""

    def estimate(self, log: Sequence[Decision]) -> Any:
        """What the decisions say of the rest, as a record."""


class Queues:
    """The queues of the same samples."""

    def __init__(self, items: ReviewItems, seed: int = 0) -> None:
        """Remember what queues are made of.

        Args:
            items: The samples.
            seed: What the control arm follows from.
        """
        self.can_learn = False
        self._items = items
        self._seed = seed
        self._lock = Lock()
        self._made: dict[tuple[str, bool], ReviewQueue] = {}

    def get(self, ranking: str, learning: bool) -> ReviewQueue:
        """The queue that begins with a ranking and learns or does not."""
        with self._lock:
            key = (ranking, learning)
            if key not in self._made:
                self._made[key] = self._make(ranking)
            return self._made[key]

    def _make(self, ranking: str) -> ReviewQueue:
        return RankedQueue(self._items.ids.tolist(), self._items.rankings[ranking], self._seed)
