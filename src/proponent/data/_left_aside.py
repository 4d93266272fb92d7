"""What can't be used of a data set, each with its reason."""

from dataclasses import dataclass


@dataclass(frozen=True)
class LeftAside:
    """A sample that was left aside.

    Attributes:
        id: Its path below the folder, the key of its row, or its place, such as ``row 17``.
        reason: Why, for a person to read.
    """

    id: str
    reason: str


class UnusableError(Exception):
    """A single sample can't be used; its text is the reason. Whoever reads many of them leaves it aside."""
