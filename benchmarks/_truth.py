"""The slow truth: gradients by plain autograd, one sample at a time, in float64."""

import copy

import torch
from torch import Tensor, nn

from _workload import Workload
from proponent.objectives import Objective


def true_gradients(model: nn.Module, objective: Objective, samples: Tensor, noise: Tensor | None) -> Tensor:
    """Compute ``[n, p]`` in float64; parameters in the model's order."""
    model = copy.deepcopy(model).double()
    noise = None if noise is None else noise.double()
    samples = samples.double() if samples.is_floating_point() else samples
    parameters = list(model.parameters())
    rows = [
        torch.autograd.grad(objective(model, sample, noise)[0], parameters, materialize_grads=True)
        for sample in samples.split(1)
    ]
    return torch.stack([torch.cat([part.flatten() for part in row]) for row in rows])


def true_scores(work: Workload) -> Tensor:
    """Compute ``[n, q]`` inner products of gradients in float64."""
    G = true_gradients(work.vae, work.objective, work.samples, work.noise)
    Q = true_gradients(work.vae, work.objective, work.queries, work.query_noise)
    return G @ Q.T
