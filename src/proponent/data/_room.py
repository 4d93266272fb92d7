"""How much memory an input may take that has to be read whole."""

import os

from proponent.memory import in_words

_SHARE = 1 / 2
_ELSEWHERE = 8 << 30  # what to take for the memory of a machine that doesn't say


def check_room(size: int, what: str, advice: str) -> None:
    """Refuse what would take more than half of the machine's memory.

    Args:
        size: Bytes.
        what: What has that size, as a message begins.
        advice: What to do instead.

    Raises:
        ValueError: It is too large.
    """
    most = int(_memory() * _SHARE)
    if size > most:
        raise ValueError(
            f"{what} has {in_words(size)} or more, over the {in_words(most)} that may be read at once. "
            f"{advice}"
        )


def _memory() -> int:
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return _ELSEWHERE
