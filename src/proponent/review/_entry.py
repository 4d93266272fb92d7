"""What a queue gives out: a sample, and why its turn came."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Entry:
    """A sample whose turn it is.

    Attributes:
        i: Its position in the data.
        arm: Whether the ranking and what was learnt brought it, ``"queue"``, or chance, ``"control"``.
    """

    i: int
    arm: Literal["queue", "control"]
