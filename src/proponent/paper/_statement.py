"""A statement of the paper beside what was measured."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class Statement:
    """A statement of the paper, and whether the figures bear it out.

    Attributes:
        name: What it is called here.
        method: The estimator it is about.
        where: Where the paper says so.
        text: What the paper says, in short.
        holds: Whether that is so in these figures.
        measured: What was found, in words.
        numbers: What was found, in numbers.
        instead: What is true where the paper's text or formula is wrong; empty where it is right.
        holds_instead: Whether that is so in these figures.
    """

    name: str
    method: str
    where: str
    text: str
    holds: bool
    measured: str
    numbers: Mapping[str, float | int]
    instead: str = ""
    holds_instead: bool = False

    @property
    def outcome(self) -> str:
        """``holds``, ``changed`` where what is true instead holds, or ``does not hold``."""
        if self.holds:
            return "holds"
        return "changed" if self.instead and self.holds_instead else "does not hold"

    def to_dict(self) -> dict[str, Any]:
        """Everything, fit for JSON."""
        return asdict(self) | {"outcome": self.outcome}
