"""The queue that learns: what the person discarded decides what comes next."""

from collections.abc import Collection, Mapping, Sequence
from itertools import islice
from threading import RLock
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import expit

from proponent.review._blocks import blocks_of, gaussian_ranks
from proponent.review._control import ControlArm, first_arms
from proponent.review._decisions import Decision, standing
from proponent.review._entry import Entry
from proponent.review._estimate import QueueEstimate, estimate_of
from proponent.review._kernel import Kernel
from proponent.review._learner import Learner

_BATCH = 10  # rows of the log from one step of learning to the next, or
_GROWTH = 50  # that part of the rows there are: late answers change little
_MOST_COMPARED = 65_536  # samples, those first in the ranking; 256 MB of kernel columns
_START, _SLOPE = -3.0, 1.0  # log odds to begin with: of a sample in the middle, and a standard deviation up
_AHEAD = 10  # samples whose prospects say how well the queue is doing
_RECENT = 150  # answers by which the learner's expectations are corrected


class Queue:
    """Samples in an order that follows the decisions, with a random control arm among them.

    It begins with a ranking. Every ten decisions a Gaussian process classifier, whose mean is that ranking,
    is fitted to them again, and those that it thinks most likely to be discarded come first. At some places
    chance chooses instead (`ControlArm`), which measures what the queue is worth and what is left.

    What comes next is a function of the seed and the log, so a log is enough to see the queue again as it
    was: samples that have a decision are never brought again, and one whose decision was taken back comes
    first, in the arm it had.

    >>> queue = Queue(["a", "b", "c"], {"loss": np.array([0.1, 0.9, 0.5])}, control_share=0.0)
    >>> [entry.i for entry in queue.next([], 2)]
    [1, 2]
    >>> [entry.i for entry in queue.next([Decision(1, "b", "keep")], 2, shown={2})]
    [0]
    """

    def __init__(
        self,
        ids: Sequence[str],
        rankings: Mapping[str, npt.NDArray[Any]],
        features: npt.NDArray[Any] | Mapping[str, npt.NDArray[Any]] | None = None,
        seed: int = 0,
        default: str | None = None,
        control_share: float = 0.1,
        learn: bool = True,
    ) -> None:
        """Compare the samples, as far as that is known without decisions.

        Args:
            ids: The ids of the samples, ``[n]``.
            rankings: Numbers ``[n]`` by name; samples with high ones come first. All are learnt from.
            features: What else is learnt from: an array ``[n, f]``, compared as it is and whitened, or
                several by name (`blocks_of`).
            seed: What chance follows from.
            default: The ranking to begin with; the first one unless given.
            control_share: The share of places at which chance chooses: half of it where most of what comes
                is discarded, twice as much where the queue has run dry, and just this where nothing learns.
            learn: Whether to learn. Without, the order is that of the ranking.

        Raises:
            ValueError: Ids repeat, there is no such ranking, one does not have a number for each sample, or
                the share is no share.
        """
        self._ids = list(ids)
        self._places = {id_: i for i, id_ in enumerate(self._ids)}
        default = next(iter(rankings), "") if default is None else default
        named = features if isinstance(features, Mapping) else {"pixels": features}
        blocks = {name: np.asarray(values) for name, values in named.items() if values is not None}
        _check(self._ids, rankings, default, blocks, control_share)
        ranking = np.asarray(rankings[default])
        self._ranked = np.argsort(-ranking, kind="stable")
        self._order: list[int] = self._ranked.tolist()
        self._control = ControlArm(len(self._ids), seed, control_share)
        self._lock = RLock()
        self._read: list[Decision] = []  # the rows that were learnt from
        self._learns = learn
        if learn:
            self._compared = self._ranked[:_MOST_COMPARED]
            self._local = {i: k for k, i in enumerate(self._compared.tolist())}
            start = gaussian_ranks(ranking)
            mean = _START + _SLOPE * start
            self._mean, beyond = mean[self._compared], mean[self._ranked[_MOST_COMPARED:]]
            self._beyond = float(expit(beyond).sum())
            scores = {name: np.asarray(values)[self._compared] for name, values in rankings.items()}
            compared = {name: values[self._compared] for name, values in blocks.items()}
            self._kernel = Kernel(blocks_of(scores, compared), start[self._compared])
            self._learner = Learner(self._kernel, self._mean)

    def next(self, log: Sequence[Decision], count: int, shown: Collection[int] = ()) -> list[Entry]:
        """The samples whose turn it is.

        Args:
            log: The decisions so far.
            count: How many are wanted; fewer come where fewer are left.
            shown: The positions of samples that stand on a screen already.
        """
        with self._lock:
            self._learn(log)
            stands, arms = standing(log), first_arms(log, self._places)
            touched = {self._places[id_] for id_ in arms}
            gone = {self._places[id_] for id_ in stands if id_ in self._places} | set(shown)
            served = {row.id: row.arm for row in reversed(log) if row.arm != "browse" and row.id in arms}
            back = [
                Entry(self._places[id_], "control" if served[id_] == "control" else "queue")
                for id_ in arms
                if id_ in served and self._places[id_] not in gone
            ]
            entries = back[:count]
            gone.update(entry.i for entry in back)
            place = len({self._places[id_] for id_ in served} | set(shown))
            hope, order = self._hope(gone), iter(self._order)
            while len(entries) < count and place < len(self._ids):
                by_chance = self._control.falls_on(place, hope)
                drawn = self._control.draw(gone | touched) if by_chance else None
                i = next((i for i in order if i not in gone), None) if drawn is None else drawn
                if i is None:
                    break
                entries.append(Entry(i, "queue" if drawn is None else "control"))
                gone.add(i)
                place += 1
            return entries

    def estimate(self, log: Sequence[Decision]) -> QueueEstimate:
        """What the decisions say of the samples that nobody looked at.

        Args:
            log: The decisions so far.
        """
        with self._lock:
            self._learn(log)
            if not self._learns:
                return estimate_of(log, self._places)
            return estimate_of(log, self._places, len(self._learner), self._guess(log))

    def _learn(self, log: Sequence[Decision]) -> None:
        """Go the steps of learning that the log holds and that weren't gone yet."""
        if not self._learns:
            return
        if list(log[: len(self._read)]) != self._read:  # another log than the one before
            self._read, self._learner = [], Learner(self._kernel, self._mean)
            self._order = self._ranked.tolist()
        steps = 0
        while (end := len(self._read) + max(_BATCH, len(self._read) // _GROWTH)) <= len(log):
            self._read = list(log[:end])
            self._learner.learn(self._answers(self._read))
            steps += 1
        if steps:
            best = np.argsort(-self._learner.log_odds, kind="stable")
            self._order = [*self._compared[best].tolist(), *self._ranked[_MOST_COMPARED:].tolist()]

    def _answers(self, log: Sequence[Decision]) -> dict[int, bool]:
        """What the learner is told: whether each sample is to be discarded; of those unsure, nothing."""
        return {
            self._local[self._places[id_]]: each.verdict == "discard"
            for id_, each in standing(log).items()
            if each.verdict != "unsure" and self._places.get(id_) in self._local
        }

    def _hope(self, gone: Collection[int]) -> float | None:
        """The share of the next samples that the learner expects to be discarded."""
        if not self._learns:
            return None
        ahead = islice((self._local[i] for i in self._order if i not in gone and i in self._local), _AHEAD)
        odds = self._learner.log_odds[list(ahead)]
        return float(expit(odds).mean()) if len(odds) else 0.0

    def _guess(self, log: Sequence[Decision]) -> float:
        """How many more the learner expects, corrected by what came of its latest expectations."""
        stands = {self._places[id_]: each for id_, each in standing(log).items() if id_ in self._places}
        unseen = np.ones(len(self._ids), np.bool_)
        unseen[list(stands)] = False
        expected = self._learner.expected
        recent = [
            (expected[self._local[i]], each.verdict == "discard")
            for i, each in stands.items()
            if each.arm == "queue" and self._local.get(i) in expected
        ][-_RECENT:]
        before, came = (sum(values) + 1 for values in zip((0.0, False), *recent, strict=True))
        return float(
            (expit(self._learner.log_odds[unseen[self._compared]]).sum() + self._beyond) * came / before
        )


def _check(
    ids: Sequence[str],
    rankings: Mapping[str, npt.NDArray[Any]],
    default: str,
    blocks: Mapping[str, npt.NDArray[Any]],
    control_share: float,
) -> None:
    n = len(ids)
    if len(set(ids)) < n or n == 0:
        raise ValueError(
            f"`ids` must be different and at least one, got {n}, {len(set(ids))} of them different."
        )
    if default not in rankings:
        raise ValueError(f"`default` must be one of the rankings {', '.join(rankings)}, got {default!r}.")
    for name, values in rankings.items():
        if np.shape(values) != (n,) or np.isnan(values).any():
            raise ValueError(
                f"The ranking {name!r} must have {n} numbers, one for each id and none of them NaN."
            )
    for name, values in blocks.items():
        if values.ndim != 2 or len(values) != n or not np.isfinite(values).all():
            raise ValueError(
                f"`features` must be finite numbers [{n}, f], got shape {values.shape} for {name!r}."
            )
    if not 0 <= control_share <= 1:
        raise ValueError(f"`control_share` must be from 0 to 1, got {control_share}.")
