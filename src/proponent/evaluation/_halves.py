"""The loss of each sample under models that never saw it, and under models that did."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

from proponent.data import as_batch, batch_size
from proponent.evaluation._loss import sample_losses
from proponent.objectives import Objective
from proponent.randomness import keyed_generator, keyed_seed
from proponent.scores import FloatArray
from proponent.training import Member, fit_ensemble


@dataclass(frozen=True, eq=False)
class HalfLosses:
    """Mean losses under models that were each trained on half of the samples.

    Attributes:
        unseen: Under the models that did not see the sample, ``[n]``.
        seen: Under those that did, ``[n]``.
        pairs: How many models there are of either kind for each sample.
    """

    unseen: FloatArray
    seen: FloatArray
    pairs: int


def half_losses(
    build: Callable[[torch.Generator], nn.Module],
    objective: Objective,
    samples: Any,
    *,
    steps: int,
    pairs: int = 2,
    seed: int = 0,
    draws: int = 16,
    directory: str | Path | None = None,
    **training: Any,
) -> HalfLosses:
    """Train pairs of models on complementary halves, all at once, and compute every sample's losses.

    A model explains well what it has memorised. One that never saw the sample has nothing of it, so its
    loss is the more honest measure of oddity, and several of them take out the chance of one training.

    Args:
        build: Makes a model from a generator.
        objective: The loss.
        samples: The samples.
        steps: How many steps each model makes.
        pairs: How many times the samples are divided into halves.
        seed: What halves, first parameters, batches, noise and draws belong to.
        draws: How many draws of noise a loss is the mean of.
        directory: Where the models are kept; a training that was stopped is taken up from there.
        **training: What `fit_ensemble` takes beside, such as ``optimizer`` and ``learning_rate``.

    Raises:
        ValueError: `pairs` is under 1, there are under 4 samples, or as `fit_ensemble`.
    """
    batch = as_batch(samples)
    n = batch_size(batch)
    if pairs < 1:
        raise ValueError(f"`pairs` must be at least 1, got {pairs}.")
    if n < 4:
        raise ValueError(f"`samples` must be at least 4 to be divided into halves, got {n}.")
    halves = [half for pair in range(pairs) for half in _halves(n, seed, pair)]
    members = [Member(seed=keyed_seed(seed, "half model", i), subset=half) for i, half in enumerate(halves)]
    training["batch_size"] = min(training.get("batch_size", 64), n // 2)
    runs = fit_ensemble(
        build, objective, batch, members, steps=steps, checkpoints=1, directory=directory, **training
    )
    losses = np.stack([sample_losses(run.model, objective, batch, draws=draws, seed=seed) for run in runs])
    saw = np.zeros((len(runs), n), dtype=bool)
    for row, half in zip(saw, halves, strict=True):
        row[half] = True
    return HalfLosses(
        unseen=np.where(saw, 0, losses).sum(0) / pairs,
        seen=np.where(saw, losses, 0).sum(0) / pairs,
        pairs=pairs,
    )


def _halves(n: int, seed: int, pair: int) -> tuple[torch.Tensor, torch.Tensor]:
    order = torch.randperm(n, generator=keyed_generator(seed, "halves", pair))
    first, second = order[: n // 2].sort().values, order[n // 2 :].sort().values
    return first, second
