import pytest
import torch

from asserts import assert_close
from proponent.density._symmetric import Dense, Diagonal

KINDS = {"dense": Dense(4), "diagonal": Diagonal(4), "pairs": Diagonal(4, 2), "isotropic": Diagonal(4, 4)}
RANDOM = torch.Generator().manual_seed(0)

pytestmark = pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)


def draw(*shape):
    return torch.randn(*shape, dtype=torch.float64, generator=RANDOM)


def full(kind, matrices):
    """As ordinary matrices."""
    if isinstance(kind, Dense):
        return matrices
    return torch.diag_embed(matrices.squeeze(-2).repeat_interleave(kind.repeats, -1))


def positive(kind, count):
    """Positive definite matrices of a kind, ``[count, r, s]``."""
    return kind.moments(torch.ones(count, 9, dtype=torch.float64) / 9, draw(count, 9, 4))


def hermite_rule():
    """Points and weights of a rule that is exact for polynomials of degree 5 under the standard Gaussian."""
    nodes = torch.tensor([-(3**0.5), 0, 3**0.5], dtype=torch.float64)
    weights = torch.tensor([1 / 6, 2 / 3, 1 / 6], dtype=torch.float64)
    points = torch.cartesian_prod(nodes, nodes, nodes, nodes)
    return points, torch.cartesian_prod(weights, weights, weights, weights).prod(1)


def test_features_are_orthonormal(kind):
    points, weights = hermite_rule()
    features = torch.cat([torch.ones(len(points), 1, dtype=torch.float64), points, kind.features(points)], 1)
    assert features.shape[1] == 5 + kind.count
    assert_close((weights[:, None] * features).T @ features, torch.eye(5 + kind.count, dtype=torch.float64))


def test_coordinates_are_those_of_the_features(kind):
    y, v = draw(6, 4), draw(6, kind.count)
    M = full(kind, kind.matrices(v))
    eye = torch.eye(4, dtype=torch.float64)
    assert_close((v * kind.features(y)).sum(1), (M * (y[:, :, None] * y[:, None] - eye)).sum((1, 2)) / 2)
    assert_close(kind.coordinates(kind.matrices(v)), v)
    assert_close(kind.coordinates(kind.squares(y) - kind.identity(y)), kind.features(y))
    assert_close(full(kind, kind.identity(y)), eye)


def test_products_of_features_need_no_features(kind):
    y, z = draw(3, 5, 4), draw(3, 2, 4)
    assert_close(kind.products(y, z, y.dtype), kind.features(y) @ kind.features(z).mT)


def test_moments_are_sums_of_squares(kind):
    weights, y = draw(3, 7).abs(), draw(3, 7, 4)
    assert_close(kind.moments(weights, y), (weights[..., None, None] * kind.squares(y)).sum(1))


def test_algebra_is_that_of_matrices(kind):
    M, y = positive(kind, 3), draw(3, 5, 4)
    L, found = kind.roots(M)
    W = kind.inverse_roots(L)
    whole, root = full(kind, M), full(kind, L)
    assert found.all()
    assert_close(full(kind, kind.product(L, kind.transposed(L))), whole)
    assert_close(root @ root.mT, whole)
    assert_close(full(kind, kind.product(W, L)), torch.eye(4, dtype=torch.float64).expand(3, 4, 4))
    assert_close(kind.apply(L, y), y @ root.mT)
    assert_close(kind.trace(M), whole.diagonal(dim1=1, dim2=2).sum(1))
    assert_close(kind.log_determinant(L), torch.linalg.slogdet(whole)[1] / 2)


def test_some_matrices_have_no_root(kind):
    M = positive(kind, 3)
    M[1] -= 20 * kind.identity(M)
    M[2] = torch.nan
    assert kind.roots(M)[1].tolist() == [True, False, False]
