"""The strongest proponents and opponents of each query, from scores that pass by in shards."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from proponent.scores import FloatArray, IdArray, Ranking

Positions = npt.NDArray[np.intp]

# A sort holds positions, twice as large as the scores; this keeps them few.
_QUERIES_AT_ONCE = 64


@dataclass(frozen=True, eq=False, repr=False)
class TopScores:
    """The k strongest proponents and opponents of each query; the other scores were not kept.

    Attributes:
        highest: The k samples with the highest scores.
        lowest: The k samples with the lowest.
        count: How many samples there were.
        unit: What a value of 1 means.
        method: The method's name.
        facts: What else belongs to the scores and fits in JSON.
    """

    highest: Ranking
    lowest: Ranking
    count: int
    unit: str = "nats"
    method: str = ""
    facts: Mapping[str, Any] = field(default_factory=dict)

    def __repr__(self) -> str:
        q, k = self.highest.ids.shape
        return (
            f"{self.method} scores, the {k} highest and lowest of {self.count} samples on {q} "
            f"quer{'ies' if q != 1 else 'y'} in {self.unit}; "
            "positive: training on the sample lowered the query's loss"
        )

    def proponents(self, k: int) -> Ranking:
        """The k samples with the highest scores, for every query; ties in the order of the samples."""
        return _first(self.highest, k)

    def opponents(self, k: int) -> Ranking:
        """The k samples with the lowest scores, for every query; ties in the order of the samples."""
        return _first(self.lowest, k)


@dataclass(frozen=True, eq=False)
class Extremes:
    """Some of the highest scores of each query, in falling order.

    Attributes:
        positions: Of the samples, ``[k, q]``.
        keys: Their scores, ``[k, q]``; for the lowest scores, with the sign changed.
    """

    positions: Positions
    keys: FloatArray


def extremes_of(keys: FloatArray, start: int, k: int) -> Extremes:
    """Select the k highest of a shard.

    Args:
        keys: The shard's scores, ``[n, q]``.
        start: The position of its first sample.
        k: How many to keep; all where there are fewer.
    """
    columns = range(0, keys.shape[1], _QUERIES_AT_ONCE)
    order = np.concatenate(
        [np.argsort(-keys[:, c : c + _QUERIES_AT_ONCE], axis=0, kind="stable")[:k] for c in columns], axis=1
    )
    return Extremes(order + start, np.take_along_axis(keys, order, 0))


def merged(first: Extremes, second: Extremes, k: int) -> Extremes:
    """Join what two runs of samples kept, the first of which lies before the second.

    >>> a, b = extremes_of(np.array([[1.0], [3.0]]), 0, 2), extremes_of(np.array([[3.0], [2.0]]), 2, 2)
    >>> merged(a, b, 3).positions.T
    array([[1, 2, 3]])
    """
    keys = np.concatenate([first.keys, second.keys])
    positions = np.concatenate([first.positions, second.positions])
    order = np.argsort(-keys, axis=0, kind="stable")[:k]
    return Extremes(np.take_along_axis(positions, order, 0), np.take_along_axis(keys, order, 0))


def ranking_of(extremes: Extremes, sign: int, ids: IdArray, query_ids: IdArray) -> Ranking:
    """Name the samples, and give the scores their sign back."""
    return Ranking(ids[extremes.positions.T], sign * extremes.keys.T, query_ids)


def _first(ranking: Ranking, k: int) -> Ranking:
    kept = ranking.ids.shape[1]
    if not 1 <= k <= kept:
        raise ValueError(f"`k` must be between 1 and the {kept} samples that were kept, got {k}.")
    return Ranking(ranking.ids[:, :k], ranking.values[:, :k], ranking.query_ids)
