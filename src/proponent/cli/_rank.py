"""`proponent rank`."""

import shlex
from typing import Annotated

import typer

from proponent.cli._console import say, say_where
from proponent.cli._options import Data, Device, Run
from proponent.cli._progress import progress
from proponent.cli._rankings import print_correlations, print_first
from proponent.runs import _rank
from proponent.runs._opened import open_run


def rank(
    run: Run,
    pairs: Annotated[
        int, typer.Option(min=0, help="Pairs of models to train on halves of the samples; 0 for none.")
    ] = 2,
    own: Annotated[
        bool, typer.Option("--self-influence/--no-self-influence", help="Whether to compute it, too.")
    ] = True,
    top: Annotated[int, typer.Option(min=0, help="How many of the first to print.")] = 10,
    draws: Annotated[int, typer.Option(min=1, help="Draws of noise that a loss is the mean of.")] = 16,
    seed: Annotated[int, typer.Option(help="The seed of the draws and of the halves.")] = 0,
    data: Data = None,
    device: Device = None,
) -> None:
    """Rank the training samples in every way there is, and name the one to begin with.

    Loss and its parts, losses under models that never saw the sample, distances to neighbours, the norm of
    the gradient, self-influence: they go to `scores/rankings.parquet` in the run's folder, high to be looked
    at first in each. Self-influence is taken as it is there, else computed at a few checkpoints. What was
    stopped goes on where it was.

    Example: `proponent rank runs/photos`
    """
    opened = open_run(run, data)
    rankings = _rank.rank(
        opened, pairs=pairs, own=own, draws=draws, seed=seed, device=device, tell=say, progress=progress
    )
    if top:
        print_first(rankings, min(top, len(rankings)))
        print_correlations(rankings)
    if "self-influence" in rankings.columns:
        say(rankings.facts["what self-influence adds"])
    say(f"Begin with `{rankings.default}`.")
    say_where("rankings", opened.folder.rankings)
    say(f"Next: proponent review {shlex.quote(str(run))}")
