"""What is recorded of an optimiser: the name and the constants on which its step depends."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

NAMES = ("sgd", "adam", "unknown")


@dataclass(frozen=True)
class Optimizer:
    """An optimiser's name and constants.

    >>> Optimizer("sgd").describe()
    {'name': 'sgd', 'momentum': 0.0}

    Attributes:
        name: ``"sgd"``, ``"adam"``, or ``"unknown"`` for checkpoints that somebody else has trained.
        momentum: Of SGD; each gradient is then felt 1 / (1 - momentum) times.
        betas: Adam's decay of the first and the second moment.
        eps: What Adam adds to the root of the second moment.
    """

    name: str = "unknown"
    momentum: float = 0.0
    betas: tuple[float, float] = (0.9, 0.999)
    eps: float = 1e-8

    def __post_init__(self) -> None:
        if self.name not in NAMES:
            raise ValueError(f"`optimizer` must be one of {', '.join(NAMES)}, got {self.name!r}.")
        if not 0 <= self.momentum < 1:
            raise ValueError(f"`momentum` must lie in [0, 1), got {self.momentum}.")
        if not all(0 <= beta < 1 for beta in self.betas):
            raise ValueError(f"`betas` must both lie in [0, 1), got {self.betas}.")
        if not self.eps > 0:
            raise ValueError(f"`eps` must be positive, got {self.eps}.")

    def describe(self) -> dict[str, Any]:
        """The name and the constants that matter under it, fit for JSON."""
        if self.name == "sgd":
            return {"name": "sgd", "momentum": self.momentum}
        if self.name == "adam":
            return {"name": "adam", "betas": list(self.betas), "eps": self.eps}
        return {"name": self.name}

    @classmethod
    def from_description(cls, record: Mapping[str, Any]) -> "Optimizer":
        """Take up what `describe` gave."""
        first, second = record.get("betas", (0.9, 0.999))
        return cls(record["name"], record.get("momentum", 0.0), (first, second), record.get("eps", 1e-8))


def as_optimizer(optimizer: "str | Optimizer") -> Optimizer:
    """Take a record, or make one of a name with the usual constants."""
    return optimizer if isinstance(optimizer, Optimizer) else Optimizer(optimizer)
