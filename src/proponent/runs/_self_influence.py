"""`self_influence`: every training sample's influence on itself."""

from typing import TYPE_CHECKING, Any

from proponent.runs._opened import AnyRun, opened
from proponent.runs._scoring import Scoring
from proponent.runs._seconds import timed
from proponent.runs._telling import Progress, bars
from proponent.runs._watching import watched

if TYPE_CHECKING:
    from proponent.scores import Scores


def self_influence(
    run: AnyRun,
    scoring: Scoring | None = None,
    *,
    biased: bool = False,
    standard_errors: bool = False,
    memory_budget: str | None = None,
    device: str | None = None,
    data: Any = None,
    progress: Progress = bars,
) -> "Scores":
    """Score every training sample of a run on itself, and keep the scores in its folder.

    A job that was stopped goes on where it was.

    Args:
        run: A run's folder, or the run opened.
        scoring: The settings of the scores; 16 draws at every checkpoint unless given.
        biased: Whether to square one gradient from all draws, as published runs did.
        standard_errors: Whether to estimate how far the draws may have moved each score.
        memory_budget: What the work may take, such as ``"2GiB"``.
        device: Where to compute; a GPU if there is one.
        data: Where the data lie now, if they were moved.
        progress: Shows progress.

    Raises:
        FileNotFoundError: As `open_run`.
        ValueError: As `open_run` and `TracIn.self_influence`.
    """
    run, scoring = opened(run, data), scoring or Scoring()
    job = scoring.job(run, "self-influence", errors=standard_errors, biased=biased)
    with (
        timed(run.folder.seconds, "self-influence") as tick,
        watched(job, "tasks of self-influence", scoring.tasks(run), progress, tick),
    ):
        scores = scoring.method(run, memory_budget, device).self_influence(
            run.samples,
            ids=run.data.ids,
            biased=biased,
            standard_errors=standard_errors,
            directory=job,
            progress=False,
        )
        scores.save(run.folder.self_influence)
    return scores


def kept_self_influence(run: "AnyRun") -> "Scores | None":
    """The self-influence that a run's folder holds; none where there is none, or it is of other data.

    Args:
        run: A run's folder, or the run opened.
    """
    import numpy as np

    from proponent.scores import Scores

    run = opened(run)
    try:
        scores = Scores.load(run.folder.self_influence)
    except (FileNotFoundError, ValueError):
        return None
    same = scores.facts.get("trajectories") == [run.trajectory.fingerprint()]
    return scores if same and np.array_equal(scores.ids, run.data.ids) else None
