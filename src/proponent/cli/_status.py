"""`proponent status`."""

from typing import Annotated

import typer
from rich.markup import escape

from proponent.cli._console import errors, output, say
from proponent.cli._options import Run
from proponent.runs import _status

_MARKS = {"done": "[green]✓[/]", "part": "[yellow]…[/]", "open": "–"}


def status(
    run: Run,
    json: Annotated[bool, typer.Option("--json", help="Print it as JSON, for programs.")] = False,
) -> None:
    """Say where a run stands: which stages are done, what they took, what to do next.

    Example: `proponent status runs/photos`
    """
    found = _status.status(run)
    if json:
        say(_as_json(found))
        return
    from rich.table import Table

    table = Table(title=str(found.path), title_justify="left", box=None)
    for name, side in (("", "left"), ("stage", "left"), ("", "left"), ("size", "right"), ("time", "right")):
        table.add_column(name, justify=side)  # type: ignore[arg-type]
    for stage in found.stages:
        table.add_row(
            _MARKS[stage.state], stage.name, escape(stage.detail), _size(stage.bytes), _time(stage.seconds)
        )
    output().print(table)
    if found.problem:
        errors().print("[bold yellow]Note:[/] ", end="")
        errors().print(found.problem, markup=False, highlight=False, soft_wrap=True)
    say(f"Next: {found.next}")


def _as_json(found: _status.Status) -> str:
    from dataclasses import asdict
    from json import dumps

    return dumps(asdict(found) | {"path": str(found.path)}, indent=2, ensure_ascii=False)


def _size(count: int) -> str:
    if not count:
        return ""
    size, units = float(count), ["bytes", "KiB", "MiB", "GiB", "TiB"]
    while size >= 1000 and len(units) > 1:
        size, units = size / 1024, units[1:]
    return f"{size:.0f} {units[0]}" if units[0] == "bytes" or size >= 10 else f"{size:.1f} {units[0]}"


def _time(seconds: float | None) -> str:
    if seconds is None:
        return ""
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes:02d} min" if hours else f"{minutes} min {rest:02d} s"
