"""Gathers what the offline report of a run says."""

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from proponent._version import __version__
from proponent.report._offline_record import (
    Curve,
    DecisionCounts,
    RankingColumn,
    Report,
    SampleColumns,
)
from proponent.report._records import Entry, QueryRow, compare_rankings
from proponent.report._report_facts import facts_of, limits_of, scores_facts
from proponent.report._selection import selected
from proponent.report._views import rounded

if TYPE_CHECKING:
    from proponent.evaluation import Rankings
    from proponent.runs import OpenedRun
    from proponent.scores import Scores
    from proponent.top_scores import TopScores

OWN, LOSS = "self-influence", "loss"
_ABOUT = {
    "combined": "The loss, steadied by models that saw half of the samples, less what the sample's kind "
    "costs anyway.",
    LOSS: "The loss under the trained model.",
    "reconstruction": "The part of the loss that says how badly the sample is reproduced.",
    "divergence": "The part of the loss that says how far the sample's code is from the prior.",
    "unseen loss": "The mean loss under models that never saw the sample.",
    "loss gap": "How much dearer the sample is to models that never saw it.",
    "distance to neighbours": "The mean distance to the nearest samples.",
    "distance to latent neighbours": "The mean distance to the samples with the nearest codes.",
    "gradient norm": "The size of the gradient of the sample's loss at the end.",
    OWN: "How far the training steps on the sample lowered its own loss: how much the model leans on it.",
}
_VERDICTS = ("keep", "discard", "unsure")
_CURVE_POINTS, _LEFT_ASIDE = 200, 200


def gather_report(
    run: "OpenedRun",
    rankings: "Rankings",
    own: "Scores | None" = None,
    influence: "Scores | TopScores | None" = None,
    *,
    title: str | None = None,
    foreign: npt.NDArray[np.bool_] | None = None,
    verdicts: Mapping[str, str] | None = None,
    seconds: Mapping[str, float] | None = None,
    show: int = 24,
    neighbours: int = 6,
    queries: int = 12,
    samples: int = 2000,
) -> Report:
    """Gather what the report of a run says.

    Args:
        run: The run.
        rankings: Of its samples.
        own: Their self-influence, if it was computed.
        influence: Their influence on queries, if some were asked.
        title: What was looked at; the name of the data unless given.
        foreign: Which samples are foreign, ``[n]``, if that is known.
        verdicts: What was decided so far, by id.
        seconds: How long each stage took.
        show: How many of the highest and of the lowest to show.
        neighbours: How many proponents and opponents of each query.
        queries: How many queries.
        samples: How many samples the page shows at most.

    Raises:
        ValueError: `show`, `neighbours`, `queries` or `samples` is not positive, or all or none of the
            samples are foreign.
    """
    counts = {"show": show, "neighbours": neighbours, "queries": queries, "samples": samples}
    for name, count in counts.items():
        if count < 1:
            raise ValueError(f"`{name}` must be at least 1, got {count}.")
    show = min(show, len(rankings))
    rows, asked = _query_rows(influence, min(neighbours, len(rankings)), queries)
    orders = {name: rankings.order(name) for name in rankings.columns}
    places = {id_: i for i, id_ in enumerate(rankings.ids.tolist())}
    named = [places[entry.id] for row in rows for entry in (*row.proponents, *row.opponents)]
    shown = selected(orders, named, show, samples)
    facts = facts_of(run, rankings, own, seconds or {})
    planted = None if foreign is None else {id_: bool(foreign[i]) for id_, i in places.items()}
    return Report(
        title=title or str(facts["data"]["name"] or run.folder.path.resolve().name),
        made=__version__,
        kind=run.data.kind,
        sample_count=len(rankings),
        facts=facts,
        limits=limits_of(facts, run, len(shown)),
        left_aside=tuple((each.id, each.reason) for each in run.data.left_aside[:_LEFT_ASIDE]),
        default=rankings.default,
        rankings=tuple(_column(rankings, name, order, show) for name, order in orders.items()),
        correlations=_correlations(rankings),
        line=rankings.facts.get("what self-influence adds"),
        scatter=_axes(rankings),
        samples=_samples(run, rankings, shown, foreign, verdicts or {}),
        influence=None if influence is None else scores_facts(influence, run),
        queries=rows if planted is None else tuple(_marked(row, planted) for row in rows),
        query_count=asked,
        detection=None if foreign is None else compare_rankings(_own_first(rankings), foreign),
        curves=() if foreign is None else _curves(rankings, foreign),
        decisions=None if verdicts is None else _decisions(rankings, verdicts),
        missing=_missing(run, own, influence, facts),
    )


def _column(rankings: "Rankings", name: str, order: Any, show: int) -> RankingColumn:
    ids = rankings.ids[order]
    highest, lowest = (tuple(end[:show].tolist()) for end in (ids, ids[::-1]))
    return RankingColumn(name, _ABOUT.get(name, ""), highest, lowest)


def _correlations(rankings: "Rankings") -> dict[str, dict[str, float | None]]:
    table = rankings.correlations()
    return {
        str(one): {str(other): None if np.isnan(value) else float(value) for other, value in row.items()}
        for one, row in table.T.items()
    }


def _axes(rankings: "Rankings") -> dict[str, str]:
    """Self-influence against loss, where there are both; else what isn't a part of the loss."""
    names = list(rankings.columns)
    x = LOSS if LOSS in names else rankings.default
    wanted = (OWN, rankings.default, "distance to neighbours", *names)
    up = [name for name in wanted if name in names and name != x]
    return {"x": x, "y": up[0] if up else x}


def _samples(
    run: "OpenedRun",
    rankings: "Rankings",
    shown: list[int],
    foreign: npt.NDArray[np.bool_] | None,
    verdicts: Mapping[str, str],
) -> SampleColumns:
    ids = rankings.ids[shown].tolist()
    numbers = {
        name: tuple(rounded(value, 5) if np.isfinite(value) else None for value in values[shown].tolist())
        for name, values in rankings.columns.items()
    }
    return SampleColumns(
        ids=tuple(ids),
        captions=tuple(str(caption) for caption in np.asarray(run.data.captions)[shown].tolist()),
        numbers=numbers,
        foreign=None if foreign is None else tuple(foreign[shown].tolist()),
        copies=tuple(run.data.duplicates[shown].tolist()),
        verdicts=tuple(verdicts.get(id_, "") for id_ in ids),
    )


def _query_rows(
    influence: "Scores | TopScores | None", k: int, most: int
) -> tuple[tuple[QueryRow, ...], int]:
    if influence is None:
        return (), 0
    from proponent.top_scores import TopScores

    if isinstance(influence, TopScores):
        k = min(k, influence.highest.ids.shape[1])
    sides = influence.proponents(k), influence.opponents(k)
    asked = sides[0].query_ids
    assert asked is not None
    rows = [
        QueryRow(
            str(id_),
            *(
                tuple(
                    Entry(str(sample), float(value))
                    for sample, value in zip(side.ids[i].tolist(), side.values[i].tolist(), strict=True)
                )
                for side in sides
            ),
        )
        for i, id_ in enumerate(asked[:most].tolist())
    ]
    return tuple(rows), len(asked)


def _marked(row: QueryRow, planted: Mapping[str, bool]) -> QueryRow:
    sides = (
        [replace(entry, foreign=planted[entry.id]) for entry in side]
        for side in (row.proponents, row.opponents)
    )
    return QueryRow(row.id, *(tuple(side) for side in sides))


def _own_first(rankings: "Rankings") -> dict[str, Any]:
    first = [name for name in (OWN, rankings.default) if name in rankings.columns][:1]
    return {name: rankings.columns[name] for name in dict.fromkeys([*first, *rankings.columns])}


def _curves(rankings: "Rankings", foreign: npt.NDArray[np.bool_]) -> tuple[Curve, ...]:
    from proponent.evaluation import detection_curve

    n = len(rankings)
    at = np.unique(np.linspace(0, n, min(_CURVE_POINTS, n + 1)).round().astype(int))
    return tuple(
        Curve(name, tuple(at.tolist()), tuple(np.round(detection_curve(values, foreign)[at], 3).tolist()))
        for name, values in rankings.columns.items()
    )


def _decisions(rankings: "Rankings", verdicts: Mapping[str, str]) -> DecisionCounts:
    stand = {id_: verdicts[id_] for id_ in rankings.ids.tolist() if id_ in verdicts}
    counts = {name: sum(verdict == name for verdict in stand.values()) for name in _VERDICTS}
    discarded = tuple(id_ for id_, verdict in stand.items() if verdict == "discard")
    return DecisionCounts(**counts, left=len(rankings) - len(stand), discarded=discarded)


def _missing(run: "OpenedRun", own: Any, influence: Any, facts: Any) -> tuple[tuple[str, str], ...]:
    said = []
    if own is None:
        said.append(("Self-influence", "proponent self-influence RUN"))
    if not facts["rankings"]["pairs"]:
        said.append(
            ("Losses under models that never saw the sample; the combined ranking", "proponent rank RUN")
        )
    if influence is None:
        said.append(("Proponents and opponents of queries", "proponent influence RUN --queries FILE"))
    return tuple(said)
