"""Where an error is explained at more length than a message allows."""

from typing import Literal

Anchor = Literal[
    "adam",
    "batch-norm",
    "checkpoints",
    "coupled",
    "diverged",
    "dropout",
    "folders",
    "in-place",
    "memory",
    "noise",
    "precisions",
    "ranges",
    "summed",
    "weights",
]


def see(anchor: Anchor) -> str:
    """Point to a place in the page of gotchas.

    >>> see("dropout")
    ' See docs/gotchas.md#dropout.'
    """
    return f" See docs/gotchas.md#{anchor}."
