"""`influence`: every training sample's influence on some queries."""

import re
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from proponent.runs._folder import RunFolder
from proponent.runs._opened import AnyRun, opened
from proponent.runs._queries import read_queries
from proponent.runs._scoring import Scoring
from proponent.runs._seconds import timed
from proponent.runs._telling import Progress, bars
from proponent.runs._watching import watched
from proponent.storage import read_json, write_json

if TYPE_CHECKING:
    from proponent.scores import Scores
    from proponent.top_scores import TopScores

_NAME = re.compile(r"[\w][\w.-]*")


def influence(
    run: AnyRun,
    queries: Any,
    scoring: Scoring | None = None,
    *,
    name: str | None = None,
    top: int | None = None,
    standard_errors: bool = False,
    column: Any = None,
    array: str | None = None,
    memory_budget: str | None = None,
    device: str | None = None,
    data: Any = None,
    progress: Progress = bars,
) -> "Scores | TopScores":
    """Score every training sample of a run on some queries, and keep the scores in its folder.

    Scores on other queries, or of other settings, stay beside them; `scores/influence.json` says what there
    is and which came last. A job that was stopped goes on where it was.

    Args:
        run: A run's folder, or the run opened.
        queries: What is asked about: a path or an object, as `proponent.data.open_data` takes it. Pictures
            are brought to the size of the run's, columns scaled as they were.
        scoring: The settings of the scores; 16 draws at every checkpoint unless given.
        name: What to call the scores, in their file's name too; a hash of what was asked unless given.
        top: Keep only so many proponents and opponents of each query.
        standard_errors: Whether to estimate how far the draws may have moved each score.
        column: As in `open_data`.
        array: As in `open_data`.
        memory_budget: What the work may take, such as ``"2GiB"``.
        device: Where to compute; a GPU if there is one.
        data: Where the data lie now, if they were moved.
        progress: Shows progress.

    Raises:
        FileNotFoundError: As `open_run`, or there are no such queries.
        ValueError: As `open_run` and `TracIn.influence`; the queries don't fit, or the name is taken by other
            scores.
        TypeError: The queries have no form that is known.
    """
    from proponent.data import as_batch, fingerprint

    if name is not None and not _NAME.fullmatch(name):
        raise ValueError(f"`name` must be letters, digits, dots and dashes, got {name!r}.")
    run, scoring = opened(run, data), scoring or Scoring()
    asked, numbers = read_queries(run, queries, column, array)
    directory = scoring.job(
        run, "influence", errors=standard_errors, top=top, queries=fingerprint(as_batch(numbers))
    )
    digest = directory.name.removeprefix("influence-")
    name = name or digest
    _check_free(run.folder, name, digest)
    tasks = scoring.tasks(run, shards_alone=top is not None)
    with (
        timed(run.folder.seconds, "influence") as tick,
        watched(directory, "tasks of influence", tasks, progress, tick),
    ):
        scores = scoring.method(run, memory_budget, device).influence(
            run.samples,
            numbers,
            ids=run.data.ids,
            query_ids=asked.ids,
            top=top,
            standard_errors=standard_errors,
            directory=directory,
            progress=False,
        )
        path = scores.save(run.folder.scores / f"influence-{name}{'.npy' if top is None else '.parquet'}")
        _note(run.folder, name, digest, path, asked.source.get("path"), len(asked))
    return scores


def newest_influence(run: AnyRun) -> "Scores | TopScores | None":
    """The influences that were computed last; none where there are none, or they are of other data.

    Args:
        run: A run's folder, or the run opened.
    """
    import numpy as np

    from proponent.scores import Scores
    from proponent.top_scores import TopScores

    run = opened(run)
    path = influence_path(run.folder)
    if path is None:
        return None
    try:
        scores = (Scores if path.suffix == ".npy" else TopScores).load(path)
    except (FileNotFoundError, ValueError):
        return None
    if scores.facts.get("trajectories") != [run.trajectory.fingerprint()]:
        return None
    same = not isinstance(scores, Scores) or np.array_equal(scores.ids, run.data.ids)
    return scores if same else None


def influence_path(folder: RunFolder, name: str | None = None) -> Path | None:
    """Where the influences of a name lie, or the newest.

    Args:
        folder: The run's folder.
        name: Their name.
    """
    found = _index(folder)
    entry = found["all"].get(found["newest"] if name is None else name)
    return None if entry is None else folder.scores / entry["file"]


def _index(folder: RunFolder) -> dict[str, Any]:
    try:
        found = read_json(folder.influence)
    except (FileNotFoundError, ValueError):
        found = {}
    return found if isinstance(found.get("all"), dict) else {"newest": None, "all": {}}


def _check_free(folder: RunFolder, name: str, digest: str) -> None:
    there = _index(folder)["all"].get(name)
    if there is not None and there["asked"] != digest:
        raise ValueError(
            f"`{name}` must be a new name, but the run has scores of that name on other queries, or of other "
            "settings. Name another, or none."
        )


def _note(folder: RunFolder, name: str, digest: str, path: Path, queries: Any, count: int) -> None:
    entry = {
        "file": path.name,
        "asked": digest,
        "queries": queries,
        "count": count,
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
    }
    write_json(folder.influence, {"newest": name, "all": _index(folder)["all"] | {name: entry}})
