"""The rule for linear maps."""

from torch import Tensor

from proponent.gradients._outer_products import OuterProducts
from proponent.gradients._rules._use import Use


def linear(input: Tensor, weight: Tensor, bias: Tensor | None = None) -> Use:
    """Describe a call of `torch.nn.functional.linear`: one outer product a draw and position."""
    return Use(input, weight, bias, input.ndim - 1, _weight_block, _bias_gradient, joins_bias=True)


def _weight_block(names: tuple[str, ...], input: Tensor, gradient: Tensor) -> OuterProducts:
    return OuterProducts(names, gradient.flatten(1, -2), input.to(gradient.dtype).flatten(1, -2))


def _bias_gradient(gradient: Tensor) -> Tensor:
    return gradient.flatten(1, -2).sum(1)
