"""What a rule says of one call of a torch function."""

from collections.abc import Callable
from dataclasses import dataclass

from torch import Tensor

from proponent.gradients._block import Block

WeightBlock = Callable[[tuple[str, ...], Tensor, Tensor], Block]
BiasGradient = Callable[[Tensor], Tensor]


@dataclass(frozen=True)
class Use:
    """How a call uses parameters, and what the gradient at its output makes of them.

    Attributes:
        input: What the call was applied to; its samples lie where the output's do.
        weight: The argument that has a rule, or none.
        bias: The argument that is added to the output, or none.
        leading: How many of the output's first axes may hold the samples.
        weight_block: From names, the input and the output's gradient, both with the samples split off as
            ``[n, m, ...]``, the block of the weight; of weight and bias where two names are given.
        bias_gradient: From the output's gradient, ``[n, m, ...]``, the bias's, ``[n, size]``.
        joins_bias: Whether `weight_block` takes two names.
        refusal: Why no sample has a gradient of its own here, or none.
    """

    input: Tensor
    weight: Tensor | None
    bias: Tensor | None
    leading: int
    weight_block: WeightBlock
    bias_gradient: BiasGradient
    joins_bias: bool = False
    refusal: str | None = None
