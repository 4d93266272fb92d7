r"""Gradients held as sums of outer products, the currency of the core.

The gradient of a linear map's weight is $G_i = \sum_t l_{it} r_{it}^\top$, where t runs over draws and
positions, $l_{it}$ is the gradient at an output and $r_{it}$ the input that made it.
"""

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from proponent.gradients._block import Block


@dataclass(frozen=True, eq=False)
class OuterProducts(Block):
    r"""Gradients $G_i = \sum_t l_{it} [r_{it}, 1]^\top$, the 1 where there is a bias.

    >>> left, right = torch.ones(1, 1, 2), torch.tensor([[[2.0, 3.0]]])
    >>> weight, bias = OuterProducts(("weight", "bias"), left, right).gradients()
    >>> weight, bias
    (tensor([[2., 3., 2., 3.]]), tensor([[1., 1.]]))

    Attributes:
        names: The weight ``[o, i]``, and the bias ``[o]`` where there is one.
        left: ``[n, t, o]``, the gradients at the outputs.
        right: ``[n, t, i]``, the inputs.
    """

    left: Float[Tensor, "n t o"]
    right: Float[Tensor, "n t i"]

    @property
    def samples(self) -> int:
        """How many samples it holds."""
        return self.left.shape[0]

    @property
    def terms(self) -> int:
        """How many outer products one sample's gradient sums, t."""
        return self.left.shape[1]

    @property
    def has_bias(self) -> bool:
        """Whether the block holds a bias beside the weight."""
        return len(self.names) == 2

    @property
    def size(self) -> int:
        """How many numbers one sample's gradient has."""
        return self.left.shape[2] * (self.right.shape[2] + self.has_bias)

    def gradients(self) -> tuple[Float[Tensor, "n _"], ...]:
        """The weight's gradients, and the bias's where there is one."""
        G = torch.bmm(self.left.mT, self.right).flatten(1)
        return (G, self.left.sum(1)) if self.has_bias else (G,)

    def select(self, start: int, stop: int) -> "OuterProducts":
        """The samples from `start` to `stop`."""
        return OuterProducts(self.names, self.left[start:stop], self.right[start:stop])
