import numpy as np
import pytest
import torch

from proponent.evaluation import sample_losses
from proponent.models import MLPVAE
from proponent.objectives import Elbo, objective
from proponent.randomness import keyed_normal


def noisy_square(model, batch, noise):
    return (model(batch)[:, None] + noise[None]).square().sum(2).mean(1)


def make_model():
    model = torch.nn.Linear(3, 2).double()
    with torch.no_grad():
        model.weight.copy_(torch.arange(6.0).reshape(2, 3) / 3)
        model.bias.copy_(torch.tensor([0.5, -1.0]))
    return model


X = np.random.default_rng(0).normal(size=(11, 3))


@pytest.mark.parametrize("chunk", [1, 4, 100])
def test_is_the_objective_with_the_keyed_draws(chunk):
    model, loss = make_model(), objective(noisy_square, noise_shape=(2,))
    noise = keyed_normal((5, 2), 3, "losses", dtype=torch.float64)
    expected = noisy_square(model, torch.from_numpy(X), noise).detach().numpy()
    np.testing.assert_allclose(
        sample_losses(model, loss, X, draws=5, seed=3, chunk=chunk), expected, rtol=1e-12
    )


def test_an_objective_without_noise_needs_none():
    loss = objective(lambda model, batch, noise: model(batch).sum(1))
    expected = make_model()(torch.from_numpy(X)).sum(1).detach().numpy()
    np.testing.assert_allclose(sample_losses(make_model(), loss, X), expected, rtol=1e-12)


def test_dropout_is_off_and_the_mode_is_given_back():
    model = torch.nn.Sequential(torch.nn.Dropout(0.9), make_model()).train()
    loss = objective(lambda model, batch, noise: model(batch).sum(1))
    expected = make_model()(torch.from_numpy(X)).sum(1).detach().numpy()
    np.testing.assert_allclose(sample_losses(model, loss, X), expected, rtol=1e-12)
    assert model.training


def test_each_module_gets_its_own_mode_back():
    model = torch.nn.Sequential(torch.nn.Dropout(0.9), torch.nn.Sequential(make_model())).train()
    for inner in (model[0], model[1]):
        inner.training = False
    modes = [module.training for module in model.modules()]
    sample_losses(model, objective(lambda model, batch, noise: model(batch).sum(1)), X)
    assert [module.training for module in model.modules()] == modes == [True, False, False, True]


def test_samples_are_checked_as_for_scores():
    with pytest.raises(ValueError, match=r"`samples` must be finite, but 1 of 2"):
        sample_losses(make_model(), objective(noisy_square, noise_shape=2), [[1.0, 2, 3], [1, np.nan, 3]])
    with pytest.raises(ValueError, match=r"must lie in \[0, 1\]"):
        sample_losses(MLPVAE(3, 2), Elbo(), 255 * np.abs(X))


@pytest.mark.parametrize("name", ["draws", "chunk"])
def test_counts_must_be_positive(name):
    with pytest.raises(ValueError, match=f"`{name}` must be at least 1, got 0"):
        sample_losses(make_model(), objective(noisy_square, noise_shape=(2,)), X, **{name: 0})
