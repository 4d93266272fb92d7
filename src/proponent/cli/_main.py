"""The command `proponent` and its commands."""

import sys
from collections.abc import Sequence
from typing import Annotated

import typer

from proponent._version import __version__
from proponent.cli._apply import apply
from proponent.cli._demo import demo
from proponent.cli._density import density
from proponent.cli._errors import ErrorsAsExitCodes
from proponent.cli._influence import influence
from proponent.cli._rank import rank
from proponent.cli._report import report
from proponent.cli._review import review
from proponent.cli._self_influence import self_influence
from proponent.cli._status import status
from proponent.cli._train import train

app = typer.Typer(
    name="proponent",
    cls=ErrorsAsExitCodes,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
)
app.command("train")(train)
app.command("self-influence")(self_influence)
app.command("influence")(influence)
app.command("rank")(rank)
app.command("report")(report)
app.command("review")(review)
app.command("apply")(apply)
app.command("status")(status)
app.command("demo")(demo)
app.command("density")(density)


def _print_version(wanted: bool) -> bool:
    if wanted:
        typer.echo(f"proponent {__version__}")
        raise typer.Exit
    return wanted


@app.callback()
def _proponent(
    version: Annotated[
        bool,
        typer.Option("--version", help="Print the version and stop.", is_eager=True, callback=_print_version),
    ] = False,
    traceback: Annotated[
        bool, typer.Option("--traceback", help="Show where in the code an error arose.")
    ] = False,
) -> None:
    """Which training samples made a generative model what it is, without labels."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line.

    Args:
        argv: The arguments after `proponent`; those of the process without it.

    Returns:
        The exit code: 0 when all went well, 2 for arguments or data that can't be used, 1 for a
        computation that failed, 130 when it was stopped by the keyboard.
    """
    try:
        app(args=list(sys.argv[1:] if argv is None else argv), prog_name="proponent")
    except SystemExit as stop:
        return stop.code if isinstance(stop.code, int) else int(stop.code is not None)
    return 0
