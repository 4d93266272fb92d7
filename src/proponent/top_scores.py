"""The strongest proponents and opponents of each query, from scores that pass by in shards."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch
from jaxtyping import Float, Int
from torch import Tensor

from proponent.scores import ON_QUERIES, FloatArray, IdArray, Positions, Ranking, read_table, write_table


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
        meaning: What the sign of a score says, in words; the words of training unless given.
    """

    highest: Ranking
    lowest: Ranking
    count: int
    unit: str = "nats"
    method: str = ""
    facts: Mapping[str, Any] = field(default_factory=dict)
    meaning: str = ON_QUERIES

    def __repr__(self) -> str:
        q, k = self.highest.ids.shape
        return (
            f"{self.method} scores, the {k} highest and lowest of {self.count} samples on {q} "
            f"quer{'ies' if q != 1 else 'y'} in {self.unit}; {self.meaning}"
        )

    def proponents(self, k: int) -> Ranking:
        """The k samples with the highest scores, for every query; ties in the order of the samples."""
        return _first(self.highest, k)

    def opponents(self, k: int) -> Ranking:
        """The k samples with the lowest scores, for every query; ties in the order of the samples."""
        return _first(self.lowest, k)

    def to_pandas(self) -> pd.DataFrame:
        """One row a pair: query, rank from 0, id, score, and side, ``proponent`` or ``opponent``."""
        sides = {"proponent": self.highest, "opponent": self.lowest}
        frames = [ranking.to_pandas().assign(side=side) for side, ranking in sides.items()]
        return pd.concat(frames, ignore_index=True)

    def save(self, path: str | Path) -> Path:
        """Write the frame of `to_pandas` to a ``.parquet`` file, with unit, method and facts in its metadata.

        Returns:
            The path.
        """
        path = Path(path)
        if path.suffix != ".parquet":
            raise ValueError(f"The strongest scores go to a `.parquet` file, got `{path.name}`.")
        record = {
            "unit": self.unit,
            "method": self.method,
            "meaning": self.meaning,
            "facts": dict(self.facts),
            "count": self.count,
        }
        write_table(path, self.to_pandas(), record)
        return path

    @classmethod
    def load(cls, path: str | Path) -> "TopScores":
        """Read what `save` wrote.

        Raises:
            FileNotFoundError: The file is not there.
            ValueError: It is not a file of the strongest scores, or was cut short.
        """
        table, record = read_table(Path(path))
        frame = table.to_pandas()
        if "side" not in frame:
            raise ValueError(f"`{path}` holds all scores of its samples: read it by `Scores.load`.")
        highest, lowest = (_side(frame, side) for side in ("proponent", "opponent"))
        return cls(highest, lowest, **record)


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
    found = extremes_in(torch.as_tensor(keys), min(k, len(keys)))
    return Extremes(found.positions + start, found.keys)


def extremes_in(scores: Float[Tensor, "n q"], k: int, *, largest: bool = True) -> Extremes:
    """Select the k highest or lowest of all samples, where the scores are.

    Args:
        scores: On any device.
        k: How many, from 1 to n.
        largest: Whether the highest; else the lowest.
    """
    positions, values = strongest(scores, k, largest=largest)
    return Extremes(positions.cpu().numpy(), (values if largest else -values).cpu().numpy())


def strongest(
    scores: Float[Tensor, "n q"], k: int, *, largest: bool = True
) -> tuple[Int[Tensor, "k q"], Float[Tensor, "k q"]]:
    """Select the k highest or lowest scores of each query, where the scores are.

    >>> positions, values = strongest(torch.tensor([[2.0], [3.0], [2.0], [2.0]]), 3)
    >>> positions.T, values.T
    (tensor([[1, 0, 2]]), tensor([[3., 2., 2.]]))

    Args:
        scores: On any device; nothing of their size is made.
        k: How many, from 1 to n.
        largest: Whether the highest; else the lowest.

    Returns:
        Their positions and values, the strongest first; ties in the order of the samples.
    """
    found = scores.topk(
        min(k + 1, len(scores)), 0, largest=largest
    )  # one more tells of ties for the last place
    values, positions = found.values[:k], found.indices[:k]
    last = values[-1]
    for column in (found.values[-1] == last).nonzero()[:, 0].tolist() if k < len(scores) else []:
        ties = (scores[:, column] == last[column]).nonzero()[:, 0]
        above = int((values[:, column] != last[column]).sum())
        positions[above:, column] = ties[: k - above]
    order = positions.argsort(0)
    positions, values = positions.gather(0, order), values.gather(0, order)
    order = values.sort(dim=0, descending=largest, stable=True).indices
    return positions.gather(0, order), values.gather(0, order)


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


def beside(parts: Sequence[Extremes]) -> Extremes:
    """Join what was kept for some queries with what was kept for others."""
    return Extremes(
        np.concatenate([part.positions for part in parts], 1),
        np.concatenate([part.keys for part in parts], 1),
    )


def ranking_of(extremes: Extremes, sign: int, ids: IdArray, query_ids: IdArray) -> Ranking:
    """Name the samples, and give the scores their sign back."""
    return Ranking(ids[extremes.positions.T], sign * extremes.keys.T, query_ids)


def _side(frame: pd.DataFrame, side: str) -> Ranking:
    """The ranking of one side, from the frame's rows."""
    rows = frame[frame["side"] == side]
    k = int(rows["rank"].max()) + 1
    ids, values = (rows[name].to_numpy().reshape(-1, k) for name in ("id", "score"))
    return Ranking(ids, values, rows["query"].to_numpy()[::k])


def _first(ranking: Ranking, k: int) -> Ranking:
    kept = ranking.ids.shape[1]
    if not 1 <= k <= kept:
        raise ValueError(f"`k` must be between 1 and the {kept} samples that were kept, got {k}.")
    return Ranking(ranking.ids[:, :k], ranking.values[:, :k], ranking.query_ids)
