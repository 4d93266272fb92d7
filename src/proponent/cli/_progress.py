"""Progress of a command: a bar on a terminal, a line now and then elsewhere."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from proponent.cli._console import errors

# (how much is done, what to say beside it)
Advance = Callable[[int, str], None]

_PATIENCE = 2.0  # seconds; what is over sooner needs no bar
_LINE_EVERY = 10.0  # seconds, where there is no terminal


@contextmanager
def progress(what: str, total: int) -> Iterator[Advance]:
    """Give a function that is told how much is done.

    Args:
        what: The work's name.
        total: How much there is to do.
    """
    console = errors()
    if console.is_terminal:
        yield from _bar(what, total)
    else:
        yield from _lines(what, total)


def _bar(what: str, total: int) -> Iterator[Advance]:
    began = time.monotonic()
    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.completed:,} of {task.total:,}"),
        TextColumn("{task.fields[note]}"),
        TimeRemainingColumn(),
        console=errors(),
    )
    task = bar.add_task(what, total=total, note="")

    def advance(done: int, note: str = "") -> None:
        bar.update(task, completed=done, note=note)
        if not bar.live.is_started and time.monotonic() - began > _PATIENCE:
            bar.start()

    try:
        yield advance
    finally:
        bar.stop()


def _lines(what: str, total: int) -> Iterator[Advance]:
    last = time.monotonic() + _PATIENCE - _LINE_EVERY

    def advance(done: int, note: str = "") -> None:
        nonlocal last
        if time.monotonic() - last > _LINE_EVERY:
            last = time.monotonic()
            errors().print(f"{what}: {done:,} of {total:,} {note}".rstrip(), markup=False, soft_wrap=True)

    yield advance
