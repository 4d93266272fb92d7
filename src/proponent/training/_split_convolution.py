"""Convolutions whose weight gradient is made beside the backward pass."""

from typing import Any

import torch
from torch import Tensor, nn

from proponent.kernels import Window
from proponent.training._slot import Slot, applied, fuses

# Up to so many weights libraries are slower than the kernel for samples' own gradients.
_FEW = 4096


class SplitConv2d(nn.Conv2d):
    """A convolution whose weight gradient is made beside the backward pass."""

    slot: Slot

    def forward(self, input: Tensor) -> Tensor:
        """As of the convolution."""
        return _convolve(self, input)


class SplitConvTranspose2d(nn.ConvTranspose2d):
    """A transposed convolution whose weight gradient is made beside the backward pass."""

    slot: Slot

    def forward(self, input: Tensor, output_size: list[int] | None = None) -> Tensor:
        """As of the transposed convolution."""
        return super().forward(input, output_size) if output_size else _convolve(self, input)


class _Convolution(torch.autograd.Function):
    @staticmethod
    def forward(
        x: Tensor, weight: Tensor, bias: Tensor | None, slot: Slot, geometry: tuple[Any, ...]
    ) -> Tensor:
        return torch.convolution(x, weight, bias, *geometry)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
        x, weight, _, ctx.slot, ctx.geometry = inputs
        ctx.save_for_backward(x, weight)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        x, weight = ctx.saved_tensors
        slot: Slot = ctx.slot
        sizes = None if slot.bias_name is None else [gradient.shape[1]]

        def derive(*wanted: bool) -> tuple[Any, Any, Any]:
            found: tuple[Any, Any, Any] = torch.ops.aten.convolution_backward(
                gradient, x, weight, sizes, *ctx.geometry, wanted
            )
            return found

        def note() -> None:
            if _correlates(x, weight, ctx.geometry):
                by_weight = _correlation_sum(x, gradient, weight, ctx.geometry)
                by_bias = gradient.sum((0, 2, 3))
            else:
                _, by_weight, by_bias = derive(False, True, slot.bias_name is not None)
            slot.ledger.add(slot.weight_name, by_weight)
            if slot.bias_name is not None:
                slot.ledger.add(slot.bias_name, by_bias)

        below = derive(True, False, False)[0] if ctx.needs_input_grad[0] else None
        slot.ledger.beside(note, gradient, x)
        return below, None, None, None, None


def _correlates(x: Tensor, weight: Tensor, geometry: tuple[Any, ...]) -> bool:
    """Whether the kernel for samples' own gradients serves: few channels, on which libraries are slow."""
    groups = geometry[5]
    return fuses(x) and x.ndim == 4 and groups == 1 and weight.numel() <= _FEW


def _correlation_sum(x: Tensor, gradient: Tensor, weight: Tensor, geometry: tuple[Any, ...]) -> Tensor:
    """The weight's gradient as the sum of the samples' own."""
    from proponent.kernels._correlation import fused_correlation

    stride, padding, dilation, transposed, _, groups = geometry
    window = Window(tuple(weight.shape[2:]), tuple(stride), tuple(padding), tuple(dilation), groups)
    anchor, field = (x, gradient) if transposed else (gradient, x)
    own = fused_correlation(anchor[:, None].detach(), field[:, None].detach(), window)
    return own.sum(0).reshape(weight.shape)


def _convolve(layer: SplitConv2d | SplitConvTranspose2d, input: Tensor) -> Tensor:
    layer.slot.ledger.note_call(layer.slot.weight_name)
    return applied(_Convolution, input, layer.weight, layer.bias, layer.slot, _geometry(layer))


def _geometry(layer: nn.Module) -> tuple[Any, ...]:
    """Stride, padding, dilation, transposed, output padding, groups."""
    transposed = isinstance(layer, nn.ConvTranspose2d)
    return (layer.stride, layer.padding, layer.dilation, transposed, layer.output_padding, layer.groups)
