"""`proponent density`."""

from collections import Counter
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from proponent.cli._console import output, say, say_where

if TYPE_CHECKING:
    from collections.abc import Sequence

    from proponent.paper import DensityFigures, Statement

_COLOURS = {"holds": "green", "changed": "yellow", "does not hold": "red"}


def density(
    out: Annotated[
        str, typer.Option("--out", "-o", metavar="FOLDER", help="Where to write everything.")
    ] = "density",
    seed: Annotated[int, typer.Option(min=0, help="What the samples come from.")] = 0,
    k: Annotated[int, typer.Option(help="Neighbours of k-NN, from 2 to 99.")] = 10,
    bandwidth: Annotated[
        str,
        typer.Option(metavar="NUMBER|scott|silverman", help="The standard deviation of KDE's kernel."),
    ] = "1",
) -> None:
    """Draw the paper's figures on density estimators, and check its statements on them.

    Six clusters in the plane; which samples raise the likelihood of a query z, and of themselves, under
    k-NN, a kernel density estimator and a spherical mixture, all in closed form. Each statement of the
    paper is printed beside what was measured: it holds, it does not, or it changed, where the paper's text
    is wrong. Figures, scores, data and statements go to the folder. It takes seconds and starts anew each
    time.

    Example: `proponent density --seed 1 --bandwidth 0.5`
    """
    import proponent.report.figures  # noqa: F401 (a missing matplotlib is told before the work)
    from proponent.cli._density_files import write_files
    from proponent.paper import density_figures, density_statements

    folder = _folder(out)
    figures = density_figures(seed, k, _number_or_rule(bandwidth))
    statements = density_statements(figures)
    write_files(folder, figures, statements)
    _print_settings(figures)
    _print_statements(statements)
    for what, where in (
        ("figures", "figures"),
        ("statements", "density.json"),
        ("scores", "scores"),
        ("data", "data"),
    ):
        say_where(what, folder / where)


def _folder(out: str) -> Path:
    """The folder that was named.

    Raises:
        ValueError: None was named.
        NotADirectoryError: There is a file in its place, or in that of a folder around it.
    """
    if not out:
        raise ValueError("`--out` must name a folder, got an empty name. Use `--out .` for the current one.")
    folder = Path(out)
    for path in (folder, *folder.parents):
        if path.exists() and not path.is_dir():
            raise NotADirectoryError(
                f"`--out` must be a folder, but `{path}` is a file. Choose another `--out`."
            )
    return folder


def _number_or_rule(bandwidth: str) -> float | str:
    """What the estimator takes, and judges."""
    try:
        return float(bandwidth)
    except ValueError:
        return bandwidth


def _print_settings(figures: "DensityFigures") -> None:
    x, y = figures.query
    sizes = ", ".join(map(str, figures.clusters.sizes))
    estimators = f"k-NN with k = {figures.k}, KDE with bandwidth {figures.bandwidth:g}"
    say(f"Six clusters of {sizes} samples; z at ({x:g}, {y:g}), near the centre of cluster 0.")
    say(f"{estimators}, spherical mixture in its exact form.")


def _print_statements(statements: "Sequence[Statement]") -> None:
    say("\nWhat the paper says, and what was measured:\n")
    for method, group in groupby(statements, lambda each: each.method):
        output().print(f"[bold]{method}[/]")
        _print_table(list(group))
    counts = Counter(each.outcome for each in statements)
    say(f"{len(statements)} statements: {counts['holds']} hold; {counts['changed']} changed, ", end="")
    say(f"where the text is wrong or too general; {counts['does not hold']} not borne out.\n")


def _print_table(statements: "Sequence[Statement]") -> None:
    """Rows with a blank line below each; columns as wide as those of every other table."""
    from rich.table import Table

    table = Table(box=None, padding=(0, 2, 1, 0), show_header=False, expand=True)
    table.add_column("outcome", width=8)
    table.add_column("statement", ratio=5)
    table.add_column("measured", ratio=6)
    for each in statements:
        instead = f"\n[bold]Instead:[/] {each.instead}" if each.outcome == "changed" else ""
        table.add_row(f"[{_COLOURS[each.outcome]}]{each.outcome}[/]", each.text + instead, each.measured)
    console = output()
    with console.capture() as drawn:
        console.print(table)
    for line in drawn.get().splitlines():
        print(line.rstrip())  # cells are filled up with spaces
