import math

import pytest
import torch
from torch.autograd.functional import jacobian

from asserts import assert_close
from proponent.density._gaussians import Gaussians, Moments, expectations, from_natural, likeliest, natural
from proponent.density._symmetric import Dense, Diagonal

KINDS = {"dense": Dense(3), "diagonal": Diagonal(3), "isotropic": Diagonal(3, 3)}
RANDOM = torch.Generator().manual_seed(0)

pytestmark = [
    pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS),
    pytest.mark.parametrize("covariances", [2, 1], ids=["each", "shared"]),
]


def draw(*shape):
    return torch.randn(*shape, dtype=torch.float64, generator=RANDOM)


def make_gaussians(kind, covariances, batch=5):
    """Two Gaussians in each of a batch."""
    weights = torch.ones(batch, covariances, 20, dtype=torch.float64) / 20
    return Gaussians(kind, draw(batch, 2, 3), kind.moments(weights, draw(batch, covariances, 20, 3)))


def log_density(gaussians, y):
    kind, (L, _) = gaussians.kind, gaussians.kind.roots(gaussians.covariances)
    white = kind.apply(kind.inverse_roots(L), (y - gaussians.means)[..., None, :]).squeeze(-2)
    return -white.square().sum(-1) / 2 - kind.log_determinant(L) - 1.5 * math.log(2 * math.pi)


def test_log_densities_are_linear_in_natural_coordinates(kind, covariances):
    gaussians, y = make_gaussians(kind, covariances), draw(3)
    h, v, found = natural(gaussians)
    again, A, exists = from_natural(kind, h, v)
    assert found.all()
    assert exists.all()
    assert_close(again.means, gaussians.means)
    assert_close(again.covariances, gaussians.covariances)
    standard = -y.square().sum() / 2 - 1.5 * math.log(2 * math.pi)
    linear = (h * y).sum(-1) + (v * kind.features(y)).sum(-1) - A
    assert_close(linear, log_density(gaussians, y) - standard)


def test_expectations_are_the_gradient(kind, covariances):
    h, v, _ = natural(make_gaussians(kind, covariances))
    gradient = jacobian(lambda h, v: from_natural(kind, h, v)[1].sum(), (h, v))
    first, second = expectations(from_natural(kind, h, v)[0])
    assert_close(first, gradient[0])
    assert_close(second if covariances == 2 else second.sum(1, keepdim=True), gradient[1])


def test_the_likeliest_have_the_moments(kind, covariances):
    gaussians, counts = make_gaussians(kind, 2), draw(5, 2).abs()
    first, second = expectations(gaussians)
    first, second = counts[..., None] * first, counts[..., None] * second
    if covariances == 1:
        second = second.sum(1, keepdim=True)
    found = likeliest(kind, Moments(counts, first, second, counts.sum(1)))
    y, psi = expectations(found)
    psi = counts[..., None] * psi
    assert found.covariances.shape[1] == covariances
    assert_close(counts[..., None] * y, first)
    assert_close(psi if covariances == 2 else psi.sum(1, keepdim=True), second)


def test_some_coordinates_belong_to_no_gaussian(kind, covariances):
    gaussians = make_gaussians(kind, covariances)
    gaussians.covariances[1] -= 50 * kind.identity(gaussians.means)
    assert natural(gaussians)[2].tolist() == [True, False, True, True, True]
    v = torch.full((2, covariances, kind.count), 5.0, dtype=torch.float64)
    assert from_natural(kind, draw(2, 2, 3), v * torch.tensor([0.0, 1.0])[:, None, None])[2].tolist() == [
        True,
        False,
    ]
