"""What split layers have in common: where a layer's weight lies, and how its products are made."""

from typing import Any

import torch
from torch import Tensor

from proponent.kernels import computes_rounded, rounded_dtype
from proponent.training._ledger import Ledger


class Slot:
    """A layer's weight and bias, where they lie, and where their gradients go.

    Args:
        ledger: It takes the gradients.
        weight: The weight's name.
        bias: The bias's name, or none.
    """

    def __init__(self, ledger: Ledger, weight: str, bias: str | None) -> None:
        self.ledger, self.weight_name, self.bias_name = ledger, weight, bias
        self.weight: Tensor
        self.bias: Tensor | None = None

    def goes_straight(self) -> bool:
        """Whether both may be changed where their gradients are made."""
        return self.ledger.goes_straight(self.weight_name) and (
            self.bias_name is None or self.ledger.goes_straight(self.bias_name)
        )


def fuses(x: Tensor) -> bool:
    """Whether fused kernels make the products: on a GPU, where they may keep ten bits."""
    return x.dtype == torch.float32 and computes_rounded(x) and rounded_dtype(x) == torch.float32


def applied(function: type[torch.autograd.Function], *arguments: Any) -> Tensor:
    """Call an autograd function."""
    output: Tensor = function.apply(*arguments)  # type: ignore[no-untyped-call]
    return output
