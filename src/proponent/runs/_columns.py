"""The rankings of a run, each computed once and kept: a kill loses at most the one in work."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from proponent.runs._opened import OpenedRun

if TYPE_CHECKING:
    from torch import nn

    from proponent.attribution._job import Job
    from proponent.evaluation import HalfLosses
    from proponent.scores import FloatArray

NEIGHBOURS = 5


def cheap_columns(
    run: OpenedRun, model: "nn.Module", job: "Job", draws: int, seed: int, working: Callable[[str], object]
) -> Iterator[tuple[str, "FloatArray"]]:
    """Compute the rankings that need the trained model and the samples alone.

    They are those of `proponent.evaluation.compute_rankings`, by the same names.

    Args:
        run: The run.
        model: Its model, where to compute.
        job: Keeps each.
        draws: How many draws of noise a loss is the mean of.
        seed: What the draws belong to.
        working: Told which is computed, once it has to be.

    Yields:
        Name and numbers of each.
    """
    from proponent.evaluation import gradient_norms, latent_means, neighbour_distances, sample_losses

    objective, samples = run.objective, run.samples
    near = min(NEIGHBOURS, len(samples) - 1)
    columns: dict[str, Callable[[], FloatArray]] = {
        "loss": lambda: sample_losses(model, objective, samples, draws, seed),
        "reconstruction": lambda: sample_losses(
            model, replace(objective, part="reconstruction"), samples, draws, seed
        ),
        "divergence": lambda: sample_losses(model, replace(objective, part="kl"), samples, draws, seed),
        "distance to neighbours": lambda: neighbour_distances(samples, near),
        "distance to latent neighbours": lambda: neighbour_distances(latent_means(model, samples), near),
        "gradient norm": lambda: gradient_norms(model, objective, samples, draws, seed),
    }
    for name, compute in columns.items():
        if near or "neighbours" not in name:
            yield name, remembered(job, name, compute, working)


def combined_column(
    run: OpenedRun,
    job: "Job",
    loss: "FloatArray",
    halves: "HalfLosses",
    seed: int,
    working: Callable[[str], object],
) -> "FloatArray":
    """Compute the ranking to begin with, from the losses under all models.

    Args:
        run: The run.
        job: Keeps it.
        loss: Of each sample.
        halves: The losses under models that saw half of the samples.
        seed: As in `default_ranking`.
        working: Told that it is computed.
    """
    from proponent.evaluation import default_ranking, principal_components

    return remembered(
        job,
        f"combined of {halves.pairs} pairs",
        lambda: default_ranking(loss, principal_components(run.samples), halves.unseen, halves.seen, seed),
        working,
    )


def remembered(
    job: "Job", name: str, compute: Callable[[], "FloatArray"], working: Callable[[str], object]
) -> "FloatArray":
    """Read numbers that a job keeps, or compute and keep them.

    Args:
        job: The job.
        name: What they are.
        compute: Computes them.
        working: Told the name once they have to be computed.
    """
    task = name.replace(" ", "-")
    kept = job.load(task)
    if kept is None:
        working(name)
        kept = {"values": np.asarray(compute())}
        job.save(task, kept)
    return kept["values"]
