"""What the offline report of a run says, as a plain record; the page is made from it."""

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from proponent.report._records import DetectionTable, QueryRow

# By section: name and value, fit for JSON.
Facts = Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True)
class RankingColumn:
    """A way to rank the samples.

    Attributes:
        name: What it is called.
        about: What it measures, for a person to read.
        highest: The ids of the samples that it puts first.
        lowest: Of those that it puts last, the last one in front.
    """

    name: str
    about: str
    highest: tuple[str, ...]
    lowest: tuple[str, ...]


@dataclass(frozen=True)
class SampleColumns:
    """The samples that the page shows, a column each.

    Attributes:
        ids: Of the samples.
        captions: What a person reads.
        numbers: Of every ranking, by its name; none where one is not finite.
        foreign: Whether each was planted; none where that isn't known.
        copies: The number of the group of equal content, else -1.
        verdicts: What was decided, empty where nothing was.
    """

    ids: tuple[str, ...]
    captions: tuple[str, ...]
    numbers: Mapping[str, tuple[float | int | None, ...]]
    foreign: tuple[bool, ...] | None
    copies: tuple[int, ...]
    verdicts: tuple[str, ...]


@dataclass(frozen=True)
class Curve:
    """A detection curve: how many foreign samples are among the k first by a ranking."""

    name: str
    k: tuple[int, ...]
    found: tuple[float, ...]


@dataclass(frozen=True)
class DecisionCounts:
    """What was decided so far.

    Attributes:
        keep: How many samples stay.
        discard: How many go.
        unsure: How many the person was unsure about.
        left: How many have no decision.
        discarded: The ids of those that go.
    """

    keep: int
    discard: int
    unsure: int
    left: int
    discarded: tuple[str, ...]


@dataclass(frozen=True)
class Report:
    """A run in one page.

    Attributes:
        title: What was looked at.
        made: The version that made the report.
        kind: ``"images"``, ``"rows"`` or ``"arrays"``.
        sample_count: How many samples were ranked.
        facts: How it was made.
        limits: What to keep in mind, a sentence each.
        left_aside: Samples that can't be used: id and reason; the first of them.
        default: The ranking to begin with.
        rankings: The ways to rank, the default first.
        correlations: Spearman's correlation of each ranking with each; none where one is constant.
        line: What self-influence adds to the others; none where it wasn't computed.
        scatter: The rankings that stand on the axes first, ``x`` and ``y``.
        samples: Those that the page shows: all, or the ends of every ranking and others by chance.
        influence: How the influences were computed; none where no queries were asked.
        queries: The strongest influences on each query.
        query_count: How many queries there are.
        detection: What each ranking finds, where foreign samples are known.
        curves: The detection curves.
        decisions: What was decided so far; none where nobody reviewed.
        missing: What the run lacks yet, and the command that makes it.
    """

    title: str
    made: str
    kind: str
    sample_count: int
    facts: Facts
    limits: tuple[str, ...]
    left_aside: tuple[tuple[str, str], ...]
    default: str
    rankings: tuple[RankingColumn, ...]
    correlations: Mapping[str, Mapping[str, float | None]]
    line: str | None
    scatter: Mapping[str, str]
    samples: SampleColumns
    influence: Mapping[str, Any] | None
    queries: tuple[QueryRow, ...]
    query_count: int
    detection: DetectionTable | None
    curves: tuple[Curve, ...]
    decisions: DecisionCounts | None
    missing: tuple[tuple[str, str], ...]

    def to_dict(self) -> dict[str, Any]:
        """The same as dicts, lists, numbers and text; a number that is not finite is none."""
        found: dict[str, Any] = fit_for_json(asdict(self))
        return found


def fit_for_json(value: Any) -> Any:
    """Replace numbers that JSON can't hold by none, at any depth.

    >>> fit_for_json({"a": (1.0, float("nan"))})
    {'a': [1.0, None]}
    """
    if isinstance(value, Mapping):
        return {str(name): fit_for_json(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [fit_for_json(each) for each in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value
