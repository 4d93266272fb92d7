"""What has to be known of a loss before its gradients can be taken apart, found out on a few samples.

Whether it is a function at all, whether it treats samples apart, where the samples lie in each layer's
output, and which parameters the factor rules can't serve.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from proponent.data import Batch, batch_size, take
from proponent.gotchas import see
from proponent.gradients._layout import PROBE_WEIGHTS, Layout, find_layout
from proponent.gradients._tape import Call, Tape
from proponent.objectives import Objective

_TOLERANCE = {torch.float64: 1e-9, torch.float32: 1e-4}


@dataclass(frozen=True)
class Signature:
    """What two batches must have in common to share a plan.

    Attributes:
        way: The calls, each with its parameters, its number of axes and whether a loss depends on it; and
            the parameters used outside of them.
        single: For each axis of each call that may hold samples, whether it is as long as the batch. Where
            it is, nothing tells the orders of samples and draws apart.
    """

    way: tuple[tuple[tuple[tuple[str, ...], int, bool], ...], frozenset[str]]
    single: tuple[tuple[bool, ...], ...]


@dataclass(frozen=True)
class Plan:
    """How the gradients of batches with the same calls are put together.

    Attributes:
        layouts: Where the samples lie in each call's output; none where nothing needs to know.
        served: The parameters that factor rules serve, all their uses included.
        fallback: Those that need automatic differentiation, and why.
        unused: Those that no loss depends on.
        settled: Whether every gradient told something; where one was zero, other parameters may show more.
    """

    layouts: tuple[Layout | None, ...]
    served: frozenset[str]
    fallback: Mapping[str, str]
    unused: frozenset[str]
    settled: bool = True


def signature(tape: Tape, at_outputs: Sequence[Tensor | None], n: int) -> Signature:
    """Describe the way that a batch of n samples took, with the gradients at the outputs of its calls."""
    calls = tuple(
        (call.names, len(call.shape), gradient is not None)
        for call, gradient in zip(tape.calls, at_outputs, strict=True)
    )
    single = tuple(tuple(size == n for size in call.shape[: call.use.leading]) for call in tape.calls)
    return Signature((calls, frozenset(tape.outside)), single)


def without_factors(parameters: Mapping[str, Tensor], calls: int) -> Plan:
    """Plan for batches that take another way than a few of their samples, as a loop over samples does."""
    reason = "used in another way by a few samples than by a batch"
    return Plan((None,) * calls, frozenset(), dict.fromkeys(parameters, reason), frozenset())


def record(
    model: nn.Module,
    objective: Objective,
    parameters: Mapping[str, Tensor],
    batch: Batch,
    noise: Tensor | None,
) -> tuple[Tape, Tensor]:
    """Compute the losses of a batch with a tape on.

    Raises:
        ValueError: The objective does not give one loss a sample, or a call couples samples.
    """
    with torch.enable_grad(), Tape(parameters) as tape:
        losses = objective(model, batch, noise)
    n = batch_size(batch)
    if not isinstance(losses, Tensor) or losses.shape != (n,):
        found = tuple(losses.shape) if isinstance(losses, Tensor) else type(losses).__name__
        raise ValueError(
            f"The objective must return one loss for each of the {n} samples, a tensor of shape ({n},), got "
            f"{found}. Leave out the sum or mean over the batch (`reduction='none'`), and sum over features."
            + see("summed")
        )
    for call in tape.calls:
        if call.use.refusal is not None:
            share = _share(call.names, parameters)
            raise ValueError(
                f"`{_layer(call)}` {call.use.refusal}, so samples have no gradients of their own. It holds "
                f"{share} of the parameters. Call `model.eval()` or replace the layer." + see("batch-norm")
            )
        if call.use.input._version != call.version:
            raise ValueError(
                f"The input of `{_layer(call)}` was changed in place after the layer ran, so its gradient "
                "can't be formed. Replace the in-place operation." + see("in-place")
            )
    return tape, losses


def probe(
    model: nn.Module,
    objective: Objective,
    parameters: Mapping[str, Tensor],
    batch: Batch,
    noise: Tensor | None,
) -> tuple[Signature, Plan]:
    """Find out how to take the gradients of batches like this one apart.

    Raises:
        ValueError: The loss is not finite, is random beyond its noise, couples the samples of a batch, or
            has the wrong shape or dtype.
    """
    count = len(PROBE_WEIGHTS)
    index = torch.arange(count) % batch_size(batch)
    few = take(batch, index)
    tape, losses = record(model, objective, parameters, few, noise)
    _check_numbers(losses)
    _check_function(model, objective, few, noise, losses)
    _check_apart(model, objective, parameters, few, noise, losses, tape)
    if not losses.requires_grad:
        raise ValueError(
            "The losses don't depend on any tracked parameter. Look for `torch.no_grad()` or `.detach()` in "
            "the objective, and for parameters with `requires_grad=False`."
        )
    edges = [call.edge for call in tape.calls]
    weights = torch.tensor(PROBE_WEIGHTS, device=losses.device, dtype=losses.dtype)
    at_outputs = _gradients(losses.sum(), edges)
    settled = all(gradient is None or bool(gradient.any()) for gradient in at_outputs)
    weighted = _gradients((weights * losses).sum(), edges)
    used = _gradients(losses.sum(), list(parameters.values()))

    layouts: list[Layout | None] = []
    fallback = dict.fromkeys(tape.outside, "used outside the layers that have a factor rule")
    for call, g, w in zip(tape.calls, at_outputs, weighted, strict=True):
        layout, several = None, False
        if g is not None and w is not None:
            layout, several = find_layout(g, w, call.use.leading, _TOLERANCE[losses.dtype])
            if layout is None or several:
                reason = "no gradient to tell by" if several else "samples not along one axis of the output"
                fallback |= dict.fromkeys(call.names, reason)
        layouts.append(layout)
    noted = {name for call in tape.calls for name in call.names}
    unused = frozenset(name for name, g in zip(parameters, used, strict=True) if g is None)
    for name in parameters:
        if name not in noted and name not in unused:
            fallback.setdefault(name, "used outside the layers that have a factor rule")
    fallback = {name: fallback[name] for name in parameters if name in fallback and name not in unused}
    served = frozenset(noted - fallback.keys() - unused)
    return signature(tape, at_outputs, count), Plan(tuple(layouts), served, fallback, unused, settled)


def _gradients(total: Tensor, inputs: Sequence[Any]) -> list[Tensor | None]:
    if not inputs:
        return []
    return list(torch.autograd.grad(total, inputs, retain_graph=True, allow_unused=True))


def _check_numbers(losses: Tensor) -> None:
    if losses.dtype not in _TOLERANCE:
        raise ValueError(
            f"The objective must return losses in float32 or float64, got {losses.dtype}. "
            "Sum them in float32."
        )
    if not bool(torch.isfinite(losses).all()):
        raise ValueError(
            f"The losses must be finite, got {losses.tolist()} for a few samples. Look for NaN in the "
            "samples and the checkpoint, and for logarithms and divisions in the objective."
        )


def _check_function(
    model: nn.Module, objective: Objective, batch: Batch, noise: Tensor | None, losses: Tensor
) -> None:
    again = objective(model, batch, noise)
    if not torch.allclose(again, losses, rtol=1e-4, atol=0, equal_nan=True):
        active = [
            name
            for name, module in model.named_modules()
            if isinstance(module, nn.modules.dropout._DropoutNd) and module.training
        ]
        hint = "Draw nothing inside: take all randomness from the `noise` argument." + see("noise")
        if active:
            names = "`, `".join(active[:3])
            hint = f"Dropout is in training mode at `{names}`: call `model.eval()`." + see("dropout")
        raise ValueError(
            f"The objective must be a function of its arguments, but two calls on the same batch and noise "
            f"gave {losses[0].item():.6g} and {again[0].item():.6g} for the same sample. {hint}"
        )


def _check_apart(
    model: nn.Module,
    objective: Objective,
    parameters: Mapping[str, Tensor],
    batch: Batch,
    noise: Tensor | None,
    losses: Tensor,
    tape: Tape,
) -> None:
    """Compare the losses of the first and the last sample alone with those in a batch.

    The last, as in a sequence each sees those before it alone.
    """
    for i in (0, len(losses) - 1):
        alone, loss = record(model, objective, parameters, take(batch, slice(i, i + 1)), noise)
        if torch.allclose(loss[0], losses[i], rtol=1e-3, atol=1e-6 * float(losses.detach().abs().max())):
            continue
        place = "after the last layer, in the loss itself"
        for k, (one, many) in enumerate(zip(alone.calls, tape.calls, strict=False)):
            if not _shows(one.use.input, many.use.input, i, len(losses)):
                place = f"before `{_layer(many)}`"
                if k:
                    place = f"between `{_layer(tape.calls[k - 1])}` and `{_layer(many)}`"
                break
        raise ValueError(
            f"The loss couples the samples of a batch: a sample's loss is {loss[0].item():.6g} alone and "
            f"{losses[i].item():.6g} in a batch of {len(losses)}. The coupling lies {place}. "
            "A sample must not see the others: no batch statistics, no terms between samples, "
            "no division by the batch size." + see("coupled")
        )


def _shows(one: Tensor, many: Tensor, i: int, n: int) -> bool:
    """Whether some arrangement of the samples shows sample i as it is alone."""
    if one.ndim != many.ndim:
        return False
    for axis in range(many.ndim):
        if many.shape[axis] != n * one.shape[axis]:
            continue
        for first in (True, False):
            part = Layout(axis, first).split(many, n)[i]
            part = part.movedim(0, axis)
            if part.shape == one.shape and torch.allclose(part, one, rtol=1e-3, atol=1e-5):
                return True
    return one.shape == many.shape and torch.allclose(one, many, rtol=1e-3, atol=1e-5)


def _layer(call: Call) -> str:
    return call.names[0].rpartition(".")[0] or call.names[0]


def _share(names: tuple[str, ...], parameters: Mapping[str, Tensor]) -> str:
    total = sum(parameter.numel() for parameter in parameters.values())
    return f"{sum(parameters[name].numel() for name in names) / total:.1%}"
