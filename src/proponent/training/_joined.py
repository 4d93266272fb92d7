"""Members' batches joined into one, for models all of whose numbers lie in linear layers.

Under `vmap` every operation learns of the members' axis, and fused kernels don't serve it. But an objective
treats samples apart, so the members' samples can stand in one batch: only the layers need to know which
weights are whose. That holds as long as the model keeps the samples' order, along the first axis; whether
it does is found out by trying, at parameters that tell the members apart.
"""

from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor, nn

from proponent.data import Batch, map_leaves
from proponent.precision import passes
from proponent.randomness import keyed_seed
from proponent.training._ledger import Ledger
from proponent.training._split import split_layers
from proponent.training._split_linear import JoinedLinear, SplitLinear

Tensors = dict[str, Tensor]
# (model, batch, noise, beta) -> losses
Loss = Callable[[nn.Module, Any, Any, Any], Tensor]


class JoinedBatches:
    """Computes the losses of all members in one call of one model.

    Args:
        template: A model of the members' kind.
        parameters: Their stacked parameters.
        loss: The objective.
        betas: The members' betas, or none.
        ledger: It takes the weights' gradients.
    """

    def __init__(
        self, template: nn.Module, parameters: Tensors, loss: Loss, betas: Tensor | None, ledger: Ledger
    ) -> None:
        self.twin, slots = split_layers(template, ledger, stacked=True)
        self.parameters, self.loss, self.betas, self.ledger = parameters, loss, betas, ledger
        for slot in slots:
            slot.weight = parameters[slot.weight_name]
            slot.bias = None if slot.bias_name is None else parameters[slot.bias_name]
        for module in self.twin.modules():
            if type(module) is SplitLinear:
                module.__class__ = JoinedLinear
        names = {name for slot in slots for name in (slot.weight_name, slot.bias_name)}
        state = {*dict(template.named_parameters()), *dict(template.named_buffers())}
        self.holds_everything = state <= names

    def losses(self, batch: Batch, noise: Tensor | None) -> Tensor:
        """The losses ``[members, n]`` of a batch ``[members, n, ...]``."""
        joined = map_leaves(_joined, batch)
        shape = _shape(batch)
        betas = None if self.betas is None else self.betas.repeat_interleave(shape[1])
        losses = self.loss(self.twin, joined, None if noise is None else _joined(noise), betas)
        return losses.reshape(shape) if losses.shape == (shape[0] * shape[1],) else losses

    @torch.no_grad()
    def agrees(self, batch: Batch, noise: Tensor | None, reference: Callable[[], Tensor]) -> bool:
        """Whether members come out as by a reference, at parameters far from each other's."""
        before = {name: tensor.clone() for name, tensor in self.parameters.items()}
        try:
            _scatter(self.parameters)
            with passes("float32", next(iter(before.values())).device):
                expected, found = reference(), self.losses(batch, noise)
            close = expected.shape == found.shape and torch.allclose(found, expected, rtol=1e-3, atol=1e-4)
        except torch.OutOfMemoryError:  # says nothing of the model
            raise
        except (RuntimeError, ValueError):  # a model that can't take more samples than it expects
            close = False
        finally:
            for name, tensor in before.items():
                self.parameters[name].copy_(tensor)
            self.ledger.forget_calls()
        return close


def _scatter(parameters: Mapping[str, Tensor]) -> None:
    """Move every member's parameters by numbers of its own."""
    for name, tensor in parameters.items():
        generator = torch.Generator(tensor.device).manual_seed(keyed_seed("scattered", name))
        noise = torch.randn(tensor.shape, generator=generator, device=tensor.device, dtype=tensor.dtype)
        scale = tensor.abs().mean().clamp(min=0.01)
        tensor.add_(noise * scale)


def _joined(part: Tensor) -> Tensor:
    return part.flatten(0, 1)


def _shape(batch: Batch) -> tuple[int, int]:
    part = batch
    while not isinstance(part, Tensor):
        part = next(iter(part.values())) if isinstance(part, dict) else part[0]
    return part.shape[0], part.shape[1]
