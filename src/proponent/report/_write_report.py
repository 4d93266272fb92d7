"""Writes the offline report of a run."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from proponent.report._foreign import read_foreign
from proponent.report._gather import gather_report
from proponent.report._html import write_html
from proponent.report._offline_page import render_report
from proponent.report._views import View, views_of
from proponent.storage import write_json

if TYPE_CHECKING:
    from proponent.evaluation import Rankings
    from proponent.report._offline_record import Report
    from proponent.runs import OpenedRun

# Characters of pictures; with all else the page stays under 6 million.
_BUDGET, _QUERY_BUDGET = 4_400_000, 100_000


def write_report(
    run: "str | Path | OpenedRun",
    *,
    foreign: str | Path | None = None,
    verdicts: Mapping[str, str] | None = None,
    data: Any = None,
    title: str | None = None,
    show: int = 24,
    neighbours: int = 6,
    queries: int = 12,
    samples: int = 2000,
    tell: Callable[[str], object] = lambda text: None,
) -> Path:
    """Write `report.html`, which works without a network, and beside it `report.json`, which says the same.

    Rankings that are not there yet are computed as far as they are cheap.

    Args:
        run: A run's folder, or the run opened.
        foreign: What says which samples are foreign, where that is known: a file, or a column of the data.
        verdicts: What was decided so far, by id.
        data: Where the data lie now, if they were moved.
        title: What was looked at; the name of the data unless given.
        show: How many of the highest and of the lowest to show.
        neighbours: How many proponents and opponents of each query.
        queries: How many queries.
        samples: How many samples the page shows at most.
        tell: Takes a sentence for a person to read.

    Returns:
        The path of the page.

    Raises:
        FileNotFoundError: As `open_run`, or there is no file or column of the name `foreign`.
        ValueError: As `open_run`, or an argument can't be used.
    """
    from proponent.runs import kept_self_influence, newest_influence
    from proponent.runs._opened import opened
    from proponent.runs._seconds import read_seconds

    run = opened(run, data)
    marked = None if foreign is None else read_foreign(foreign, run.data)
    report = gather_report(
        run,
        _rankings(run, tell),
        kept_self_influence(run),
        newest_influence(run),
        title=title,
        foreign=marked,
        verdicts=verdicts,
        seconds=read_seconds(run.folder.seconds),
        show=show,
        neighbours=neighbours,
        queries=queries,
        samples=samples,
    )
    tell(f"Drawing {len(report.samples.ids):,} samples.")
    places = {id_: i for i, id_ in enumerate(run.data.ids.tolist())}
    found = views_of(run.data, [places[id_] for id_ in report.samples.ids], _BUDGET)
    views = {run.data.ids[i]: view for i, view in found.items()}
    page = render_report(report, views, _query_views(run, report, tell))
    write_json(run.folder.report.with_suffix(".json"), report.to_dict())
    return write_html(run.folder.report, page)


def _rankings(run: "OpenedRun", tell: Callable[[str], object]) -> "Rankings":
    """The rankings that the run has, if they are of its data and hold the self-influence it has."""
    import numpy as np

    from proponent.evaluation import Rankings
    from proponent.runs import kept_self_influence, rank

    own = kept_self_influence(run)
    try:
        there = Rankings.load(run.folder.rankings)
    except (FileNotFoundError, ValueError):
        return rank(run, pairs=None, own=False, tell=tell)
    current = there.facts.get("trajectory") == run.trajectory.fingerprint()
    current = current and np.array_equal(there.ids, run.data.ids)
    if own is not None:
        kept = there.columns.get("self-influence")
        current = current and kept is not None and np.array_equal(kept, np.asarray(own.values, np.float64))
    if current:
        return there
    settings = {name: there.facts[name] for name in ("draws", "seed") if name in there.facts}
    return rank(run, pairs=None, own=False, tell=tell, **settings)


def _query_views(run: "OpenedRun", report: "Report", tell: Callable[[str], object]) -> dict[str, View]:
    """Pictures of the queries, if what was asked about is still where it was."""
    from proponent.runs._queries import read_queries
    from proponent.storage import read_json

    if not report.queries:
        return {}
    index = read_json(run.folder.influence)
    source = index["all"][index["newest"]]["queries"]
    if source is None:
        return {}
    try:
        asked, _ = read_queries(run, source)
    except (OSError, ValueError, TypeError) as error:
        tell(f"The queries are shown by name, for they can't be read any more: {error}")
        return {}
    places = {id_: i for i, id_ in enumerate(asked.ids.tolist())}
    there = [places[row.id] for row in report.queries if row.id in places]
    return {str(asked.ids[i]): view for i, view in views_of(asked, there, _QUERY_BUDGET).items()}
