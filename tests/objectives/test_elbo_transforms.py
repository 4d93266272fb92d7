"""The ELBO under whatever an implementation of per-sample gradients puts around it."""

import pytest
import torch
from torch.func import functional_call, grad, vmap
from torch.overrides import TorchFunctionMode

from asserts import assert_close, assert_gradients_close
from proponent.models import MLPVAE
from proponent.objectives import Elbo
from proponent.objectives._gaussian_code import kl_to_prior
from reference import per_sample_gradients
from toys import TOYS

VAES = {name: toy for name, toy in TOYS.items() if isinstance(toy.objective, Elbo)}


class Loss(torch.nn.Module):
    """The objective as the forward pass of a module, for `functional_call`."""

    def __init__(self, model, elbo):
        super().__init__()
        self.model, self.elbo = model, elbo

    def forward(self, x, noise):
        return self.elbo(self.model, x, noise)


@pytest.mark.parametrize("toy", VAES.values(), ids=VAES)
def test_gradients_under_vmap(toy):
    loss = Loss(toy.model(), toy.objective)
    parameters = {name: p.detach() for name, p in loss.named_parameters()}
    one = grad(lambda values, x: functional_call(loss, values, (x[None], toy.noise)).squeeze(0))
    gradients = vmap(one, in_dims=(None, 0))(parameters, toy.samples)
    expected = per_sample_gradients(loss.model, toy.objective, toy.samples, toy.noise)
    assert_gradients_close(gradients, {f"model.{name}": value for name, value in expected.items()}, 1e-12)


class Names(TorchFunctionMode):
    def __init__(self):
        super().__init__()
        self.names = []

    def __torch_function__(self, function, types, args=(), kwargs=None):
        self.names.append(getattr(function, "__name__", ""))
        return function(*args, **(kwargs or {}))


@pytest.mark.parametrize("toy", VAES.values(), ids=VAES)
def test_a_mode_sees_every_call_and_changes_nothing(toy):
    model = toy.model()
    with Names() as mode:
        losses = toy.objective(model, toy.samples, toy.noise)
    assert torch.equal(losses, toy.objective(model, toy.samples, toy.noise))
    assert "linear" in mode.names


@pytest.mark.parametrize("estimator", ["pathwise", "score-function"])
@pytest.mark.parametrize("likelihood", ["bernoulli", "gaussian", "gaussian-learned", "squared-error"])
def test_losses_under_autocast_are_float32(likelihood, estimator):
    generator = torch.Generator().manual_seed(0)
    learned = likelihood == "gaussian-learned"
    model = MLPVAE(100, 4, learned_variance=learned, generator=generator)
    x, noise = torch.rand(6, 100, generator=generator), torch.randn(3, 4, generator=generator)
    elbo = Elbo(beta=2.0, likelihood=likelihood, estimator=estimator)
    exact = elbo(model, x, noise)
    with torch.autocast("cpu", torch.bfloat16):
        losses = elbo(model, x, noise)
    assert losses.dtype == torch.float32
    assert_close(losses, exact, 3e-2)
    losses.sum().backward()
    assert all(bool(p.grad.isfinite().all()) for p in model.parameters())


@pytest.mark.parametrize("likelihood", ["bernoulli", "gaussian", "gaussian-learned", "squared-error"])
def test_a_model_in_half_precision_is_compared_in_float32(likelihood):
    """Only the outputs are rounded: what is computed of them equals what float64 gives."""
    generator = torch.Generator().manual_seed(0)
    model = MLPVAE(100, 4, learned_variance=likelihood == "gaussian-learned", generator=generator).bfloat16()
    x = torch.rand(6, 100, generator=generator).bfloat16()
    noise = torch.randn(3, 4, generator=generator)
    elbo = Elbo(likelihood=likelihood, part="reconstruction")
    losses = elbo(model, x, noise)
    assert losses.dtype == torch.float32
    decoded = []
    model.decoder.register_forward_hook(lambda module, given, result: decoded.append(result.detach()))
    elbo(model, x, noise)
    model.decode = lambda z: decoded[0].double()
    assert_close(losses, elbo(model, x.double().to(x.dtype), noise), 1e-6)


def test_float64_stays_float64():
    toy = TOYS["mlp-vae"]
    assert toy.objective(toy.model(), toy.samples, toy.noise).dtype == torch.float64
    assert toy.objective(toy.model(), toy.samples, toy.noise.float()).dtype == torch.float64


def test_the_divergence_of_a_model_in_half_precision_is_taken_in_float32():
    model = MLPVAE(100, 64, generator=torch.Generator().manual_seed(0)).bfloat16()
    x = torch.rand(6, 100, generator=torch.Generator().manual_seed(1)).bfloat16()
    kl = Elbo(part="kl")(model, x, None)
    assert kl.dtype == torch.float32
    assert_close(kl, kl_to_prior(*(code.detach().double() for code in model.encode(x))), 1e-6)
