"""Watching a job from outside: how many of its tasks are finished."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from proponent.runs._telling import Progress

_EVERY = 0.5  # seconds


@contextmanager
def watched(
    directory: Path, what: str, tasks: int, progress: Progress, tick: Callable[[], None]
) -> Iterator[None]:
    """Show how many tasks of a job are finished, while the job is worked on inside.

    Args:
        directory: The job's folder.
        what: What its tasks are called.
        tasks: How many there are.
        progress: Shows progress.
        tick: Called each time that it is looked at.
    """
    ended = threading.Event()
    with progress(what, tasks) as advance:

        def look() -> None:
            while not ended.wait(_EVERY):
                advance(_finished(directory), "")
                tick()

        watcher = threading.Thread(target=look, daemon=True)
        watcher.start()
        try:
            yield
        finally:
            ended.set()
            watcher.join()
        advance(_finished(directory), "")


def _finished(directory: Path) -> int:
    return sum(1 for _ in directory.glob("tasks/*.npz"))
