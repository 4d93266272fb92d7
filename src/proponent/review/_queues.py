"""The queues of a review: one for each ranking, learning or not, made when it is first asked for."""

from threading import Lock

from proponent.review._items import ReviewItems
from proponent.review._queue import Queue


class Queues:
    """The queues of the same samples."""

    def __init__(self, items: ReviewItems, seed: int = 0) -> None:
        """Remember what queues are made of.

        Args:
            items: The samples.
            seed: What the control arm follows from.
        """
        self._items = items
        self._seed = seed
        self._lock = Lock()
        self._made: dict[tuple[str, bool], Queue] = {}

    def get(self, ranking: str, learning: bool) -> Queue:
        """The queue that begins with a ranking and learns or does not."""
        with self._lock:
            key = (ranking, learning)
            if key not in self._made:
                items = self._items
                self._made[key] = Queue(
                    items.ids.tolist(),
                    items.rankings,
                    items.features,
                    seed=self._seed,
                    default=ranking,
                    learn=learning,
                )
            return self._made[key]
