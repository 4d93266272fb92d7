"""What a report says, as plain records fit for JSON; pictures and pages are made from them."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from proponent.evaluation import Detection, detect, detection_curve
from proponent.scores import FloatArray, Ranking, Scores


@dataclass(frozen=True)
class Entry:
    """A sample at its place in a ranking.

    Attributes:
        id: The sample.
        value: Its score.
        foreign: Whether it was planted; none where that is not known.
    """

    id: str
    value: float
    foreign: bool | None = None


@dataclass(frozen=True)
class QueryRow:
    """A query with its strongest proponents and opponents, the strongest first."""

    id: str
    proponents: tuple[Entry, ...]
    opponents: tuple[Entry, ...]


@dataclass(frozen=True)
class RankingRow:
    """What one way to rank finds of the samples that were planted.

    Attributes:
        name: The way.
        found: How many are among the first k, for each k of the table. Not whole where scores tie.
        detection: The areas.
    """

    name: str
    found: tuple[float, ...]
    detection: Detection


@dataclass(frozen=True)
class DetectionTable:
    """Several ways to rank the same samples, side by side; self-influence stands first.

    Attributes:
        first: The k of each column.
        rows: The ways.
    """

    first: tuple[int, ...]
    rows: tuple[RankingRow, ...]


@dataclass(frozen=True)
class Summary:
    """A run in one page.

    Attributes:
        title: What was looked at.
        unit: What a score of 1 means.
        sample_count: How many samples were ranked.
        highest: Those with the highest self-influence.
        lowest: Those with the lowest, the lowest first.
        negative: How many have a self-influence under 0, which only noise can give.
        median_error: The median standard error of self-influence over its median size, where known.
        queries: What moved the loss of each query.
        detection: What the ranking finds, where samples were planted.
        facts: How it was made: name and value.
    """

    title: str
    unit: str
    sample_count: int
    highest: tuple[Entry, ...]
    lowest: tuple[Entry, ...]
    negative: int
    median_error: float | None
    queries: tuple[QueryRow, ...]
    detection: DetectionTable | None
    facts: tuple[tuple[str, str], ...]

    def to_dict(self) -> dict[str, Any]:
        """The same as dicts, lists, numbers and text."""
        return asdict(self)


def summarise(
    title: str,
    self_influence: Scores,
    influence: Scores | None = None,
    foreign: npt.NDArray[np.bool_] | None = None,
    rivals: Mapping[str, FloatArray] | None = None,
    facts: Mapping[str, object] | None = None,
    show: int = 24,
    neighbours: int = 5,
) -> Summary:
    """Gather what a report says of a run.

    Args:
        title: What was looked at.
        self_influence: A score for each sample.
        influence: Scores of the same samples on some queries.
        foreign: Which samples were planted, ``[n]``, where that is known.
        rivals: Other ways to rank the same samples, by name; high is suspect.
        facts: How it was made.
        show: How many of the highest and of the lowest to show.
        neighbours: How many proponents and opponents of each query to show.

    Raises:
        ValueError: `self_influence` has queries, or the scores are of different samples.
    """
    if self_influence.query_ids is not None:
        raise ValueError("`self_influence` must be one score a sample [n], got a matrix [n, q].")
    if influence is not None and not np.array_equal(influence.ids, self_influence.ids):
        raise ValueError(
            "`influence` must be of the samples that `self_influence` ranks, but their ids differ."
        )
    planted = (
        None if foreign is None else dict(zip(self_influence.ids.tolist(), foreign.tolist(), strict=True))
    )
    show = min(show, len(self_influence))
    median_error = None
    if self_influence.standard_errors is not None:
        sizes = np.median(np.abs(self_influence.values))
        median_error = float(np.median(self_influence.standard_errors) / sizes) if sizes else None
    return Summary(
        title=title,
        unit=self_influence.unit,
        sample_count=len(self_influence),
        highest=_entries(self_influence.proponents(show), planted),
        lowest=_entries(self_influence.opponents(show), planted),
        negative=int((self_influence.values < 0).sum()),
        median_error=median_error,
        queries=() if influence is None else _query_rows(influence, min(neighbours, len(influence)), planted),
        detection=(
            None
            if foreign is None
            else compare_rankings({"self-influence": self_influence.values} | dict(rivals or {}), foreign)
        ),
        facts=tuple((name, str(value)) for name, value in (facts or {}).items()),
    )


def compare_rankings(
    rankings: Mapping[str, FloatArray], foreign: npt.NDArray[np.bool_], first: Sequence[int] | None = None
) -> DetectionTable:
    """Measure several ways to rank the same samples.

    Args:
        rankings: A score for each sample, ``[n]``, by name; high is suspect.
        foreign: Which samples are foreign, ``[n]``.
        first: How many of the highest to look at; a quarter, a half, once and twice as many as are foreign
            unless given.

    Raises:
        ValueError: As `proponent.evaluation.detect`, or a number of `first` is no count of samples.
    """
    count, total = int(foreign.sum()), len(foreign)
    if first is None:
        first = sorted({min(max(round(count * share), 1), total) for share in (0.25, 0.5, 1, 2)})
    if any(not 1 <= k <= total for k in first):
        raise ValueError(f"`first` must hold counts from 1 to the {total} samples, got {list(first)}.")
    rows = []
    for name, values in rankings.items():
        curve = detection_curve(values, foreign)
        rows.append(RankingRow(name, tuple(float(curve[k]) for k in first), detect(values, foreign)))
    return DetectionTable(tuple(first), tuple(rows))


def _entries(
    ranking: Ranking, planted: Mapping[Any, bool] | None, row: int | None = None
) -> tuple[Entry, ...]:
    ids, values = (ranking.ids, ranking.values) if row is None else (ranking.ids[row], ranking.values[row])
    return tuple(
        Entry(str(id_), float(value), None if planted is None else planted[id_])
        for id_, value in zip(ids.tolist(), values.tolist(), strict=True)
    )


def _query_rows(influence: Scores, k: int, planted: Mapping[Any, bool] | None) -> tuple[QueryRow, ...]:
    proponents, opponents = influence.proponents(k), influence.opponents(k)
    assert influence.query_ids is not None
    return tuple(
        QueryRow(str(id_), _entries(proponents, planted, i), _entries(opponents, planted, i))
        for i, id_ in enumerate(influence.query_ids.tolist())
    )
