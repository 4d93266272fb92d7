"""How long each stage of a run took, over all the times that it was taken up."""

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from proponent.storage import read_json, write_json

_EVERY = 5.0  # seconds; a kill loses no more


def read_seconds(path: Path) -> Mapping[str, float]:
    """Read the seconds by stage; none where nothing was written, or it was damaged."""
    try:
        return {str(name): float(value) for name, value in read_json(path).items()}
    except (FileNotFoundError, ValueError):
        return {}


@contextmanager
def timed(path: Path, stage: str) -> Iterator[Callable[[], None]]:
    """Measure what happens inside, and add it to what the stage took before.

    Args:
        path: Where the seconds are kept.
        stage: The stage.

    Yields:
        A function to be called now and then, so that a kill loses little.
    """
    written = time.monotonic()

    def write() -> None:
        nonlocal written
        now = time.monotonic()
        seconds = dict(read_seconds(path))
        write_json(path, seconds | {stage: round(seconds.get(stage, 0.0) + now - written, 3)})
        written = now

    def tick() -> None:
        if time.monotonic() - written > _EVERY:
            write()

    try:
        yield tick
    finally:
        write()
