"""The control arm: samples that chance brings, so that the rest can be judged by them."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from proponent.review._blocks import FloatArray
from proponent.review._decisions import Decision, standing


class ControlArm:
    """Which places of a queue belong to chance, and whom it brings.

    All of it follows from the seed. Whom it brings is the next sample of one random order that nobody has
    seen; since nothing else depends on that order, it is each of the unseen ones with equal chance.

    >>> arm = ControlArm(4, seed=0, share=0.5)
    >>> sum(arm.falls_on(place, None) for place in range(4)), [arm.draw({0, 1})]
    (3, [2])
    """

    def __init__(self, n: int, seed: int, share: float) -> None:
        """Draw what will be needed.

        Args:
            n: How many samples there are.
            seed: What chance follows from.
            share: The share of places that belong to chance.
        """
        random = np.random.default_rng([seed, n])
        self._share = share
        self._chances = random.random(n)
        self._order: list[int] = random.permutation(n).tolist()

    def falls_on(self, place: int, hope: float | None) -> bool:
        r"""Say whether a place of the queue belongs to chance.

        The share $s$ is $s/2$ while nearly all that the queue brings is discarded and $2s$ when it has run
        dry: a person who finds something has no need of chance yet.

        Args:
            place: Its number, from 0.
            hope: The share of the next samples that is expected to be discarded; none where nothing is
                expected.
        """
        share = self._share if hope is None or self._share == 1 else self._share * (0.5 + 1.5 * (1 - hope))
        return bool(self._chances[place] < share)

    def draw(self, gone: Collection[int]) -> int | None:
        """The sample whose turn it is; none if all are gone.

        Args:
            gone: The samples that were seen.
        """
        return next((i for i in self._order if i not in gone), None)


@dataclass(frozen=True, eq=False)
class Draws:
    """The control arm's answers, and what had been known before each.

    Attributes:
        left: How many samples nobody had seen, ``[c]``.
        found: How many had been discarded, ``[c]``.
        hits: Whether the answer was to discard, ``[c]``.
    """

    left: FloatArray
    found: FloatArray
    hits: npt.NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.hits)


def first_arms(log: Sequence[Decision], places: Mapping[str, int]) -> dict[str, str]:
    """The arm of each sample that has a decision, or had one: that which brought it first.

    >>> first_arms([Decision(1, "a", "keep", "control"), Decision(2, "a", "discard")], {"a": 0})
    {'a': 'control'}

    Args:
        log: The decisions.
        places: The samples by id; others are left out.

    Returns:
        The arms by id, in the order of the first decisions.
    """
    arms: dict[str, str] = {}
    for row in log:
        if row.id in places:
            arms.setdefault(row.id, row.arm)
    return arms


def draws_of(log: Sequence[Decision], places: Mapping[str, int]) -> Draws:
    """Read the control arm's draws off a log.

    What counts is the decision that stands, at the place of the first one on its sample.

    >>> log = [Decision(1, "a", "discard", "queue"), Decision(2, "b", "discard", "control")]
    >>> draws = draws_of(log, {"a": 0, "b": 1, "c": 2})
    >>> draws.left, draws.found, draws.hits
    (array([2.]), array([1.]), array([ True]))

    Args:
        log: The decisions.
        places: The samples by id; decisions on others don't count.
    """
    stands = standing(log)
    rows, found, seen = [], 0, 0
    for id_, arm in first_arms(log, places).items():
        if id_ not in stands:
            continue
        hit = stands[id_].verdict == "discard"
        if arm == "control":
            rows.append((len(places) - seen, found, hit))
        found, seen = found + hit, seen + 1
    values = np.array(rows, np.float64).reshape(-1, 3)
    return Draws(values[:, 0], values[:, 1], values[:, 2] > 0)
