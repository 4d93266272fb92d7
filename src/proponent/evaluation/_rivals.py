"""Computes the rankings of a trained model: self-influence, and the cheap ones to hold beside it."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from torch import nn

from proponent.data import as_batch, batch_size, move, take
from proponent.evaluation._components import principal_components
from proponent.evaluation._default_ranking import default_ranking
from proponent.evaluation._gradient_norms import gradient_norms
from proponent.evaluation._halves import HalfLosses
from proponent.evaluation._loss import sample_losses
from proponent.evaluation._neighbours import neighbour_distances
from proponent.evaluation._rankings import Rankings
from proponent.objectives import Elbo, Objective
from proponent.scores import FloatArray, Scores

_NEIGHBOURS, _CHUNK = 5, 1024


def compute_rankings(
    model: nn.Module,
    objective: Objective,
    samples: object,
    own: Scores | None = None,
    halves: HalfLosses | None = None,
    *,
    draws: int = 16,
    seed: int = 0,
    ids: Any = None,
    tell: Callable[[str], object] = lambda text: None,
) -> Rankings:
    """Compute all rankings that the model and the data allow.

    A model without an encoder has no latent neighbours, and an objective other than `Elbo` no parts.

    Args:
        model: The trained model.
        objective: The loss.
        samples: The samples.
        own: Their self-influence, if it was computed.
        halves: Their losses under models that did not see them, if these were trained.
        draws: How many draws of noise a loss is the mean of.
        seed: What the draws belong to.
        ids: Of the samples; positions unless given.
        tell: Told what is computed next.

    Raises:
        ValueError: As `sample_losses`, `gradient_norms` and `neighbour_distances`; or `own` has other ids.
    """
    batch = as_batch(samples)
    n = batch_size(batch)
    names = np.arange(n) if ids is None else np.asarray(ids)
    if own is not None and not np.array_equal(own.ids, names):
        raise ValueError(
            "`own` must be of the same samples in the same order, but its ids differ from `ids`."
        )
    tell("losses")
    columns: dict[str, FloatArray] = {"loss": sample_losses(model, objective, batch, draws, seed)}
    if isinstance(objective, Elbo):
        for name, part in (("reconstruction", "reconstruction"), ("divergence", "kl")):
            columns[name] = sample_losses(model, replace(objective, part=part), batch, draws, seed)
    if halves is not None:
        columns |= {"unseen loss": halves.unseen, "loss gap": halves.unseen - halves.seen}
    near = min(_NEIGHBOURS, n - 1)
    if isinstance(batch, torch.Tensor) and near:
        tell("neighbours")
        columns["distance to neighbours"] = neighbour_distances(batch, near)
        if hasattr(model, "encode"):
            columns["distance to latent neighbours"] = neighbour_distances(latent_means(model, batch), near)
    tell("gradient norms")
    columns["gradient norm"] = gradient_norms(model, objective, batch, draws, seed)
    if own is not None:
        columns["self-influence"] = own.values
    default = "loss"
    if isinstance(batch, torch.Tensor) and halves is not None:
        default = "combined"
        combined = default_ranking(
            columns["loss"], principal_components(batch), halves.unseen, halves.seen, seed
        )
        columns = {default: combined} | columns
    return Rankings(names, columns, default, {"draws": draws, "seed": seed, "neighbours": near})


def latent_means(model: nn.Module, samples: object) -> FloatArray:
    """Encode samples: the mean of each one's code, ``[n, d]``."""
    batch = as_batch(samples)
    parameter = next(model.parameters())
    encode: Any = model.encode
    with torch.no_grad():
        parts = [
            encode(move(take(batch, slice(i, i + _CHUNK)), parameter.device, parameter.dtype))[0]
            for i in range(0, batch_size(batch), _CHUNK)
        ]
    return np.asarray(torch.cat(parts).double().cpu().numpy())
