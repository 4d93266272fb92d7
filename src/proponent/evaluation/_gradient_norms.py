"""The norm of each sample's gradient: how hard it still pulls at the model."""

from collections.abc import Callable

import numpy as np
import torch
from torch import nn

from proponent.data import as_batch, batch_size, check_finite, take
from proponent.gradients import GradientCapture, squared_norms
from proponent.objectives import Objective
from proponent.randomness import keyed_normal
from proponent.scores import FloatArray


def gradient_norms(
    model: nn.Module,
    objective: Objective,
    samples: object,
    draws: int = 16,
    seed: int = 0,
    chunk: int = 128,
    report: Callable[[int], object] = lambda count: None,
) -> FloatArray:
    r"""Compute $\|\nabla \ell(x_i; \theta)\|$ of the mean over draws that all samples share.

    It is biased upwards by the noise of the draws, as one set of draws is squared.

    Args:
        model: The model at the parameters in question.
        objective: The loss.
        samples: The samples.
        draws: How many draws of noise to average over.
        seed: What the draws belong to.
        chunk: Samples at a time.
        report: Told how many more are done.

    Raises:
        ValueError: `draws` or `chunk` is under 1, a sample isn't finite, or as `GradientCapture`.
    """
    for name, value in (("draws", draws), ("chunk", chunk)):
        if value < 1:
            raise ValueError(f"`{name}` must be at least 1, got {value}.")
    batch = as_batch(samples)
    check_finite(batch)
    objective.check_batch(batch)
    was_training = model.training
    capture = GradientCapture(model.eval(), objective)
    model.train(was_training)
    shape = objective.noise_shape(model)
    noise = None if shape is None else keyed_normal((draws, *shape), seed, "gradient norms")
    capture.prepare(take(batch, slice(0, chunk)), noise)
    squares = []
    for start in range(0, batch_size(batch), chunk):
        part = take(batch, slice(start, start + chunk))
        squares.append(squared_norms(capture(part, noise)))
        report(batch_size(part))
    return np.asarray(torch.cat(squares).double().sqrt().cpu().numpy())
