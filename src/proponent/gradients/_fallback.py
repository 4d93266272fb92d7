"""Exact per-sample gradients for parameters without a factor rule: slower, by automatic differentiation."""

import warnings
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.func import functional_call, grad, vmap

from proponent.data import Batch, batch_size, map_leaves, take
from proponent.gradients._dense import Dense
from proponent.objectives import LossModule, Objective


def vectorised_gradients(
    model: nn.Module, objective: Objective, names: Sequence[str], batch: Batch, noise: Tensor | None
) -> Dense:
    """Differentiate all samples at once, by ``vmap(grad)``.

    Raises:
        Exception: Whatever `torch.func` says of an operation that it can't transform.
    """
    loss = LossModule(model, objective)
    parameters = {f"model.{name}": model.get_parameter(name).detach() for name in names}

    def loss_of_one(values: dict[str, Tensor], sample: Any, draws: Tensor | None) -> Tensor:
        losses: Tensor = functional_call(loss, values, (map_leaves(lambda part: part[None], sample), draws))
        return losses[0]

    with warnings.catch_warnings():
        # The slow way is known to be slow; that torch takes a slower one inside is no news to a user.
        warnings.filterwarnings("ignore", message="There is a performance drop")
        gradients = vmap(grad(loss_of_one), in_dims=(None, 0, None))(parameters, batch, noise)
    return _side_by_side(names, [gradients[f"model.{name}"].reshape(batch_size(batch), -1) for name in names])


def single_gradients(
    model: nn.Module, objective: Objective, names: Sequence[str], batch: Batch, noise: Tensor | None
) -> Dense:
    """Differentiate sample by sample."""
    parameters = [model.get_parameter(name) for name in names]
    rows: list[list[Tensor]] = []
    for i in range(batch_size(batch)):
        loss = objective(model, take(batch, slice(i, i + 1)), noise)[0]
        gradients = torch.autograd.grad(loss, parameters, allow_unused=True, materialize_grads=True)
        rows.append([gradient.to_dense().flatten() for gradient in gradients])
    return _side_by_side(names, [torch.stack(column) for column in zip(*rows, strict=True)])


def _side_by_side(names: Sequence[str], parts: Sequence[Tensor]) -> Dense:
    # Detached: other parameters took part, and a graph to them would be kept for nothing.
    return Dense(tuple(names), torch.cat(list(parts), 1).detach(), tuple(part.shape[1] for part in parts))
