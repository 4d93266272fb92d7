"""The loss of each sample: the ranking to beat."""

import numpy as np
import torch
from torch import nn

from proponent.data import as_batch, batch_size, check_finite, move, take
from proponent.objectives import Objective
from proponent.randomness import keyed_normal
from proponent.scores import FloatArray


def sample_losses(
    model: nn.Module,
    objective: Objective,
    samples: object,
    draws: int = 16,
    seed: int = 0,
    chunk: int = 1024,
) -> FloatArray:
    r"""Compute $\ell(x_i; \theta)$ for each sample, the mean over draws that all samples share.

    Where self-influence asks what a sample did to the model, this asks only how badly the model explains
    it, at a small part of the cost. It often finds foreign samples better.

    Args:
        model: The model at the parameters in question. It is used in evaluation mode and left as it was.
        objective: The loss.
        samples: The samples.
        draws: How many draws of noise to average over.
        seed: What the draws belong to.
        chunk: Samples at a time.

    Raises:
        ValueError: `draws` or `chunk` is under 1, a sample isn't finite, or the objective is not defined on
            one.
    """
    for name, value in (("draws", draws), ("chunk", chunk)):
        if value < 1:
            raise ValueError(f"`{name}` must be at least 1, got {value}.")
    batch = as_batch(samples)
    check_finite(batch)
    objective.check_batch(batch)
    parameter = next(model.parameters())
    shape = objective.noise_shape(model)
    noise = None
    if shape is not None:
        noise = keyed_normal((draws, *shape), seed, "losses", dtype=parameter.dtype).to(parameter.device)
    were_training = [module for module in model.modules() if module.training]
    model.eval()
    try:
        with torch.no_grad():
            losses = [
                objective(
                    model,
                    move(take(batch, slice(i, i + chunk)), parameter.device, parameter.dtype),
                    noise,
                )
                for i in range(0, batch_size(batch), chunk)
            ]
    finally:
        for module in were_training:  # not `train`, which would take those below along
            module.training = True
    return np.asarray(torch.cat(losses).double().cpu().numpy(), dtype=np.float64)
