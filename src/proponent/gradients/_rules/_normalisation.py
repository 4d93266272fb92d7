"""The rules for the scale and shift of normalisations."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from proponent.gradients._dense import Dense
from proponent.gradients._rules._use import Use


def layer_norm(
    input: Tensor,
    normalized_shape: Sequence[int],
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-5,
) -> Use:
    """Describe a call of `torch.nn.functional.layer_norm`, whose scale and shift have the last axes."""
    normalise = partial(F.layer_norm, normalized_shape=list(normalized_shape), eps=eps)
    axes = len(normalized_shape)
    return Use(
        input,
        weight,
        bias,
        input.ndim - axes,
        partial(_scale_of_last_axes, normalise=normalise, axes=axes),
        partial(_sum_to_last_axes, axes=axes),
    )


def group_norm(
    input: Tensor,
    num_groups: int,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-5,
) -> Use:
    """Describe a call of `torch.nn.functional.group_norm`."""
    return _of_channels(input, weight, bias, partial(F.group_norm, num_groups=num_groups, eps=eps))


def instance_norm(
    input: Tensor,
    running_mean: Tensor | None = None,
    running_var: Tensor | None = None,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    use_input_stats: bool = True,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Use:
    """Describe a call of `torch.nn.functional.instance_norm`."""
    if use_input_stats:
        normalise = partial(F.instance_norm, eps=eps)  # each image by its own: no running statistics
    else:
        normalise = partial(
            F.instance_norm,
            running_mean=running_mean,
            running_var=running_var,
            use_input_stats=False,
            eps=eps,
        )
    return _of_channels(input, weight, bias, normalise)


def batch_norm(
    input: Tensor,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    training: bool = False,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Use:
    """Describe a call of `torch.nn.functional.batch_norm`, which couples samples while it trains."""
    normalise = partial(F.batch_norm, running_mean=running_mean, running_var=running_var, eps=eps)
    refusal = "normalises by the batch (batch norm in training mode)" if training else None
    return _of_channels(input, weight, bias, normalise, refusal)


def _of_channels(
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    normalise: Callable[..., Tensor],
    refusal: str | None = None,
) -> Use:
    block = partial(_scale_of_channels, normalise=normalise)
    return Use(input, weight, bias, 1, block, _sum_to_channels, refusal=refusal)


def _scale_of_last_axes(
    names: tuple[str, ...], input: Tensor, gradient: Tensor, normalise: Callable[..., Any], axes: int
) -> Dense:
    with torch.no_grad():
        return _dense(names, _sum_to_last_axes(gradient * normalise(input), axes))


def _scale_of_channels(
    names: tuple[str, ...], input: Tensor, gradient: Tensor, normalise: Callable[..., Any]
) -> Dense:
    with torch.no_grad():
        standard = normalise(input.flatten(0, 1)).reshape(input.shape)
        return _dense(names, _sum_to_channels(gradient * standard))


def _sum_to_last_axes(gradient: Tensor, axes: int) -> Tensor:
    return gradient.flatten(1, -1 - axes).sum(1).flatten(1)


def _sum_to_channels(gradient: Tensor) -> Tensor:
    return gradient.flatten(3).sum((1, 3)) if gradient.ndim > 3 else gradient.sum(1)


def _dense(names: tuple[str, ...], values: Tensor) -> Dense:
    return Dense(names, values, (values.shape[1],))
