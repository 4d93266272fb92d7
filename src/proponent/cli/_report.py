"""`proponent report`."""

import shlex
from collections.abc import Mapping
from contextlib import closing
from typing import Annotated

import typer

from proponent.cli._console import say, say_where
from proponent.cli._options import Data, Run
from proponent.runs._folder import RunFolder
from proponent.runs._opened import open_run


def report(
    run: Run,
    foreign: Annotated[
        str | None,
        typer.Option(
            help="What says which samples are foreign, where that is known: a .txt, .csv or .parquet file "
            "with their ids, a .npy file of true and false, or the name of a column of the data."
        ),
    ] = None,
    title: Annotated[str | None, typer.Option(help="What was looked at; the data's name without it.")] = None,
    show: Annotated[int, typer.Option(min=1, help="How many of the highest and of the lowest to show.")] = 24,
    neighbours: Annotated[
        int, typer.Option(min=1, help="How many proponents and opponents of each query.")
    ] = 6,
    queries: Annotated[int, typer.Option(min=1, help="How many queries.")] = 12,
    samples: Annotated[int, typer.Option(min=1, help="How many samples the page shows at most.")] = 2000,
    data: Data = None,
) -> None:
    """Write one page that works offline: what the rankings put first, and how the run was made.

    Galleries of the highest and the lowest, a scatter that filters, proponents and opponents of the newest
    queries, how far the rankings go together, decisions so far, facts and limits. The page is `report.html`
    in the run's folder, under 6 MB, and fetches nothing; `report.json` beside it says the same as data.
    Rankings that aren't there yet are computed as far as they are cheap.

    Example: `proponent report runs/photos`
    """
    opened = open_run(run, data)
    from proponent.report import write_report

    path = write_report(
        opened,
        foreign=foreign,
        verdicts=_verdicts(opened.folder),
        title=title,
        show=show,
        neighbours=neighbours,
        queries=queries,
        samples=samples,
        tell=say,
    )
    say_where("page", path)
    say_where("data", path.with_suffix(".json"))
    say(f"Next: proponent review {shlex.quote(str(run))}")


def _verdicts(folder: RunFolder) -> Mapping[str, str] | None:
    """The decisions so far; none where nobody reviewed."""
    if not folder.review.exists():
        return None
    from proponent.review import Decisions

    with closing(Decisions(folder.review)) as decisions:
        return decisions.current()
