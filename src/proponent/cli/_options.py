"""Options that commands share."""

from pathlib import Path
from typing import Annotated

import typer

from proponent.runs._settings import Metric, Precision, Weights

Run = Annotated[Path, typer.Argument(metavar="RUN", help="A run's folder, made by `proponent train`.")]
Data = Annotated[Path | None, typer.Option(help="Where the run's data lie now, if they were moved.")]
Draws = Annotated[int, typer.Option(min=1, help="Draws of noise that make one mean gradient.")]
Seed = Annotated[int, typer.Option(help="The seed of the draws.")]
Checkpoints = Annotated[
    list[int] | None,
    typer.Option("--checkpoint", help="Only this one of the trajectory, from 0; may be given several times."),
]
PrecisionOption = Annotated[Precision, typer.Option("--precision", help="Of the arithmetic.")]
WeightsOption = Annotated[
    Weights, typer.Option("--weights", help="Of the checkpoints: as trained, or 1 each (Definition 2).")
]
MetricOption = Annotated[
    Metric, typer.Option("--metric", help="In which gradients are compared; the optimiser's unless given.")
]
Layers = Annotated[
    list[str] | None,
    typer.Option("--layer", help="Only this module or parameter, by name; may be given several times."),
]
MemoryBudget = Annotated[
    str | None,
    typer.Option(help="What the work may take, such as `2GiB`; a share of what is free unless given."),
]
StandardErrors = Annotated[
    bool, typer.Option("--standard-errors", help="Estimate how far the draws may have moved each score.")
]
Device = Annotated[str | None, typer.Option(help="Such as `cpu` or `cuda`; a GPU if there is one.")]

Size = Annotated[
    int | None,
    typer.Option(
        min=1,
        help="The side in pixels that pictures are brought to; without it their own where all have one of at "
        "most 64, else 32.",
    ),
]
Column = Annotated[
    list[str] | None,
    typer.Option("--column", help="Which column of a table; may be given several times."),
]
ArrayName = Annotated[str | None, typer.Option("--array", help="Which array of a `.npz` file.")]
Grey = Annotated[
    bool | None,
    typer.Option(
        "--grey/--colour", help="Take pictures as grey, or as colour; grey where all are, without it."
    ),
]
