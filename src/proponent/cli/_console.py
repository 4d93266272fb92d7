"""Where the commands print."""

from pathlib import Path

from rich.console import Console


def output() -> Console:
    """What was asked for."""
    return Console(highlight=False)


def errors() -> Console:
    """Messages and progress, kept apart from what was asked for."""
    return Console(stderr=True, highlight=False)


def is_watched() -> bool:
    """Whether messages go to a terminal, where a bar can be drawn."""
    return errors().is_terminal


def say(text: str, end: str = "\n") -> None:
    """Print a line as it is; a path in it is never broken."""
    output().print(text, markup=False, soft_wrap=True, end=end)


def say_where(what: str, path: Path) -> None:
    """Print where something lies."""
    say(f"{what:<16} {path}")
