"""The fused Bernoulli likelihood equals the plain one, and so do its gradients."""

import pytest
import torch
import torch.nn.functional as F
from kernel_cases import DEVICE, QUIET, normal

from asserts import assert_close
from proponent.kernels._bernoulli import fused_bernoulli

pytestmark = QUIET

N, M = 3, 2
FEATURES = {"a-few": (5,), "an-image": (3, 4, 2), "beyond-one-block": (1030,)}


def plain(logits, x):
    return (F.softplus(logits) - logits * x[:, None]).flatten(2).sum(2).mean(1)


def case(features):
    return 3 * normal(N, M, *features, key=1), normal(N, *features, key=2).sigmoid()


@pytest.mark.parametrize("name", FEATURES)
def test_value_and_gradient(name):
    logits, x = case(FEATURES[name])
    logits.requires_grad_()
    found, expected = fused_bernoulli(logits, x), plain(logits.double(), x.double())
    assert_close(found, expected, 1e-6)
    weights = torch.tensor([0.3, 1.0, 2.0], device=DEVICE)
    gradient = torch.autograd.grad(found @ weights, logits, retain_graph=True)[0]
    assert_close(gradient, torch.autograd.grad(expected @ weights.double(), logits)[0], 1e-6)


def test_logits_with_channels_last():
    logits, x = case((3, 4, 2))
    last = logits.flatten(0, 1).to(memory_format=torch.channels_last).view(logits.shape).requires_grad_()
    expected = plain(last, x)
    assert_close(fused_bernoulli(last, x), expected, 1e-6)
    found, truth = (torch.autograd.grad(loss.sum(), last)[0] for loss in (fused_bernoulli(last, x), expected))
    assert_close(found, truth, 1e-6)


def test_extreme_logits():
    logits = torch.tensor([[[80.0, -80.0, 1e4, -1e4]]], device=DEVICE).requires_grad_()
    x = torch.tensor([[0.0, 1.0, 1.0, 0.0]], device=DEVICE)
    loss = fused_bernoulli(logits, x)
    assert_close(loss, [160.0], 1e-6)
    assert_close(torch.autograd.grad(loss.sum(), logits)[0], [[[1.0, -1.0, 0.0, 0.0]]], 1e-6)


def test_bfloat16_is_summed_in_float32():
    logits, x = case((1030,))
    half = logits.bfloat16().requires_grad_()
    found = fused_bernoulli(half, x)
    assert found.dtype == torch.float32
    assert_close(found, plain(half.detach().float(), x), 1e-5)
    (gradient,) = torch.autograd.grad(found.sum(), half)
    assert gradient.dtype == torch.bfloat16
    expected = (half.detach().float().sigmoid() - x[:, None]) / M
    assert_close(gradient, expected, 4e-3)


def test_second_derivatives():
    logits, x = case((5,))
    logits.requires_grad_()

    def second(loss):
        (first,) = torch.autograd.grad(loss.sum(), logits, create_graph=True)
        return torch.autograd.grad(first.square().sum(), logits)[0]

    assert_close(second(fused_bernoulli(logits, x)), second(plain(logits, x)), 1e-5)
