"""Linear layers whose weight gradient is made beside the backward pass."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from proponent.training._slot import Slot, applied, fuses


class SplitLinear(nn.Linear):
    """A linear layer whose weight gradient is made beside the backward pass."""

    slot: Slot

    def forward(self, input: Tensor) -> Tensor:
        """As of a linear layer."""
        return self.call(input, rectified=False)

    def call(self, input: Tensor, rectified: bool) -> Tensor:
        """The output, or what is positive in it."""
        self.slot.ledger.note_call(self.slot.weight_name)
        weight, bias = self.operands()
        return applied(_Linear, input, weight, bias, self.slot, rectified)

    def operands(self) -> tuple[Tensor, Tensor | None]:
        """The weight and the bias."""
        return self.weight, self.bias


class JoinedLinear(SplitLinear):
    """A linear layer for the samples of all members in a row, each with its member's weights."""

    def operands(self) -> tuple[Tensor, Tensor | None]:
        """The stacked weights and biases."""
        return self.slot.weight, self.slot.bias


class _Linear(torch.autograd.Function):
    """y = x Wᵀ + b for a weight ``[o, i]``, or for ``[s, o, i]`` with the samples in s equal parts."""

    @staticmethod
    def forward(x: Tensor, weight: Tensor, bias: Tensor | None, slot: Slot, rectified: bool) -> Tensor:
        flat = x.reshape(*weight.shape[:-2], -1, x.shape[-1])
        if fuses(x):
            from proponent.kernels._linear import fused_linear

            y = fused_linear(_stacked(flat, 3), _stacked(weight, 3), _stacked(bias, 2), rectified)
        elif weight.ndim == 3:
            y = _stacked_linear(flat, weight, bias)
            y = y.relu_() if rectified else y
        elif rectified and bias is not None:
            y = torch._addmm_activation(bias, flat, weight.T)
        else:
            y = torch.nn.functional.linear(flat, weight, bias)
            y = y.relu_() if rectified else y
        return y.reshape(*x.shape[:-1], weight.shape[-2])

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
        x, _, _, ctx.slot, rectified = inputs
        ctx.save_for_backward(x, output if rectified else None)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        x, y = ctx.saved_tensors
        slot: Slot = ctx.slot
        weight = slot.weight
        g = gradient.reshape(*weight.shape[:-2], -1, gradient.shape[-1])
        a = x.reshape(*weight.shape[:-2], -1, x.shape[-1])
        if y is not None:
            g = torch.ops.aten.threshold_backward(g, y.reshape(g.shape), 0)
        below = (g @ weight).reshape(x.shape) if ctx.needs_input_grad[0] else None
        slot.ledger.beside(lambda: _move_linear(slot, g, a), g, a)
        return below, None, None, None, None

    @staticmethod
    def vmap(
        info: Any,
        in_dims: tuple[int | None, ...],
        x: Tensor,
        weight: Tensor,
        bias: Tensor | None,
        slot: Slot,
        rectified: bool,
    ) -> tuple[Tensor, int]:
        x = x.expand(info.batch_size, *x.shape) if in_dims[0] is None else x.movedim(in_dims[0], 0)
        return applied(_Linear, x, weight, bias, slot, rectified), 0


def _stacked(tensor: Tensor | None, axes: int) -> Any:
    """With a leading axis of one member where there is none."""
    return tensor[None] if tensor is not None and tensor.ndim < axes else tensor


def _stacked_linear(x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    if bias is None:
        return torch.bmm(x, weight.mT)
    return torch.baddbmm(bias[:, None], x, weight.mT)


def _move_linear(slot: Slot, g: Tensor, a: Tensor) -> None:
    """W ← W − gᵀ a straight away, or note gᵀ a; the bias's gradient, a small one, is always noted."""
    if fuses(a) and slot.goes_straight():
        from proponent.kernels._linear import fused_linear_step

        fused_linear_step(_stacked(g, 3), _stacked(a, 3), _stacked(slot.weight, 3), _stacked(slot.bias, 2))
        return
    if slot.ledger.goes_straight(slot.weight_name):
        move: Callable[..., Tensor] = slot.weight.addmm_ if g.ndim == 2 else slot.weight.baddbmm_
        move(g.mT, a, alpha=-1)
    else:
        slot.ledger.add(slot.weight_name, g.mT @ a)
    if slot.bias_name is not None:
        slot.ledger.add(slot.bias_name, g.sum(-2))
