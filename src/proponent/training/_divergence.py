"""Trainings that leave the numbers: found out, and stopped with what one needs to know."""

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor

from proponent.training._checkpoint import Checkpoint
from proponent.training._source import TensorFile


class DivergedError(RuntimeError):
    """A loss or a parameter turned NaN or infinite.

    Attributes:
        step: The step, counted from 1, whose loss it was, or after which the parameter was found.
        learning_rate: The rate of that training.
        checkpoint: The last good checkpoint, or none.
    """

    def __init__(self, what: str, step: int, learning_rate: float, checkpoint: Checkpoint | None) -> None:
        super().__init__(
            f"{what} with learning rate {learning_rate:g}. {_last_good(checkpoint)} Lower `learning_rate`, "
            "or look for extreme values among the samples."
        )
        self.step, self.learning_rate, self.checkpoint = step, learning_rate, checkpoint


def check_losses(losses: Tensor, end: int, rates: Sequence[float], last: Sequence[Checkpoint | None]) -> None:
    """Refuse losses ``[k, members]`` of the k steps up to `end` that are not finite.

    Raises:
        DivergedError: Names the first such step.
    """
    bad = (~torch.isfinite(losses)).nonzero()
    if len(bad):
        row, member = bad[0].tolist()
        step, value = end - len(losses) + row + 1, float(losses[row, member])
        what = f"The loss{_whose(member, rates)} became {value} at step {step} (looked at after step {end})"
        raise DivergedError(what, step, rates[member], last[member])


def check_parameters(
    members: Sequence[Mapping[str, Tensor]],
    step: int,
    rates: Sequence[float],
    last: Sequence[Checkpoint | None],
) -> None:
    """Refuse to keep parameters that are not finite.

    Raises:
        DivergedError: Names the first of them.
    """
    for member, tensors in enumerate(members):
        for name, tensor in tensors.items():
            if not bool(torch.isfinite(tensor).all()):
                what = f"The parameters {name}{_whose(member, rates)} are not finite after step {step}"
                raise DivergedError(what, step, rates[member], last[member])


def _whose(member: int, rates: Sequence[float]) -> str:
    return f" of member {member}" if len(rates) > 1 else ""


def _last_good(checkpoint: Checkpoint | None) -> str:
    if checkpoint is None:
        return "No checkpoint had been made before."
    source = checkpoint.tensors
    place = f", `{source.path}`" if isinstance(source, TensorFile) else ""
    return f"The last good checkpoint is that of step {checkpoint.step}{place}."
