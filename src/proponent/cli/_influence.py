"""`proponent influence`."""

from pathlib import Path
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
from proponent.runs._opened import OpenedRun, open_run
from proponent.runs._samples import read_samples
from proponent.runs._scoring import Scoring
from proponent.runs._settings import Metric, Model, Precision, Weights

if TYPE_CHECKING:
    from proponent.scores import Scores
    from proponent.top_scores import TopScores

_SHOWN_QUERIES, _SHOWN_SAMPLES = 8, 3


def influence(
    run: Run,
    queries: Annotated[Path, typer.Option(help="A `.npy` or `.npz` file of what is asked about.")],
    array: Annotated[str | None, typer.Option(help="Which array of a `.npz` file of queries.")] = None,
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
    `scores/influence.npy` in the run's folder, [samples, queries]; with `--top K` only the strongest of
    each query, to `scores/influence-top.parquet`. A job that was stopped goes on where it was.

    Example: `proponent influence runs/digits --queries odd.npy --top 10`
    """
    from proponent.data import as_batch, fingerprint

    opened = open_run(run, data)
    asked_about = _read_queries(opened, queries, array)
    scoring = Scoring(draws, seed, precision, weights, metric, checkpoint, layer)
    tracin = scoring.method(opened, memory_budget, device)
    queried = fingerprint(as_batch(asked_about))
    directory = scoring.job(opened, "influence", errors=standard_errors, top=top, queries=queried)
    if top is not None:
        strongest = tracin.influence(
            opened.samples,
            asked_about,
            top=top,
            standard_errors=standard_errors,
            directory=directory,
            progress=is_watched(),
        )
        path = strongest.save(opened.folder.scores / "influence-top.parquet")
        _print_strongest(strongest, top)
        say(f"{strongest!r}.")
    else:
        scores = tracin.influence(
            opened.samples,
            asked_about,
            standard_errors=standard_errors,
            directory=directory,
            progress=is_watched(),
        )
        path = scores.save(opened.folder.scores / "influence.npy")
        _print_strongest(scores, len(scores))
        say(f"{scores!r}.")
    say_where("scores", path)


def _read_queries(opened: OpenedRun, path: Path, array: str | None) -> "object":
    table = opened.tables["data"]
    conv = opened.tables["model"]["name"] == Model.CONV
    read = read_samples(path, array, conv, table.get("channels_last", False), "queries")
    for note in read.notes:
        say(note)
    queries = read.values
    if queries.shape[1:] != opened.samples.shape[1:]:
        raise ValueError(
            f"`queries` must have the shape of the samples, {opened.samples.shape[1:]} each, "
            f"got {queries.shape[1:]}. A single query still needs an axis of its own, of size 1."
        )
    return queries


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
                f"{id_} ({signed(value)})"
                for id_, value in zip(side.ids[i].tolist(), side.values[i].tolist(), strict=True)
            )
            for side in (proponents, opponents)
        ]
        table.add_row(str(query), *sides)
    output().print(table)
    more = len(proponents.query_ids) - _SHOWN_QUERIES
    if more > 0:
        say(f"… and {more:,} more quer{'ies' if more > 1 else 'y'} in the file.")
