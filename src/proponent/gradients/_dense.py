"""Gradients held as the numbers they are."""

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from proponent.gradients._block import Block


@dataclass(frozen=True, eq=False)
class Dense(Block):
    """Gradients as a matrix, the parameters of `names` side by side.

    Attributes:
        values: ``[n, p]``.
        sizes: How many numbers each of `names` has; they sum to p.
    """

    values: Float[Tensor, "n p"]
    sizes: tuple[int, ...]

    @property
    def samples(self) -> int:
        """How many samples it holds."""
        return self.values.shape[0]

    @property
    def size(self) -> int:
        """How many numbers one sample's gradient has."""
        return self.values.shape[1]

    def gradients(self) -> tuple[Float[Tensor, "n _"], ...]:
        """The columns of each parameter."""
        return torch.split(self.values, list(self.sizes), 1)

    def select(self, start: int, stop: int) -> "Dense":
        """The samples from `start` to `stop`."""
        return Dense(self.names, self.values[start:stop], self.sizes)


def densify(block: Block) -> Dense:
    """Form the gradients of a block as numbers."""
    if isinstance(block, Dense):
        return block
    parts = block.gradients()
    values = parts[0] if len(parts) == 1 else torch.cat(parts, 1)
    return Dense(block.names, values, tuple(part.shape[1] for part in parts))
