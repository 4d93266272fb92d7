"""Progress with losses on the terminal."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from proponent.progress import progress_bar

# (steps made, mean loss since the last call)
Report = Callable[[int, float], None]


@contextmanager
def reporting(progress: bool | Report, steps: int, start: int) -> Iterator[Report]:
    """Give what is told of progress: a function of the user's, a bar on a terminal, or nothing.

    Args:
        progress: The function, or whether to show a bar. It shows after two seconds, and not where standard
            error is no terminal.
        steps: How many there will be.
        start: How many there are already.
    """
    if not isinstance(progress, bool):
        yield progress
        return
    with progress_bar(steps, "step", progress, start, stays=True) as bar:

        def report(step: int, loss: float) -> None:
            bar.set_postfix(loss=f"{loss:.6g}", refresh=False)
            bar.update(step - bar.n)

        yield report
