"""The gradients of n samples with respect to all tracked parameters."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from proponent.gradients._block import Block
from proponent.gradients._dense import Dense, densify
from proponent.precision import products


@dataclass(frozen=True, eq=False)
class Gradients:
    """Per-sample gradients, in blocks that together hold every tracked parameter once.

    Parameters that no loss of the batch depends on are in no block: their gradients are zero.

    Attributes:
        blocks: The blocks.
        losses: ``[n]``, the loss of each sample.
        sizes: How many numbers each tracked parameter has, in the model's order.
        precision: The arithmetic in which they were computed, and in which their products are.
    """

    blocks: tuple[Block, ...]
    losses: Float[Tensor, " n"]
    sizes: Mapping[str, int]
    precision: str = "float32"

    def __len__(self) -> int:
        return self.losses.shape[0]

    def materialise(self) -> Float[Tensor, "n p"]:
        """Form the gradients as numbers, parameter by parameter in the model's order."""
        parts = self.by_parameter()
        zero = torch.zeros((), device=self.losses.device, dtype=self.losses.dtype)
        return torch.cat(
            [
                parts[name] if name in parts else zero.expand(len(self), size)
                for name, size in self.sizes.items()
            ],
            dim=1,
        )

    def by_parameter(self) -> dict[str, Float[Tensor, "n _"]]:
        """Form the gradients of each parameter that the losses depend on."""
        with products(self.precision):
            return {
                name: gradient
                for block in self.blocks
                for name, gradient in zip(block.names, block.gradients(), strict=True)
            }

    def select(self, start: int, stop: int) -> "Gradients":
        """The samples from `start` to `stop`, without a copy."""
        blocks = tuple(block.select(start, stop) for block in self.blocks)
        return Gradients(blocks, self.losses[start:stop], self.sizes, self.precision)

    def densify(self, metric: Mapping[str, Tensor] | None = None) -> "Gradients":
        """Form every block as numbers, each multiplied by its parameter's share of a diagonal metric.

        Args:
            metric: A factor for each number of each parameter, or none for the identity.
        """
        with products(self.precision):
            blocks = tuple(_scaled(densify(block), metric) for block in self.blocks)
        return Gradients(blocks, self.losses, self.sizes, self.precision)


def _scaled(block: Dense, metric: Mapping[str, Tensor] | None) -> Dense:
    if metric is None:
        return block
    factors = torch.cat([metric[name].flatten() for name in block.names])
    return Dense(block.names, block.values * factors.to(block.values), block.sizes)


def matched(a: Gradients, b: Gradients) -> Sequence[tuple[Block, Block]]:
    """Pair the blocks of two sets of gradients; a block that only one has meets zeros and is left out."""
    others = {block.names: block for block in b.blocks}
    if all(block.names in others for block in a.blocks) and len(a.blocks) == len(others):
        return [(block, others[block.names]) for block in a.blocks]
    return _matched_by_parameter(a, b)


def _matched_by_parameter(a: Gradients, b: Gradients) -> Sequence[tuple[Block, Block]]:
    """Pair parameter by parameter where the blocks were cut in different ways."""
    left, right = a.by_parameter(), b.by_parameter()
    return [
        (
            Dense((name,), left[name], (left[name].shape[1],)),
            Dense((name,), right[name], (right[name].shape[1],)),
        )
        for name in left
        if name in right
    ]
