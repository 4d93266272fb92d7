"""Fused codes and divergences equal the formulas, and so do their gradients."""

import pytest
import torch
from kernel_cases import QUIET, normal

from asserts import assert_close
from proponent.kernels._gaussian_code import fused_code

pytestmark = QUIET

N, M = 3, 4


def plain(mean, log_variance, noise):
    z = mean[:, None] + torch.exp(log_variance / 2)[:, None] * noise
    return z, (mean.square() + log_variance.exp() - 1 - log_variance).sum(1) / 2


@pytest.mark.parametrize("own", [True, False])
@pytest.mark.parametrize("d", [1, 5, 8])
@pytest.mark.parametrize("by", ["codes", "divergence", "both"])
def test_values_and_gradients(d, own, by):
    both = normal(N, 2 * d, key=1).requires_grad_()
    noise = normal(*((N, M, d) if own else (M, d)), key=2)
    weights = normal(N, M, d, key=3), normal(N, key=4)
    results = []
    for compute in (fused_code, plain):
        z, kl = compute(*both.chunk(2, 1), noise)
        total = (by != "divergence") * (z * weights[0]).sum() + (by != "codes") * (kl * weights[1]).sum()
        results.append((z, kl, torch.autograd.grad(total, both)[0]))
    for found, expected in zip(*results, strict=True):
        assert found.shape == expected.shape
        assert_close(found, expected, 1e-6)


def test_noise_in_another_order_of_memory():
    mean, log_variance, noise = (
        normal(N, 5, key=1),
        normal(N, 5, key=2),
        normal(M, N, 5, key=3).transpose(0, 1),
    )
    for found, expected in zip(
        fused_code(mean, log_variance, noise), plain(mean, log_variance, noise), strict=True
    ):
        assert_close(found, expected, 1e-6)


def test_it_is_differentiable_once():
    mean, log_variance = normal(N, 5, key=1).requires_grad_(), normal(N, 5, key=2)
    z, _ = fused_code(mean, log_variance, normal(M, 5, key=3))
    (first,) = torch.autograd.grad(z.square().sum(), mean, create_graph=True)
    with pytest.raises(RuntimeError, match="differentiate twice"):
        first.sum().backward()
