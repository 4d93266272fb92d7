"""How a stage tells what it does: in sentences, and how much of it is done."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

from proponent.progress import progress_bar

# Takes a sentence for a person to read.
Tell = Callable[[str], object]
# (how much is done, what to say beside it)
Advance = Callable[[int, str], object]
# Given the work's name and how much there is to do, gives a function that is told how much is done.
Progress = Callable[[str, int], AbstractContextManager[Advance]]


def silent(text: str) -> None:
    """Tell nobody."""


@contextmanager
def bars(what: str, total: int) -> Iterator[Advance]:
    """Show a bar on a terminal, where the work takes longer than two seconds.

    Args:
        what: The work's name.
        total: How much there is to do.
    """
    with progress_bar(total, f" {what}", show=True) as bar:

        def advance(done: int, note: str) -> None:
            bar.set_postfix_str(note, refresh=False)
            bar.update(done - bar.n)

        yield advance
