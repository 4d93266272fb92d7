"""`proponent review`."""

import shlex
from contextlib import closing
from pathlib import Path
from typing import Annotated

import typer

from proponent.cli._console import say, say_where
from proponent.cli._options import Data
from proponent.cli._progress import progress


def review(
    source: Annotated[
        Path,
        typer.Argument(metavar="RUN", help="A run's folder; or data, and then all steps before come first."),
    ],
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="The folder of a run of data; `runs/` and their name without it."),
    ] = None,
    browser: Annotated[
        bool, typer.Option("--browser/--no-browser", help="Whether to open a browser.")
    ] = True,
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="The port of the page; a free one is found for 0.")
    ] = 0,
    host: Annotated[
        str,
        typer.Option(help="The address to bind to. Beyond this machine, the token alone guards the page."),
    ] = "127.0.0.1",
    data: Data = None,
) -> None:
    """Look at the samples, the most suspect first, and keep or discard each with a key.

    A page on this machine shows one sample at a time, in the order of a ranking that learns from what you
    decide. Every decision is in `review.sqlite` in the run's folder at once: stop by Ctrl-C whenever you
    like, and the same command goes on. Some samples come by chance, so that the page can say what the
    ranking is worth and how many are left to find. Nothing is ever deleted.

    Example: `proponent review photos/`
    """
    from proponent.review import Decisions, items_of, serve
    from proponent.review._from_run import ready_run
    from proponent.review._serve import check_installed

    check_installed()  # before a training, not after it
    run = ready_run(source, out, data, say, progress)
    items, log = items_of(run), run.folder.review
    say(f"{len(items):,} {items.kind} to review. Stop with Ctrl-C; every decision is kept.")
    serve(
        items,
        log,
        host=host,
        port=port,
        open_browser=browser,
        tell=lambda address: say(f"Open {address}"),
    )
    with closing(Decisions(log)) as decisions:
        count = len(decisions.current())
    say(f"{count:,} decision{'s' * (count != 1)} so far.")
    say_where("decisions", log)
    say(f"Next: proponent apply {shlex.quote(str(run.folder.path))} --out clean.parquet")
