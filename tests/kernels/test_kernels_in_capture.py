"""A capture on a GPU, where fused kernels serve it, has the gradients of the dense reference."""

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from asserts import assert_close
from proponent.gradients import GradientCapture, inner_products, squared_norms
from proponent.kernels import has_kernels
from proponent.objectives import objective
from reference import flat, per_sample_gradients
from toys import TOYS, normal, per_sample, plain

HAS_KERNELS = torch.cuda.is_available() and has_kernels(torch.zeros(1, device="cuda"))
pytestmark = pytest.mark.skipif(not HAS_KERNELS, reason="needs a Hopper GPU with Triton")
PRECISIONS = [("tf32", 5e-3), ("bfloat16", 5e-2)]
CONVOLUTIONS = [name for name in TOYS if name.startswith("conv")]


def on_gpu(model, loss, precision):
    return GradientCapture(model, loss, precision=precision, device="cuda")


@pytest.mark.parametrize(("precision", "tolerance"), PRECISIONS)
@pytest.mark.parametrize("prepared", [True, False])
@pytest.mark.parametrize(
    "name", [*CONVOLUTIONS, "mlp-vae", "noise-draws-first", "embedding", "loose-parameter"]
)
def test_toys(name, prepared, precision, tolerance):
    """Without `prepare`, the probe runs within a rounded pass: it must see the plain functions."""
    toy = TOYS[name]
    model = toy.model()
    expected = flat(per_sample_gradients(model, toy.objective, toy.samples, toy.noise))
    capture = on_gpu(model, toy.objective, precision)
    if prepared:
        capture.prepare(toy.samples, toy.noise)
    found = capture(toy.samples, toy.noise)
    assert_close(found.materialise(), expected, tolerance)
    assert_close(inner_products(found, found), expected @ expected.T, 2 * tolerance)
    assert_close(squared_norms(found), expected.square().sum(1), 2 * tolerance)


class MadeWeight(nn.Module):
    """A convolution whose weight, and another whose bias, a layer makes."""

    def __init__(self):
        super().__init__()
        self.maker, self.shift = nn.Linear(3, 24), nn.Linear(3, 3)
        self.register_buffer("code", torch.tensor([0.3, -1.0, 0.5]))
        self.plain = nn.Parameter(torch.randn(3, 3, 2, 2))

    def forward(self, x):
        hidden = F.conv2d(x, self.maker(self.code).view(3, 2, 2, 2))
        return F.conv2d(torch.tanh(hidden), self.plain, self.shift(self.code))


@pytest.mark.parametrize(("precision", "tolerance"), PRECISIONS)
def test_weights_that_a_layer_makes_pass_their_gradient_on(precision, tolerance):
    model, samples = MadeWeight().double(), normal(4, 2, 6, 5)
    expected = flat(per_sample_gradients(model, plain, samples, None))
    capture = on_gpu(model, plain, precision)
    capture.prepare(samples, None)
    assert_close(capture(samples, None).materialise(), expected, tolerance)


@pytest.mark.parametrize(("precision", "tolerance"), PRECISIONS)
def test_a_batch_that_takes_another_way(precision, tolerance):
    """Its plan is made within a rounded pass."""
    model = nn.Sequential(nn.Conv2d(2, 3, 3), nn.Tanh(), nn.Conv2d(3, 2, 2)).double()
    loss = objective(lambda m, x, noise: per_sample(m(x) if x.shape[-1] < 6 else m[0](x)))
    capture = on_gpu(model, loss, precision)
    capture.prepare(normal(4, 2, 5, 5), None)
    samples = normal(4, 2, 6, 6)
    expected = flat(per_sample_gradients(model, loss, samples, None))
    assert_close(capture(samples, None).materialise(), expected, tolerance)
