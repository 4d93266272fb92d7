"""`proponent train`."""

import shlex
from pathlib import Path
from typing import Annotated

import typer

from proponent.cli._console import say, say_where
from proponent.cli._options import ArrayName, Column, Grey, Size
from proponent.cli._progress import progress
from proponent.runs import _training
from proponent.runs._settings import Likelihood, Model, Optimizer, Precision, Settings


def train(
    data: Annotated[
        Path,
        typer.Argument(
            metavar="DATA",
            help="A folder of pictures; or a Parquet, CSV, `.npy`, `.npz` or IDX file, a sample a row.",
        ),
    ],
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="The run's folder; `runs/` and the data's name without it."),
    ] = None,
    size: Size = None,
    column: Column = None,
    array: ArrayName = None,
    grey: Grey = None,
    model: Annotated[
        Model | None,
        typer.Option(
            help="A multilayer perceptron, or convolutions; these where there is a GPU and pictures that fit."
        ),
    ] = None,
    latent_dim: Annotated[int | None, typer.Option(min=1, help="Latent dimensions; 16 without it.")] = None,
    beta: Annotated[
        float | None,
        typer.Option(help="The weight of the divergence; 1, which is the ELBO itself, without it."),
    ] = None,
    likelihood: Annotated[
        Likelihood | None,
        typer.Option(help="Of the data; `bernoulli` for numbers from 0 to 1, else `gaussian`, without it."),
    ] = None,
    scale: Annotated[
        float | None,
        typer.Option(help="The standard deviation of `gaussian`; half that of the data without it."),
    ] = None,
    steps: Annotated[
        int | None,
        typer.Option(min=1, help="Training steps; without it, a hundred passes within a minute or two."),
    ] = None,
    checkpoints: Annotated[
        int | None,
        typer.Option(min=1, help="How many to keep, evenly spaced; 10 without it, 30 on a GPU."),
    ] = None,
    optimizer: Annotated[
        Optimizer | None, typer.Option(help="How parameters are changed; `adam` without it.")
    ] = None,
    learning_rate: Annotated[
        float | None, typer.Option(help="The rate of every step; 0.001 without it.")
    ] = None,
    batch_size: Annotated[int | None, typer.Option(min=1, help="Samples a step sees; 64 without it.")] = None,
    draws: Annotated[
        int | None, typer.Option(min=1, help="Draws of noise a step averages over; 1 without it.")
    ] = None,
    seed: Annotated[
        int | None, typer.Option(help="First parameters, batches and noise follow from it; 0 without it.")
    ] = None,
    precision: Annotated[
        Precision | None, typer.Option(help="Of the arithmetic; `float32` without it.")
    ] = None,
    device: Annotated[
        str | None, typer.Option(help="Such as `cpu` or `cuda`; a GPU if there is one.")
    ] = None,
) -> None:
    """Train a beta-VAE on data of any form and keep its trajectory.

    No option is needed: what isn't given is chosen to suit the data, and `run.toml` in the run's folder says
    what was. What can't be used of the data is named and left aside. The same command takes up a reading or a
    training that was stopped; a finished one is left as it is.

    Example: `proponent train photos/`
    """
    settings = Settings(
        model=model,
        latent_dim=latent_dim,
        beta=beta,
        likelihood=likelihood,
        scale=scale,
        steps=steps,
        checkpoints=checkpoints,
        optimizer=optimizer,
        learning_rate=learning_rate,
        batch_size=batch_size,
        draws=draws,
        seed=seed,
        precision=precision,
        device=device,
    )
    folder = _training.train(
        data,
        out,
        settings,
        size=size,
        column=column or None,
        array=array,
        grey=grey,
        tell=say,
        progress=progress,
    )
    say_where("run", folder.record)
    say_where("trajectory", folder.trajectory)
    say(f"Next: proponent self-influence {shlex.quote(str(folder.path))}")
