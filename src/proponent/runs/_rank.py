"""`rank`: every ranking of a run's samples, side by side."""

import hashlib
import json
import math
from typing import TYPE_CHECKING, Any

import numpy as np

from proponent.runs._adds import what_self_influence_adds
from proponent.runs._columns import NEIGHBOURS, cheap_columns, combined_column
from proponent.runs._halves import half_losses_of
from proponent.runs._opened import AnyRun, OpenedRun, opened
from proponent.runs._scoring import Scoring
from proponent.runs._seconds import read_seconds, timed
from proponent.runs._self_influence import kept_self_influence, self_influence
from proponent.runs._settings import default_device
from proponent.runs._telling import Progress, Tell, bars, silent

if TYPE_CHECKING:
    from proponent.attribution._job import Job
    from proponent.evaluation import Rankings
    from proponent.scores import FloatArray

PAIRS = 2
# Samples times parameters times checkpoints that two cores score in Adam's metric in about a minute.
_OWN_WORK, _LEAST_CHECKPOINTS = 1e10, 2


def rank(
    run: AnyRun,
    *,
    pairs: int | None = PAIRS,
    own: bool = True,
    draws: int = 16,
    seed: int = 0,
    device: str | None = None,
    data: Any = None,
    tell: Tell = silent,
    progress: Progress = bars,
) -> "Rankings":
    """Compute every ranking of a run's samples, and keep them in its folder.

    Loss and its parts, the distances to neighbours among the samples and among their codes, the norm of the
    gradient, self-influence, and the losses under models that never saw the sample; with these, the ranking
    to begin with. Each is kept once it is finished, so that a call that was stopped goes on where it was.

    Self-influence is taken as `self_influence` left it; else it is computed, on a CPU at so few checkpoints
    that it takes minutes.

    Args:
        run: A run's folder, or the run opened.
        pairs: How many pairs of models to train on halves of the samples; 0 for none, and as many as there
            are already where it is none.
        own: Whether to compute self-influence where it isn't there.
        draws: How many draws of noise a loss is the mean of.
        seed: What the draws, and the halves, follow from.
        device: Where to compute; a GPU if there is one.
        data: Where the data lie now, if they were moved.
        tell: Takes a sentence for a person to read.
        progress: Shows progress.

    Raises:
        FileNotFoundError: As `open_run`.
        ValueError: As `open_run`; `pairs` is negative, or a loss can't be computed.
    """
    if pairs is not None and pairs < 0:
        raise ValueError(f"`pairs` must be 0 or more, got {pairs}.")
    run = opened(run, data)
    job, digest = _job(run, draws, seed)
    if pairs is None:
        pairs = _finished_pairs(job)
    columns = _columns(run, job, draws, seed, device, tell)
    if own and kept_self_influence(run) is None:
        tell("Scoring every sample on itself.")
        self_influence(run, _own_scoring(run, draws, seed, device), device=device, progress=progress)
    default = "loss"
    if pairs and len(run.samples) >= 4:
        tell(f"Training {2 * pairs} models on halves of the samples.")
        models = run.folder.job(f"halves-{digest}")
        halves = half_losses_of(run, job, models, pairs, draws, seed, device, progress)
        columns |= {"unseen loss": halves.unseen, "loss gap": halves.unseen - halves.seen}
        default = "combined"
        combined = combined_column(run, job, columns["loss"], halves, seed, lambda name: None)
        columns = {default: combined} | columns
    return _kept(run, columns, default, {"draws": draws, "seed": seed, "pairs": pairs})


def _columns(
    run: OpenedRun, job: "Job", draws: int, seed: int, device: str | None, tell: Tell
) -> "dict[str, FloatArray]":
    with timed(run.folder.seconds, "rankings") as tick:

        def working(name: str) -> None:
            tick()
            tell(f"Ranking by {name}.")

        model = run.model.to(default_device(device))
        try:
            return dict(cheap_columns(run, model, job, draws, seed, working))
        finally:
            model.to("cpu")


def _kept(
    run: OpenedRun, columns: "dict[str, FloatArray]", default: str, facts: dict[str, Any]
) -> "Rankings":
    from proponent.evaluation import Rankings

    scores = kept_self_influence(run)
    if scores is not None:
        columns = columns | {"self-influence": np.asarray(scores.values, dtype=np.float64)}
    rankings = Rankings(run.data.ids, columns, default)
    table = rankings.correlations()
    facts |= {
        "neighbours": min(NEIGHBOURS, len(run.samples) - 1),
        "trajectory": run.trajectory.fingerprint(),
        "data": run.tables["data"]["fingerprint"],
        "correlations": {
            one: {other: None if math.isnan(value) else float(value) for other, value in row.items()}
            for one, row in table.to_dict().items()
        },
        "seconds": dict(read_seconds(run.folder.seconds)),
    }
    if scores is not None:
        facts["what self-influence adds"] = what_self_influence_adds(rankings)
    rankings = Rankings(run.data.ids, columns, default, facts)
    rankings.save(run.folder.rankings)
    return rankings


def _job(run: OpenedRun, draws: int, seed: int) -> "tuple[Job, str]":
    from proponent.attribution._job import Job

    asked = {
        "scores": "rankings",
        "draws": draws,
        "seed": seed,
        "data": run.tables["data"]["fingerprint"],
        "scaling": run.scaling.to_table(),
        "trajectory": run.trajectory.fingerprint(),
    }
    digest = hashlib.sha256(json.dumps(asked, sort_keys=True).encode()).hexdigest()[:12]
    return Job(run.folder.job(f"rankings-{digest}"), asked), digest


def _finished_pairs(job: "Job") -> int:
    pairs = 0
    while job.load(f"pair-{pairs}") is not None:
        pairs += 1
    return pairs


def _own_scoring(run: OpenedRun, draws: int, seed: int, device: str | None) -> Scoring:
    """All checkpoints, or on a CPU and in Adam's metric so many, evenly spaced, that it takes minutes."""
    count = len(run.trajectory)
    draws += draws % 2
    if default_device(device) != "cpu" or run.tables["training"]["optimizer"] != "adam":
        return Scoring(draws, seed)
    size = sum(parameter.numel() for parameter in run.model.parameters())
    kept = max(_LEAST_CHECKPOINTS, int(_OWN_WORK / (size * len(run.samples))))
    if kept >= count:
        return Scoring(draws, seed)
    return Scoring(draws, seed, checkpoints=[(2 * k + 1) * count // (2 * kept) for k in range(kept)])
