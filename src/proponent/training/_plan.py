"""What a training is to do: steps, checkpoints, batches, optimiser."""

import operator
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from proponent.precision import check_precision
from proponent.training._optimizer import Optimizer

_CHECKPOINTS = 30


@dataclass(frozen=True)
class Plan:
    """What all members of a training share.

    Attributes:
        steps: How many steps.
        checkpoint_steps: After which of them parameters are kept; the last is `steps`.
        batch_size: How many samples a step sees, where there are as many.
        draws: How many draws of noise each loss is averaged over.
        optimizer: The rule.
        precision: In which arithmetic.
        log_every: Over how many steps losses are averaged for the log.
    """

    steps: int
    checkpoint_steps: tuple[int, ...]
    batch_size: int
    draws: int
    optimizer: Optimizer
    precision: str
    log_every: int

    def pauses(self, start: int) -> Iterator[int]:
        """The steps after `start` after which losses are read or parameters kept."""
        logged = range(self.log_every, self.steps + 1, self.log_every)
        yield from sorted(step for step in {*self.checkpoint_steps, *logged, self.steps} if step > start)

    def describe(self) -> dict[str, Any]:
        """The plan, fit for JSON."""
        return {
            "steps": self.steps,
            "checkpoints": list(self.checkpoint_steps),
            "draws": self.draws,
            "precision": self.precision,
            "log_every": self.log_every,
        }


def make_plan(
    steps: int,
    checkpoints: int | Sequence[int] | None,
    batch_size: int,
    draws: int,
    optimizer: Optimizer,
    precision: str,
    log_every: int | None,
) -> Plan:
    """Check the numbers and spread the checkpoints.

    Raises:
        ValueError: A number is out of its range.
    """
    for name, value in {
        "steps": steps,
        "batch_size": batch_size,
        "draws": draws,
        "log_every": log_every,
    }.items():
        if value is not None and value < 1:
            raise ValueError(f"`{name}` must be at least 1, got {value}.")
    check_precision(precision)
    every = max(1, steps // 200) if log_every is None else log_every
    at = _checkpoint_steps(steps, min(_CHECKPOINTS, steps) if checkpoints is None else checkpoints)
    return Plan(steps, at, batch_size, draws, optimizer, precision, every)


def _checkpoint_steps(steps: int, checkpoints: int | Sequence[int]) -> tuple[int, ...]:
    if isinstance(checkpoints, int):
        if not 1 <= checkpoints <= steps:
            raise ValueError(f"`checkpoints` must be between 1 and the {steps} steps, got {checkpoints}.")
        return tuple(steps * (i + 1) // checkpoints for i in range(checkpoints))
    at = tuple(operator.index(step) for step in checkpoints)
    if not at or list(at) != sorted(set(at)) or at[0] < 0 or at[-1] != steps:
        raise ValueError(
            f"`checkpoints` must be a number, or steps that increase and end with the last, {steps}, "
            f"got {list(at)}."
        )
    return at
