"""The slow, dense truth: per-sample gradients and TracIn by plain autograd, one sample at a time."""

import copy
from collections.abc import Mapping, Sequence

import torch
from torch import Tensor, nn

from proponent.data import Batch, batch_size, take
from proponent.objectives import Objective

State = Mapping[str, Tensor]


def losses(model: nn.Module, objective: Objective, batch: Batch, noise: Tensor | None) -> Tensor:
    """The loss of each sample ``[n]``, each computed alone."""
    with torch.no_grad():
        return torch.cat(
            [objective(model, one, own) for one, own in _one_by_one(model, objective, batch, noise)]
        )


def per_sample_gradients(
    model: nn.Module, objective: Objective, batch: Batch, noise: Tensor | None
) -> dict[str, Tensor]:
    """The gradient of each sample's loss, ``{parameter: [n, *shape]}``, for parameters that are trained."""
    parameters = {name: p for name, p in model.named_parameters() if p.requires_grad}
    rows = []
    for one, own in _one_by_one(model, objective, batch, noise):
        loss = objective(model, one, own)
        assert loss.shape == (1,)
        rows.append(
            torch.autograd.grad(loss[0], list(parameters.values()), allow_unused=True, materialize_grads=True)
        )
    return {
        name: torch.stack(column) for name, column in zip(parameters, zip(*rows, strict=True), strict=True)
    }


def flat(gradients: Mapping[str, Tensor]) -> Tensor:
    """The gradients as one matrix ``[n, p]``, parameters in the order of the mapping."""
    return torch.cat([gradient.reshape(len(gradient), -1) for gradient in gradients.values()], 1)


def influence(
    model: nn.Module,
    objective: Objective,
    states: Sequence[State],
    weights: Sequence[float],
    samples: Batch,
    queries: Batch,
    noises: Sequence[tuple[Tensor | None, Tensor | None]],
    metrics: Sequence[State | None] | None = None,
) -> Tensor:
    """TracIn's matrix of scores ``[n, q]``, dense.

    Args:
        model: Gives the architecture; it isn't changed.
        objective: The per-sample loss.
        states: The parameters of each checkpoint.
        weights: The weight of each checkpoint.
        samples: The n samples.
        queries: The q queries.
        noises: The draws of each checkpoint, for samples and for queries.
        metrics: The diagonal metric of each checkpoint, where there is one.
    """
    metrics = metrics or [None] * len(states)
    total = torch.zeros(batch_size(samples), batch_size(queries), dtype=torch.float64)
    for state, weight, (train, query), metric in zip(states, weights, noises, metrics, strict=True):
        left = _gradients_at(model, objective, state, samples, train, metric)
        right = _gradients_at(model, objective, state, queries, query)
        total += weight * (left @ right.T).double()  # S[i, z] = Σ_c η_c ⟨∇ℓ(x_i; θ_c), M ∇ℓ(z; θ_c)⟩
    return total


def self_influence(
    model: nn.Module,
    objective: Objective,
    states: Sequence[State],
    weights: Sequence[float],
    samples: Batch,
    noises: Sequence[tuple[Tensor | None, Tensor | None]],
    metrics: Sequence[State | None] | None = None,
) -> Tensor:
    """The scores of samples on themselves ``[n]``: the products of the gradients under two sets of draws."""
    metrics = metrics or [None] * len(states)
    total = torch.zeros(batch_size(samples), dtype=torch.float64)
    for state, weight, (first, second), metric in zip(states, weights, noises, metrics, strict=True):
        left = _gradients_at(model, objective, state, samples, first, metric)
        right = _gradients_at(model, objective, state, samples, second)
        total += weight * (left * right).sum(1).double()
    return total


def _gradients_at(
    model: nn.Module,
    objective: Objective,
    state: State,
    batch: Batch,
    noise: Tensor | None,
    metric: State | None = None,
) -> Tensor:
    model = copy.deepcopy(model)
    model.load_state_dict(state)
    gradients = per_sample_gradients(model, objective, batch, noise)
    if metric is not None:
        gradients = {name: gradient * metric[name] for name, gradient in gradients.items()}
    return flat(gradients)


def _one_by_one(
    model: nn.Module, objective: Objective, batch: Batch, noise: Tensor | None
) -> list[tuple[Batch, Tensor | None]]:
    shape = objective.noise_shape(model)
    own = noise is not None and shape is not None and noise.ndim == len(shape) + 2
    return [
        (take(batch, slice(i, i + 1)), noise[i : i + 1] if own and noise is not None else noise)
        for i in range(batch_size(batch))
    ]
