"""`proponent train`."""

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from proponent.cli._console import say, say_where
from proponent.cli._progress import progress
from proponent.runs._folder import RunFolder
from proponent.runs._samples import read_samples
from proponent.runs._settings import (
    Likelihood,
    Model,
    Optimizer,
    Precision,
    default_device,
)
from proponent.runs._training import train_run


def train(
    data: Annotated[
        Path, typer.Argument(metavar="DATA", help="A `.npy` or `.npz` file, samples along the first axis.")
    ],
    out: Annotated[Path, typer.Option("--out", "-o", help="The run's folder.")],
    array: Annotated[str | None, typer.Option(help="Which array of a `.npz` file.")] = None,
    channels_last: Annotated[
        bool, typer.Option("--channels-last", help="Images lie as [n, height, width, channels].")
    ] = False,
    model: Annotated[
        Model, typer.Option(help="A multilayer perceptron, or convolutions for images.")
    ] = Model.MLP,
    latent_dim: Annotated[int, typer.Option(min=1, help="Latent dimensions.")] = 16,
    beta: Annotated[float, typer.Option(help="The weight of the divergence; 1 is the ELBO itself.")] = 1.0,
    likelihood: Annotated[
        Likelihood, typer.Option(help="Of the data; `bernoulli` and `squared-error` want them in 0 to 1.")
    ] = Likelihood.BERNOULLI,
    scale: Annotated[float, typer.Option(help="The standard deviation of `gaussian`.")] = 1.0,
    steps: Annotated[int, typer.Option(min=1, help="Training steps.")] = 20_000,
    checkpoints: Annotated[
        int | None,
        typer.Option(min=1, help="How many to keep, evenly spaced; 30 without it, or one a step."),
    ] = None,
    optimizer: Annotated[Optimizer, typer.Option(help="How parameters are changed.")] = Optimizer.ADAM,
    learning_rate: Annotated[float, typer.Option(help="The rate of every step.")] = 1e-3,
    batch_size: Annotated[int, typer.Option(min=1, help="Samples a step sees.")] = 64,
    draws: Annotated[int, typer.Option(min=1, help="Draws of noise a step averages over.")] = 1,
    seed: Annotated[int, typer.Option(help="First parameters, batches and noise follow from it.")] = 0,
    precision: Annotated[Precision, typer.Option(help="Of the arithmetic.")] = Precision.FLOAT32,
    device: Annotated[
        str | None, typer.Option(help="Such as `cpu` or `cuda`; a GPU if there is one.")
    ] = None,
) -> None:
    """Train a beta-VAE on an array file and keep its trajectory.

    The run's folder gets `run.toml`, which says how to make the run again, and `trajectory/`. The same
    command takes up a training that was stopped, at its last checkpoint; a finished one is left as it is.

    Example: `proponent train digits.npy --out runs/digits --steps 5000`
    """
    folder = RunFolder(out)
    samples = read_samples(data, array, model is Model.CONV, channels_last)
    for note in samples.notes:
        say(note)
    tables = {
        "data": samples.table | {"channels_last": channels_last},
        "model": {"name": str(model), "latent_dim": latent_dim},
        "objective": {"beta": beta, "likelihood": str(likelihood), "scale": scale},
        "training": {
            "steps": steps,
            "checkpoints": min(30, steps) if checkpoints is None else checkpoints,
            "optimizer": str(optimizer),
            "learning_rate": learning_rate,
            "batch_size": batch_size,
            "draws": draws,
            "seed": seed,
            "precision": str(precision),
            "device": default_device(device),
        },
    }
    train_run(folder, samples, tables, _command(data, out, tables), say, progress)
    say_where("run", folder.record)
    say_where("trajectory", folder.trajectory)
    say(f"Next: proponent self-influence {shlex.quote(str(out))}")


def _command(data: Path, out: Path, tables: Mapping[str, Mapping[str, Any]]) -> str:
    """The command with every option spelt out, so that it means the same when a default changes."""
    words = ["proponent", "train", str(data), "--out", str(out), "--model", tables["model"]["name"]]
    options = {
        "array": tables["data"]["array"],
        "latent_dim": tables["model"]["latent_dim"],
        **tables["objective"],
        **tables["training"],
    }
    for name, value in options.items():
        if value is not None:
            words += [f"--{name.replace('_', '-')}", str(value)]
    if tables["data"]["channels_last"]:
        words.append("--channels-last")
    return shlex.join(words)
