"""A checkpoint: the parameters at a step, and how far training had gone since the one before."""

from dataclasses import dataclass

from torch import Tensor

from proponent.training._source import Source


@dataclass(frozen=True, eq=False)
class Checkpoint:
    """Parameters at a step of a training.

    The tensors are read when they are asked for, so a trajectory of any length costs no memory.

    Attributes:
        step: How many steps of training lie behind it.
        tensors: Where its parameters and buffers lie.
        learning_rate: The rate with which the steps up to it were made, where that is known.
        steps: How many steps it stands for, those since the checkpoint before it, where that is known.
        moments: Where the second moments lie, if Adam trained it and they were kept.
    """

    step: int
    tensors: Source
    learning_rate: float | None = None
    steps: int | None = None
    moments: Source | None = None

    def state(self) -> dict[str, Tensor]:
        """Read the parameters and buffers, on the CPU, as `load_state_dict` takes them."""
        return self.tensors.read()

    def second_moments(self) -> dict[str, Tensor] | None:
        """Read Adam's mean of the squared gradient, without bias correction, where that is kept."""
        return None if self.moments is None else self.moments.read()

    def digest(self) -> tuple[str, str | None]:
        """The sha256 of the parameters and of the second moments."""
        return self.tensors.digest(), None if self.moments is None else self.moments.digest()
