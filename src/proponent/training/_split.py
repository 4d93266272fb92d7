"""Layers that keep their weights' gradients out of the backward pass.

Autograd computes both gradients of a layer before it goes on to the layer below. Only that of the input is
needed there; that of the weight can be made meanwhile. And where a step subtracts it right away, it need not
be formed: a matrix product can add to the weight itself, which halves the memory that a large batched model
moves.
"""

import copy
from collections import Counter
from typing import Any

from torch import Tensor, nn

from proponent.training._ledger import Ledger
from proponent.training._slot import Slot
from proponent.training._split_convolution import SplitConv2d, SplitConvTranspose2d
from proponent.training._split_linear import SplitLinear


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
