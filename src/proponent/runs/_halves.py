"""The losses of a run's samples under models that saw only half of them."""

from typing import TYPE_CHECKING

import numpy as np

from proponent.runs._opened import OpenedRun
from proponent.runs._seconds import timed
from proponent.runs._settings import default_device, model_from
from proponent.runs._telling import Progress

if TYPE_CHECKING:
    from pathlib import Path

    import torch
    from torch import nn

    from proponent.attribution._job import Job
    from proponent.evaluation import HalfLosses


def half_losses_of(
    run: OpenedRun,
    job: "Job",
    models: "Path",
    pairs: int,
    draws: int,
    seed: int,
    device: str | None,
    progress: Progress,
) -> "HalfLosses":
    """Train pairs of models on halves of the samples, as the run's own was trained; a pair is a task.

    Args:
        run: The run.
        job: Keeps finished pairs.
        models: Where the models are kept.
        pairs: How many pairs.
        draws: How many draws of noise a loss is the mean of.
        seed: Of halves, first parameters, batches, noise and draws.
        device: Where to train.
        progress: Shows progress.
    """
    from proponent.evaluation import HalfLosses, half_losses
    from proponent.randomness import keyed_seed

    objective, own = run.tables["objective"], run.tables["training"]
    shared = ("optimizer", "learning_rate", "batch_size", "precision")
    training = {name: own[name] for name in shared}

    def build(generator: "torch.Generator") -> "nn.Module":
        shape = run.samples.shape[1:]
        return model_from(run.tables["model"], objective["likelihood"], shape, generator)

    unseen, seen = [], []
    with (
        timed(run.folder.seconds, "half models") as tick,
        progress("steps of models on halves", pairs * own["steps"]) as advance,
    ):
        for pair in range(pairs):
            task = job.load(f"pair-{pair}")
            if task is None:

                def report(step: int, loss: float, before: int = pair * own["steps"]) -> None:
                    advance(before + step, f"loss {loss:.5g}")
                    tick()

                losses = half_losses(
                    build,
                    run.objective,
                    run.samples,
                    steps=own["steps"],
                    pairs=1,
                    seed=keyed_seed(seed, "pair of halves", pair),
                    draws=draws,
                    directory=models / f"pair-{pair}",
                    device=default_device(device),
                    progress=report,
                    **training,
                )
                task = {"unseen": losses.unseen, "seen": losses.seen}
                job.save(f"pair-{pair}", task)
            advance((pair + 1) * own["steps"], "")
            unseen.append(task["unseen"])
            seen.append(task["seen"])
    return HalfLosses(unseen=np.mean(unseen, axis=0), seen=np.mean(seen, axis=0), pairs=pairs)
