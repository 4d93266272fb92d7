"""The paper's score-function form against the pathwise one."""

import dataclasses

import pytest
import torch
from torch.func import functional_call, grad, vmap

from asserts import assert_close, assert_expectation, assert_gradients_close
from proponent.objectives import Elbo
from reference import per_sample_gradients
from toys import TOYS, normal, uniform


class Loss(torch.nn.Module):
    """The objective as the forward pass of a module, for `functional_call`."""

    def __init__(self, model, elbo):
        super().__init__()
        self.model, self.elbo = model, elbo

    def forward(self, x, noise):
        return self.elbo(self.model, x, noise)


def gradients_by_draw(model, elbo, x, draws):
    """The gradient of one sample's loss under each draw alone, ``{parameter: [draws, *shape]}``."""
    loss = Loss(model, elbo)
    parameters = {name: p.detach() for name, p in loss.named_parameters()}
    one = grad(lambda values, noise: functional_call(loss, values, (x, noise[None])).squeeze(0))
    return vmap(one, in_dims=(None, 0))(parameters, draws)


@pytest.mark.parametrize("part", ["all", "reconstruction", "kl"])
@pytest.mark.parametrize("likelihood", ["gaussian", "bernoulli"])
def test_both_have_the_same_expectation(part, likelihood):
    model = TOYS["linear-gaussian-vae"].model()
    x, draws = uniform(1, 5), normal(40_000, 2)
    elbo = Elbo(beta=2.0, likelihood=likelihood, part=part)
    score = gradients_by_draw(model, dataclasses.replace(elbo, estimator="score-function"), x, draws)
    pathwise = gradients_by_draw(model, elbo, x, draws)
    for name, gradient in score.items():
        # Common draws: the mean difference is zero, up to its own standard error.
        assert_expectation(gradient - pathwise[name], torch.zeros_like(gradient[0]))
        if name.startswith("model.encoder"):
            assert gradient.var(0).sum() > 1.5 * pathwise[name].var(0).sum()


def expected_loss(model, x):
    """The mean over all draws of the loss of a linear Gaussian VAE, beta = 2 and scale 1, no constants."""
    mean, log_variance = model.encode(x)
    spread = (model.decoder.weight.square() @ log_variance.exp().T).sum(0)  # tr(W Σ Wᵀ)
    reconstruction = ((model.decode(mean) - x).square().sum(1) + spread) / 2
    return reconstruction + (mean.square() + log_variance.exp() - 1 - log_variance).sum(1)


@pytest.mark.parametrize("estimator", ["pathwise", "score-function"])
def test_the_expectation_is_the_closed_form(estimator):
    model = TOYS["linear-gaussian-vae"].model()
    x, draws = uniform(1, 5), normal(40_000, 2)
    elbo = Elbo(beta=2.0, likelihood="gaussian", estimator=estimator)
    gradients = gradients_by_draw(model, elbo, x, draws)
    parameters = dict(model.named_parameters())
    truth = torch.autograd.grad(expected_loss(model, x).sum(), list(parameters.values()))
    for name, expected in zip(parameters, truth, strict=True):
        assert_expectation(gradients[f"model.{name}"], expected)


def test_gradients_are_the_papers_formula():
    toy = TOYS["mlp-vae-score-function"]
    model, x, draw = toy.model(), toy.samples[:1], toy.noise[:1]
    mean, log_variance = model.encode(x)
    z = (mean + (log_variance / 2).exp() * draw).detach()
    log_q = torch.distributions.Normal(mean, (log_variance / 2).exp()).log_prob(z).sum()
    log_prior = torch.distributions.Normal(0.0, 1.0).log_prob(z).sum()
    log_p = -torch.nn.functional.binary_cross_entropy_with_logits(model.decode(z), x, reduction="sum")
    v = torch.autograd.grad(log_q, list(model.encoder.parameters()), retain_graph=True)
    weight = (2 * (log_q - log_prior) - log_p).detach()
    u = torch.autograd.grad(-log_p, list(model.decoder.parameters()))
    gradients = per_sample_gradients(model, toy.objective, x, draw)
    expected = dict(zip(gradients, [*(weight * part for part in v), *u], strict=True))
    assert_gradients_close({name: gradient[0] for name, gradient in gradients.items()}, expected, 1e-12)


def test_the_value_is_the_loss():
    toy = TOYS["mlp-vae-score-function"]
    model = toy.model()
    pathwise = dataclasses.replace(toy.objective, estimator="pathwise")
    actual = toy.objective(model, toy.samples, toy.noise)
    assert_close(actual, pathwise(model, toy.samples, toy.noise), 1e-12)
