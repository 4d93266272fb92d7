"""`proponent influence`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape

from proponent.cli._console import output, say, say_where
from proponent.cli._options import (
    ArrayName,
    Checkpoints,
    Column,
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
from proponent.runs import _influence
from proponent.runs._opened import open_run
from proponent.runs._scoring import Scoring
from proponent.runs._settings import Metric, Precision, Weights

if TYPE_CHECKING:
    from proponent.scores import Scores
    from proponent.top_scores import TopScores

_SHOWN_QUERIES, _SHOWN_SAMPLES = 8, 3


def influence(
    run: Run,
    queries: Annotated[Path, typer.Option(help="What is asked about: a folder or a file, as for `train`.")],
    name: Annotated[
        str | None, typer.Option(help="What to call the scores; a hash of what was asked without it.")
    ] = None,
    column: Column = None,
    array: ArrayName = None,
    top: Annotated[
        int | None, typer.Option(min=1, help="Keep only so many proponents and opponents of each query.")
    ] = None,
    draws: Draws = 16,
    seed: Seed = 0,
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
    """Score every training sample on some queries: what made the model explain them, and what didn't.

    Positive is a proponent: training on the sample lowered the query's loss. The scores go to
    `scores/influence-NAME.npy` in the run's folder, [samples, queries]; with `--top K` only the strongest of
    each query, to `scores/influence-NAME.parquet`. Those on other queries stay; `scores/influence.json` names
    the newest. A job that was stopped goes on where it was.

    Example: `proponent influence runs/photos --queries odd/ --top 10`
    """
    opened = open_run(run, data)
    scores = _influence.influence(
        opened,
        queries,
        Scoring(draws, seed, precision, weights, metric, checkpoint, layer),
        name=name,
        top=top,
        standard_errors=standard_errors,
        column=column or None,
        array=array,
        memory_budget=memory_budget,
        device=device,
        progress=progress,
    )
    _print_strongest(scores, len(opened.samples) if top is None else top)
    say(f"{scores!r}.")
    path = _influence.influence_path(opened.folder)
    assert path is not None
    say_where("scores", path)


def _print_strongest(scores: "Scores | TopScores", limit: int) -> None:
    """A few queries and the ends of their rankings."""
    from rich.table import Table

    from proponent.report import signed

    shown = min(_SHOWN_SAMPLES, limit)
    proponents, opponents = scores.proponents(shown), scores.opponents(shown)
    assert proponents.query_ids is not None
    table = Table(title=f"The strongest on each query, in {scores.unit}", title_justify="left", box=None)
    table.add_column("query", justify="right")
    table.add_column("proponents: lowered its loss")
    table.add_column("opponents: raised it")
    for i, query in enumerate(proponents.query_ids[:_SHOWN_QUERIES].tolist()):
        sides = [
            ", ".join(
                f"{escape(str(id_))} ({signed(value)})"
                for id_, value in zip(side.ids[i].tolist(), side.values[i].tolist(), strict=True)
            )
            for side in (proponents, opponents)
        ]
        table.add_row(escape(str(query)), *sides)
    output().print(table)
    more = len(proponents.query_ids) - _SHOWN_QUERIES
    if more > 0:
        say(f"… and {more:,} more quer{'ies' if more > 1 else 'y'} in the file.")
