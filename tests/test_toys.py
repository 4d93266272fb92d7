import pytest
import torch

from asserts import assert_batch_size_invariant, assert_gradients_close, assert_order_equivariant
from reference import flat, losses, per_sample_gradients
from toys import COUPLED, TOYS

WITHOUT_GRADIENT = {"unused": "unused", "mlp-vae-kl": "decoder"}  # toy: the part that its loss leaves out


def gradients_at_once(toy, model):
    """The gradient of the summed loss, which is the sum of the per-sample ones where samples stand apart."""
    parameters = {name: p for name, p in model.named_parameters() if p.requires_grad}
    total = toy.objective(model, toy.samples, toy.noise).sum()
    return torch.autograd.grad(total, list(parameters.values()), allow_unused=True, materialize_grads=True)


@pytest.mark.parametrize("toy", TOYS.values(), ids=TOYS)
def test_every_parameter_of_a_toy_has_a_gradient_and_samples_stand_apart(toy):
    model = toy.model()
    gradients = per_sample_gradients(model, toy.objective, toy.samples, toy.noise)
    for name, gradient in gradients.items():
        left_out = name.startswith(WITHOUT_GRADIENT.get(toy.name, "none"))
        assert bool(gradient.any()) != left_out, name
    for gradient, whole in zip(gradients.values(), gradients_at_once(toy, model), strict=True):
        torch.testing.assert_close(gradient.sum(0), whole, rtol=1e-9, atol=1e-9)
    assert_batch_size_invariant(lambda batch: toy.objective(model, batch, toy.noise), toy.samples)
    assert_order_equivariant(lambda batch: toy.objective(model, batch, toy.noise), toy.samples)


@pytest.mark.parametrize("toy", COUPLED.values(), ids=COUPLED)
def test_coupled_toys_are_coupled(toy):
    model = toy.model()
    with pytest.raises((AssertionError, ValueError)):
        assert_batch_size_invariant(lambda batch: toy.objective(model, batch, toy.noise), toy.samples)


@pytest.mark.parametrize("name", [name for name, toy in TOYS.items() if toy.gradients])
def test_reference_agrees_with_the_closed_form(name):
    toy = TOYS[name]
    model = toy.model()
    actual = per_sample_gradients(model, toy.objective, toy.samples, toy.noise)
    assert_gradients_close(actual, toy.gradients(model, toy.samples, toy.noise), 1e-12)


def test_one_seed_is_one_model():
    toy = TOYS["mlp-vae"]
    first, again, other = toy.model(0), toy.model(0), toy.model(1)
    noise = toy.noise
    values = [losses(model, toy.objective, toy.samples, noise) for model in (first, again, other)]
    assert torch.equal(values[0], values[1])
    assert not torch.allclose(values[0], values[2])
    gradients = [per_sample_gradients(model, toy.objective, toy.samples, noise) for model in (first, again)]
    assert torch.equal(flat(gradients[0]), flat(gradients[1]))
