"""A parameter whose gradient training never saw is refused under Adam's metric."""

import numpy as np
import pytest
import torch
from torch import nn

from proponent.attribution import TracIn
from proponent.objectives import objective
from proponent.training import fit


def autoencoder_with_batch_norm():
    generator = torch.Generator().manual_seed(0)
    net = nn.Sequential(nn.Linear(6, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, 6)).double()
    with torch.no_grad():
        for parameter in net.parameters():
            parameter.add_(torch.randn(parameter.shape, generator=generator, dtype=torch.float64) / 10)
    samples = torch.randn(60, 6, generator=generator, dtype=torch.float64)
    return net, objective(lambda model, x, noise: (model(x) - x).square().sum(1)), samples


def trained(optimizer):
    net, loss, samples = autoencoder_with_batch_norm()
    run = fit(
        net, loss, samples, steps=60, checkpoints=2, optimizer=optimizer, learning_rate=1e-3, progress=False
    )
    return run, loss, samples


def influence(run, loss, samples, **options):
    tracin = TracIn(run.model, loss, run.trajectory, precision="float64", device="cpu", **options)
    return tracin.influence(samples, samples[:3], progress=False).values


def test_a_bias_before_batch_norm_is_named():
    run, loss, samples = trained("adam")
    with pytest.raises(ValueError, match=r"`0\.bias` must have gradients in scoring like those in training"):
        influence(run, loss, samples)


def test_what_is_left_out_or_not_multiplied_is_scored():
    run, loss, samples = trained("adam")
    assert np.isfinite(influence(run, loss, samples, metric="identity")).all()
    run.model[0].bias.requires_grad_(False)
    assert np.abs(influence(run, loss, samples)).max() < 100


def test_sgd_multiplies_nothing():
    run, loss, samples = trained("sgd")
    assert np.isfinite(influence(run, loss, samples)).all()
