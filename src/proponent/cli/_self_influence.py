"""`proponent self-influence`."""

import shlex
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape

from proponent.cli._console import output, say, say_where
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
from proponent.cli._progress import progress
from proponent.cli._rankings import print_correlations, print_disagreement
from proponent.runs import _rank, _self_influence
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
    """Rank the training samples by their influence on themselves, beside cheaper rankings.

    High: training on the sample lowered its own loss most; the model leans on it. Rare, odd and foreign
    samples stand there, though sorting by loss often finds foreign ones better: so the cheap rankings are
    computed too, with how far they go together. The scores go to `scores/self-influence.parquet` in the run's
    folder, all rankings to `scores/rankings.parquet`. A job that was stopped goes on where it was.

    Example: `proponent self-influence runs/photos --draws 64`
    """
    opened = open_run(run, data)
    scores = _self_influence.self_influence(
        opened,
        Scoring(draws, seed, precision, weights, metric, checkpoint, layer),
        biased=biased,
        standard_errors=standard_errors,
        memory_budget=memory_budget,
        device=device,
        progress=progress,
    )
    if top:
        _print_highest(scores, min(top, len(scores)))
    say(f"{scores!r}.")
    rankings = _rank.rank(opened, pairs=None, device=device, progress=progress)
    if top:
        print_disagreement(rankings, "self-influence", "loss", min(top, len(scores)))
        print_correlations(rankings)
    say(rankings.facts["what self-influence adds"])
    say_where("scores", opened.folder.self_influence)
    say_where("rankings", opened.folder.rankings)
    if rankings.default == "loss":
        say(f"Next: proponent rank {shlex.quote(str(run))}")


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
        cells = [str(rank), escape(str(row.id)), plain(float(row.score))]  # type: ignore[arg-type]
        if "standard_error" in frame:
            cells.append(plain(float(row.standard_error)))  # type: ignore[arg-type]
        table.add_row(*cells)
    output().print(table)
