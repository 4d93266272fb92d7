"""Layers that keep their weights' gradients out of the backward pass.

Autograd computes both gradients of a layer before it goes on to the layer below. Only that of the input is
needed there; that of the weight can be made meanwhile. And where a step subtracts it right away, it need not
be formed: a matrix product can add to the weight itself, which halves the memory that a large batched model
moves.
"""

import copy
from collections import Counter
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from proponent.kernels import Window, computes_rounded, rounded_dtype
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
        return _applied(_Linear, input, weight, bias, self.slot, rectified)

    def operands(self) -> tuple[Tensor, Tensor | None]:
        """The weight and the bias."""
        return self.weight, self.bias


class JoinedLinear(SplitLinear):
    """A linear layer for the samples of all members in a row, each with its member's weights."""

    def operands(self) -> tuple[Tensor, Tensor | None]:
        """The stacked weights and biases."""
        return self.slot.weight, self.slot.bias


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


class FusedSequential(nn.Sequential):
    """A sequence in which a linear layer and the ReLU after it are one product."""

    def forward(self, input: Any) -> Any:
        """As of the sequence."""
        layers = list(self)
        while layers:
            layer = layers.pop(0)
            if isinstance(layer, SplitLinear) and layers and _is_plain(layers[0], nn.ReLU):
                layers.pop(0)
                input = layer.call(input, rectified=True)
            else:
                input = layer(input)
        return input


def split_layers(model: nn.Module, ledger: Ledger, stacked: bool) -> tuple[nn.Module, list[Slot]]:
    """Make a twin of a model, on the same parameters and buffers, with split layers where they can be.

    Args:
        model: It stays as it is.
        ledger: It takes the gradients.
        stacked: Whether the twin will be called on stacked parameters; convolutions then stay whole.

    Returns:
        The twin, and the slots, into which the caller puts where each weight lies.
    """
    shared = {id(tensor): tensor for tensor in [*model.parameters(), *model.buffers()]}
    twin = copy.deepcopy(model, dict(shared))
    uses = Counter(id(tensor) for _, tensor in model.named_parameters(remove_duplicate=False))
    slots = []
    for name, module in twin.named_modules():
        kind = _split_class(module, stacked)
        if kind is None or not isinstance(module.weight, Tensor) or uses[id(module.weight)] > 1:
            continue
        if not all(tensor.requires_grad and uses[id(tensor)] == 1 for tensor in module.parameters()):
            continue
        prefix = f"{name}." if name else ""
        slot = Slot(ledger, f"{prefix}weight", None if module.bias is None else f"{prefix}bias")
        module.__class__ = kind
        module.slot = slot
        slots.append(slot)
    for module in twin.modules():
        if _is_plain(module, nn.Sequential):
            module.__class__ = FusedSequential
    return twin, slots


def _split_class(module: nn.Module, stacked: bool) -> type[nn.Module] | None:
    if _is_plain(module, nn.Linear):
        return SplitLinear
    if stacked:
        return None
    if _is_plain(module, nn.Conv2d):
        padded_within = module.padding_mode == "zeros" and not isinstance(module.padding, str)
        return SplitConv2d if padded_within else None
    return SplitConvTranspose2d if _is_plain(module, nn.ConvTranspose2d) else None


def _is_plain(module: nn.Module, kind: type[nn.Module]) -> bool:
    """Whether a module is of this very class, with nobody listening in."""
    hooks = (
        module._forward_hooks,
        module._forward_pre_hooks,
        module._backward_hooks,
        module._backward_pre_hooks,
    )
    return type(module) is kind and not any(hooks) and "forward" not in vars(module)


class _Linear(torch.autograd.Function):
    """y = x Wᵀ + b for a weight ``[o, i]``, or for ``[s, o, i]`` with the samples in s equal parts."""

    @staticmethod
    def forward(x: Tensor, weight: Tensor, bias: Tensor | None, slot: Slot, rectified: bool) -> Tensor:
        flat = x.reshape(*weight.shape[:-2], -1, x.shape[-1])
        if _fuses(x):
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
        return _applied(_Linear, x, weight, bias, slot, rectified), 0


def _fuses(x: Tensor) -> bool:
    """Whether fused kernels make the products: on a GPU, where they may keep ten bits."""
    return x.dtype == torch.float32 and computes_rounded(x) and rounded_dtype(x) == torch.float32


def _stacked(tensor: Tensor | None, axes: int) -> Any:
    """With a leading axis of one member where there is none."""
    return tensor[None] if tensor is not None and tensor.ndim < axes else tensor


def _stacked_linear(x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    if bias is None:
        return torch.bmm(x, weight.mT)
    return torch.baddbmm(bias[:, None], x, weight.mT)


def _move_linear(slot: Slot, g: Tensor, a: Tensor) -> None:
    """W ← W − gᵀ a straight away, or note gᵀ a; the bias's gradient, a small one, is always noted."""
    if _fuses(a) and slot.goes_straight():
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
    return _fuses(x) and x.ndim == 4 and groups == 1 and weight.numel() <= _FEW


_FEW = 4096


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
    return _applied(_Convolution, input, layer.weight, layer.bias, layer.slot, _geometry(layer))


def _applied(function: type[torch.autograd.Function], *arguments: Any) -> Tensor:
    output: Tensor = function.apply(*arguments)  # type: ignore[no-untyped-call]
    return output


def _geometry(layer: nn.Module) -> tuple[Any, ...]:
    """Stride, padding, dilation, transposed, output padding, groups."""
    transposed = isinstance(layer, nn.ConvTranspose2d)
    return (layer.stride, layer.padding, layer.dilation, transposed, layer.output_padding, layer.groups)
