"""A bar for work that takes longer than two seconds."""

from typing import Any

from tqdm import tqdm

_SECONDS_BEFORE_IT_SHOWS = 2


def progress_bar(total: int, unit: str, show: bool, initial: int = 0, stays: bool = False) -> "tqdm[Any]":
    """Open a bar that shows after two seconds, and not where standard error is no terminal.

    Args:
        total: How much there is to do.
        unit: What is counted.
        show: Whether to show it at all.
        initial: How much is done already.
        stays: Whether the bar is left there when all is done.
    """
    return tqdm(
        total=total,
        initial=initial,
        unit=unit,
        delay=_SECONDS_BEFORE_IT_SHOWS,
        leave=stays,
        disable=None if show else True,  # none: where standard error is no terminal
    )
