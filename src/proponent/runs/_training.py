"""The training of a run."""

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from typing import Any

from proponent.runs._folder import RunFolder
from proponent.runs._samples import Samples
from proponent.runs._settings import build_model, build_objective

# Gives a function that is told how much of some work is done, and what to say beside it.
Progress = Callable[[str, int], AbstractContextManager[Callable[[int, str], None]]]


def train_run(
    folder: RunFolder,
    samples: Samples,
    tables: Mapping[str, Mapping[str, Any]],
    command: str,
    tell: Callable[[str], None],
    progress: Progress,
) -> None:
    """Train what the tables say, or take it up where it was stopped.

    Args:
        folder: The run's folder.
        samples: Its samples.
        tables: What `run.toml` shall hold: data, model, objective, training.
        command: The command that does it.
        tell: Takes a sentence for a person to read.
        progress: Shows progress.

    Raises:
        ValueError: A setting can't be used, or the folder holds another run.
    """
    from proponent.training import fit

    training, objective = tables["training"], tables["objective"]
    vae = build_model(tables["model"], objective["likelihood"], samples.values.shape[1:], training["seed"])
    loss = build_objective(objective)
    there = folder.begin(tables, command)
    verb = "Taking up the training of" if there else "Training"
    n, steps = len(samples.values), training["steps"]
    tell(f"{verb} a beta-VAE on {n:,} samples: {steps:,} steps.")
    with progress("training", steps) as advance:
        run = fit(
            vae,
            loss,
            samples.values,
            directory=folder.trajectory,
            progress=lambda step, value: advance(step, f"loss {value:.5g}"),
            **training,
        )
    tell(f"The mean loss went from {run.losses[0]:.5g} to {run.losses[-1]:.5g}.")
