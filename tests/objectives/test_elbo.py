import dataclasses
import json
import math

import pytest
import torch
from torch import nn
from torch.distributions import Bernoulli, Normal, kl_divergence

import toy_models
from asserts import assert_close, assert_gradients_close, assert_independent_of_others
from proponent.objectives import Elbo, objective
from reference import per_sample_gradients
from toys import TOYS, normal, uniform


class FixedVAE(nn.Module):
    """Returns what it is told, whatever it is given."""

    def __init__(self, mean, log_variance, outputs):
        super().__init__()
        self.mean, self.log_variance, self.outputs = (
            torch.tensor(values).double() for values in (mean, log_variance, outputs)
        )
        self.latent_dim = self.mean.shape[-1]

    def encode(self, x):
        return self.mean.expand(len(x), -1), self.log_variance.expand(len(x), -1)

    def decode(self, z):
        return self.outputs.expand(len(z), -1)


X, NOISE = torch.full((1, 1), 0.25).double(), torch.tensor([[0.5, -1.0], [2.0, 0.3]]).double()
KL = (4 + 2 - 1 - math.log(2) + 1 + 0.5 - 1 + math.log(2)) / 2  # means 2, 1; variances 2, 1/2


@pytest.mark.parametrize(
    ("elbo", "outputs", "nats"),
    [
        (Elbo(), [math.log(3)], math.log(4) - math.log(3) / 4 + KL),
        (Elbo(beta=3.0), [math.log(3)], math.log(4) - math.log(3) / 4 + 3 * KL),
        (Elbo(beta=3.0, part="kl"), [math.log(3)], 3 * KL),
        (Elbo(beta=3.0, part="reconstruction"), [math.log(3)], math.log(4) - math.log(3) / 4),
        (
            Elbo(beta=3.0, likelihood="gaussian", scale=0.5),
            [1.25],
            2 + math.log(2 * math.pi / 4) / 2 + 3 * KL,
        ),
        (
            Elbo(beta=3.0, likelihood="gaussian-learned"),
            [1.25, math.log(2)],
            0.25 + math.log(4 * math.pi) / 2 + 3 * KL,
        ),
        (Elbo(beta=3.0, likelihood="squared-error"), [math.log(3)], 0.25 + 3 * KL),
    ],
)
@pytest.mark.parametrize("estimator", ["pathwise", "score-function"])
def test_pinned_values(elbo, outputs, nats, estimator):
    vae = FixedVAE([2.0, 1.0], [math.log(2), -math.log(2)], outputs)
    elbo = dataclasses.replace(elbo, estimator=estimator)
    assert_close(elbo(vae, X, NOISE), [nats], 1e-7)


def naive(model, x, noise):
    """A beta-VAE's loss with beta = 4, draw by draw, from PyTorch's own distributions."""
    mean, log_variance = model.encode(x)
    code = Normal(mean, (log_variance / 2).exp())
    losses = 4 * kl_divergence(code, Normal(0.0, 1.0)).sum(1)
    for draw in noise.unbind(-2):
        logits = model.decode(code.mean + code.stddev * draw)
        likelihood = Bernoulli(logits=logits, validate_args=False).log_prob(x)
        losses = losses - likelihood.flatten(1).sum(1) / noise.shape[-2]
    return losses


@pytest.mark.parametrize("noise", [normal(3, 2), normal(5, 3, 2)], ids=["shared", "own"])
def test_losses_and_gradients_agree_with_the_naive_form(noise):
    toy = TOYS["mlp-vae"]
    model, x = toy.model(), toy.samples
    assert_close(toy.objective(model, x, noise), naive(model, x, noise), 1e-12)
    assert_gradients_close(
        per_sample_gradients(model, toy.objective, x, noise),
        per_sample_gradients(model, objective(naive, (2,), True), x, noise),
        1e-12,
    )


@pytest.mark.parametrize("name", ["mlp-vae", "mlp-vae-score-function", "conv-vae-bernoulli"])
def test_the_parts_add_up_to_the_whole(name):
    toy = TOYS[name]
    model = toy.model()
    whole, reconstruction, kl = (
        per_sample_gradients(model, dataclasses.replace(toy.objective, part=part), toy.samples, toy.noise)
        for part in ("all", "reconstruction", "kl")
    )
    assert_gradients_close({key: reconstruction[key] + kl[key] for key in whole}, whole, 1e-12)


def test_losses_average_over_the_draws():
    toy = TOYS["mlp-vae"]
    model = toy.model()
    one_by_one = [toy.objective(model, toy.samples, draw[None]) for draw in toy.noise]
    assert_close(toy.objective(model, toy.samples, toy.noise), torch.stack(one_by_one).mean(0), 1e-12)


def test_samples_stand_apart():
    toy = TOYS["conv-vae"]
    model = toy.model()
    assert_independent_of_others(lambda batch: toy.objective(model, batch, toy.noise), toy.samples)


@pytest.mark.parametrize("name", ["mlp-vae", "mlp-vae-score-function"])
def test_each_network_runs_once(name):
    toy = TOYS[name]
    model, calls = toy.model(), []
    model.encoder.register_forward_hook(lambda module, given, result: calls.append(("encoder", len(result))))
    model.decoder.register_forward_hook(lambda module, given, result: calls.append(("decoder", len(result))))
    toy.objective(model, toy.samples, toy.noise)
    assert calls == [("encoder", 5), ("decoder", 15)]


def test_the_divergence_needs_neither_noise_nor_decoder():
    model, x = TOYS["mlp-vae"].model(), TOYS["mlp-vae"].samples
    kl = Elbo(part="kl")
    assert kl.noise_shape(model) is None
    del model.decoder
    assert kl(model, x, None).shape == (5,)
    assert Elbo(part="kl", estimator="score-function").noise_shape(model) == (2,)
    assert Elbo().noise_shape(model) == (2,)
    assert Elbo().per_sample_noise is True


def test_flat_outputs_are_compared_with_images():
    model = toy_models.mlp_vae().double()
    model.encoder = nn.Sequential(nn.Flatten(), model.encoder)
    x, noise = uniform(5, 1, 2, 3), normal(3, 2)
    flat = Elbo()(model, x.flatten(1), noise)
    assert_close(Elbo()(model, x, noise), flat, 1e-12)
    model.decoder = nn.Sequential(model.decoder, nn.Unflatten(1, (2, 3)))
    assert_close(Elbo()(model, x, noise), flat, 1e-12)
    assert_close(Elbo()(model, x.flatten(1), noise), flat, 1e-12)


def test_a_learned_variance_may_come_flat():
    model = FixedVAE([0.0], [0.0], [1.0, 2.0, 3.0, 4.0, 0.1, 0.2, 0.3, 0.4])
    elbo, noise, x = Elbo(likelihood="gaussian-learned"), torch.zeros(1, 1).double(), uniform(5, 1, 2, 2)
    variance = (torch.tensor([0.1, 0.2, 0.3, 0.4]).double() / 2).exp()
    expected = -Normal(torch.tensor([1.0, 2.0, 3.0, 4.0]).double(), variance).log_prob(x.flatten(1)).sum(1)
    assert_close(elbo(model, x, noise), expected, 1e-7)


def test_beta_may_be_a_tensor():
    toy = TOYS["mlp-vae"]
    model = toy.model()
    betas = torch.tensor([0.5, 4.0]).double()
    by_beta = torch.func.vmap(lambda beta: toy.objective.at_beta(model, toy.samples, toy.noise, beta))(betas)
    assert_close(by_beta[1], toy.objective(model, toy.samples, toy.noise), 1e-12)
    assert_close(by_beta[0], Elbo(beta=0.5)(model, toy.samples, toy.noise), 1e-12)


def test_the_description_is_json_and_makes_the_objective_again():
    elbo = Elbo(beta=2.0, likelihood="gaussian", scale=0.3, part="kl", estimator="score-function")
    record = json.loads(json.dumps(elbo.describe()))
    assert record.pop("objective") == "Elbo"
    assert Elbo(**record) == elbo


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"likelihood": "poisson"}, r'`likelihood` must be one of "bernoulli", .*, got "poisson"'),
        ({"part": "both"}, r'`part` must be one of "all", "reconstruction", "kl", got "both"'),
        ({"estimator": "reinforce"}, r'`estimator` must be one of .*, got "reinforce"'),
        ({"beta": -1.0}, r"`beta` must be a number of at least 0, got -1\.0"),
        ({"beta": math.nan}, r"`beta` must be a number of at least 0, got nan"),
        ({"likelihood": "gaussian", "scale": 0.0}, r"`scale` must be a positive number, got 0\.0"),
        ({"scale": 2.0}, r'`scale` belongs to `likelihood="gaussian"`.* Leave it out'),
    ],
)
def test_impossible_arguments_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        Elbo(**arguments)


def test_a_model_that_is_no_vae_is_refused():
    for use in (lambda elbo: elbo.noise_shape(nn.Linear(2, 2)), lambda elbo: elbo(nn.Linear(2, 2), X, NOISE)):
        with pytest.raises(
            TypeError, match=r"the Linear has no `encode` and no `decode` and no `latent_dim`"
        ):
            use(Elbo())


def test_a_batch_of_several_parts_is_refused():
    model = TOYS["mlp-vae"].model()
    with pytest.raises(TypeError, match=r"`samples` must be one tensor for the ELBO, got a tuple"):
        Elbo()(model, (X, X), NOISE)
    with pytest.raises(TypeError, match=r"`samples` must be one tensor for the ELBO, got a dict"):
        Elbo().check_batch({"x": X})


@pytest.mark.parametrize("noise", [None, normal(2), normal(3, 4), normal(4, 3, 2), normal(5, 5, 3, 2)])
def test_noise_of_another_shape_is_refused(noise):
    toy = TOYS["mlp-vae"]
    with pytest.raises(ValueError, match=r"`noise` must hold draws \[m, 2\].*\[5, m, 2\].*got (none|shape)"):
        toy.objective(toy.model(), toy.samples, noise)


def test_a_code_of_another_shape_is_refused():
    toy = TOYS["mlp-vae"]
    model = toy.model()
    model.latent_dim = 4
    with pytest.raises(ValueError, match=r"`model.encode` must .* \(5, 4\), .* got \(5, 2\) and \(5, 2\)"):
        toy.objective(model, toy.samples, normal(3, 4))


@pytest.mark.parametrize("features", [(5,), (2, 3), (1, 3, 2)])
def test_outputs_of_another_shape_are_refused(features):
    model = FixedVAE([0.0], [0.0], [0.0] * 6)
    model.decode = lambda z: torch.zeros(len(z), 3, 2).double()
    x, noise = uniform(2, *features), torch.zeros(1, 1).double()
    if features == (1, 3, 2):
        assert Elbo()(model, x, noise).shape == (2,)
        return
    with pytest.raises(ValueError, match=r"`model.decode` must return .* got \(3, 2\)\. Permute"):
        Elbo()(model, x, noise)


def test_the_unit_is_nats_where_the_loss_is_a_log_likelihood():
    assert {Elbo(likelihood=name).unit for name in ("bernoulli", "gaussian", "gaussian-learned")} == {"nats"}
    assert Elbo(likelihood="squared-error").unit == "units of the loss"
    assert Elbo(likelihood="squared-error", part="kl").unit == "nats"


def test_samples_that_a_likelihood_does_not_explain_are_refused():
    assert Elbo().check_batch(uniform(5, 3)) is None
    assert Elbo(likelihood="gaussian").check_batch(10 * normal(5, 3)) is None
    for likelihood in ("bernoulli", "squared-error"):
        with pytest.raises(ValueError, match=r"must lie in \[0, 1\] .* got numbers from 0 to 255. Rescale"):
            Elbo(likelihood=likelihood).check_batch(torch.tensor([[0.0], [255.0]]))
        with pytest.raises(ValueError, match=r"got numbers from -0\.5 to 1"):
            Elbo(likelihood=likelihood).check_batch(torch.tensor([[-0.5], [1.0]]))
        assert Elbo(likelihood=likelihood, part="kl").check_batch(torch.tensor([[-0.5], [255.0]])) is None
    with pytest.raises(TypeError, match=r"got torch.uint8. For images in bytes use `images.float\(\) / 255`"):
        Elbo().check_batch(torch.zeros(2, 3, dtype=torch.uint8))
    with pytest.raises(ValueError, match=r"`samples` must be finite"):
        Elbo().check_batch(torch.tensor([[math.nan]]))
    with pytest.raises(ValueError, match=r"axis of features .* got shape \(3,\)"):
        Elbo().check_batch(torch.zeros(3))
