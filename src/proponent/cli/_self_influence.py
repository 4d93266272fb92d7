"""`proponent self-influence`."""

from typing import TYPE_CHECKING, Annotated

import typer

from proponent.cli._console import is_watched, output, say, say_where
from proponent.cli._options import (
    Checkpoints,
    Data,
    Device,
    Draws,
    Layers,
    MemoryBudget,
    MetricOption,
    PrecisionOption,
    Run,
    Seed,
    StandardErrors,
    WeightsOption,
)
from proponent.runs._opened import open_run
from proponent.runs._scoring import Scoring
from proponent.runs._settings import Metric, Precision, Weights

if TYPE_CHECKING:
    from proponent.scores import Scores


def self_influence(
    run: Run,
    draws: Draws = 16,
    seed: Seed = 0,
    top: Annotated[int, typer.Option(min=0, help="How many of the highest to print.")] = 10,
    biased: Annotated[
        bool, typer.Option("--biased", help="Square one gradient from all draws, as published runs did.")
    ] = False,
    standard_errors: StandardErrors = False,
    checkpoint: Checkpoints = None,
    weights: WeightsOption = Weights.PHYSICAL,
    metric: MetricOption = Metric.TRAINED,
    layer: Layers = None,
    precision: PrecisionOption = Precision.FLOAT32,
    memory_budget: MemoryBudget = None,
    data: Data = None,
    device: Device = None,
) -> None:
    """Rank the training samples by their influence on themselves.

    High: training on the sample lowered its own loss most; the model leans on it. Rare, odd and foreign
    samples stand there, though sorting by loss often finds foreign ones better. The scores go to
    `scores/self-influence.parquet` in the run's folder. A job that was stopped goes on where it was.

    Example: `proponent self-influence runs/digits --draws 64`
    """
    opened = open_run(run, data)
    scoring = Scoring(draws, seed, precision, weights, metric, checkpoint, layer)
    tracin = scoring.method(opened, memory_budget, device)
    scores = tracin.self_influence(
        opened.samples,
        biased=biased,
        standard_errors=standard_errors,
        directory=scoring.job(opened, "self-influence", errors=standard_errors, biased=biased),
        progress=is_watched(),
    )
    path = scores.save(opened.folder.scores / "self-influence.parquet")
    if top:
        _print_highest(scores, min(top, len(scores)))
    say(f"{scores!r}.")
    say_where("scores", path)


def _print_highest(scores: "Scores", top: int) -> None:
    from rich.table import Table

    from proponent.report import plain

    frame = scores.to_pandas().nlargest(top, "score", keep="first")
    table = Table(title=f"The {top} with the highest self-influence", title_justify="left", box=None)
    for name in ("rank", "sample", f"self-influence ({scores.unit})"):
        table.add_column(name, justify="right")
    if "standard_error" in frame:
        table.add_column("± standard error", justify="right")
    for rank, row in enumerate(frame.itertuples(index=False), 1):
        cells = [str(rank), str(row.id), plain(float(row.score))]  # type: ignore[arg-type]
        if "standard_error" in frame:
            cells.append(plain(float(row.standard_error)))  # type: ignore[arg-type]
        table.add_row(*cells)
    output().print(table)
