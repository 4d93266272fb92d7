import mixture_reference as reference
import numpy as np
import pytest
import torch
from torch.autograd import functional

from asserts import assert_close
from proponent.density._components import Mixture
from proponent.density._coordinates import Coordinates
from proponent.density._covariance_types import covariance_type_named
from proponent.density._curvature import Curvature, curvature, hessian, scores
from proponent.density._em import maximised
from proponent.density._gaussians import from_natural
from proponent.density._place import Place

PLACE = Place.asked_for(None, "float64", None)
SAMPLES = torch.as_tensor(reference.make_components(60))


def make_mixture(covariance_type, dimension=2):
    """A mixture that is no optimum."""
    kind = covariance_type_named(covariance_type).kind(dimension)
    generator = torch.Generator().manual_seed(1)
    count = 1 if covariance_type == "tied" else 3
    scatter = torch.randn(count, 9, dimension, generator=generator, dtype=torch.float64)
    covariances = kind.moments(torch.ones(count, 9, dtype=torch.float64) / 4, scatter)
    means = 2 * torch.randn(3, dimension, generator=generator, dtype=torch.float64)
    weights = torch.tensor([0.2, 0.5, 0.3], dtype=torch.float64)
    return Mixture(kind, weights, means, kind.roots(covariances)[0])


def density_at(mixture, points):
    """The log densities of points as a function of coordinates around a mixture."""
    y = mixture.whitened(points)
    psi, base, at = mixture.kind.features(y), mixture.log_joint(y), Coordinates.near(mixture)

    def density(point):
        logits, h, v = at.split(point)
        A = from_natural(mixture.kind, h, v)[1]
        joint = base + logits[:, None] + (h[:, None] * y).sum(-1) + (v[:, None] * psi).sum(-1) - A[:, None]
        return joint.logsumexp(0) - (mixture.weights.log() + logits).logsumexp(0)

    return density, torch.zeros(at.total, dtype=torch.float64)


@pytest.mark.parametrize("covariance_type", reference.TYPES)
def test_scores_and_hessian_are_those_of_autograd_anywhere(covariance_type):
    mixture = make_mixture(covariance_type)
    density, origin = density_at(mixture, SAMPLES)
    assert_close(scores(mixture, mixture.whitened(SAMPLES)), functional.jacobian(density, origin))
    H = hessian(mixture, SAMPLES, mixture.moments(SAMPLES, PLACE).counts, PLACE)
    at = Coordinates.near(mixture)
    gauge = torch.zeros_like(origin)
    gauge[: 3 * at.width : at.width] = at.scales  # the same for all logits
    truth = functional.hessian(lambda point: -density(point).mean(), origin)
    assert_close(truth @ gauge, 0 * gauge, 1e-12)
    assert_close(H, truth + gauge[:, None] * gauge)


@pytest.mark.parametrize("covariance_type", reference.TYPES)
def test_small_chunks_give_the_same(covariance_type):
    mixture = make_mixture(covariance_type)
    small = Place.asked_for(None, "float64", 2000)
    moments = mixture.moments(SAMPLES, PLACE)
    assert_close(mixture.moments(SAMPLES, small).second, moments.second)
    assert_close(
        hessian(mixture, SAMPLES, moments.counts, small), hessian(mixture, SAMPLES, moments.counts, PLACE)
    )


@pytest.mark.parametrize("covariance_type", reference.TYPES)
def test_split_undoes_point(covariance_type):
    at = Coordinates.near(make_mixture(covariance_type))
    point = torch.randn(7, at.total, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    assert_close(at.point(*at.split(point)), point)


def test_the_smallest_curvature_is_the_smallest_eigenvalue():
    mixture = maximised(make_mixture("full"), SAMPLES, PLACE, 1e-12, 1000).mixture
    H = hessian(mixture, SAMPLES, mixture.weights, PLACE)
    eigenvalues, found = torch.linalg.eigvalsh(H), curvature(mixture, SAMPLES, PLACE)
    assert found.smallest == pytest.approx(float(eigenvalues[0]), rel=1e-6)
    assert eigenvalues[0] > 0
    assert eigenvalues[-1] <= 1 + 1e-12
    assert_close(found.root @ found.root.T, H)


def test_em_converges_at_the_rate_that_the_curvature_tells():
    mixture = maximised(make_mixture("full"), SAMPLES, PLACE, 1e-12, 1000).mixture
    ends = mixture.weights.numpy(), mixture.means.numpy(), mixture.covariances().numpy()
    weights, means, covariances = ends[0], ends[1] + 1e-4, ends[2]
    distances = []
    for steps in (20, 5):
        weights, means, covariances = reference.em(
            SAMPLES.numpy(), weights, means, covariances, "full", steps
        )
        distances.append(np.linalg.norm(means - ends[1]))
    rate = (distances[1] / distances[0]) ** (1 / 5)
    assert rate == pytest.approx(1 - curvature(mixture, SAMPLES, PLACE).smallest, rel=2e-3)


def test_lengths_are_those_of_solved_scores():
    mixture = maximised(make_mixture("tied"), SAMPLES, PLACE, 1e-10, 1000).mixture
    G, found = scores(mixture, mixture.whitened(SAMPLES)), curvature(mixture, SAMPLES, PLACE)
    assert_close(found.lengths(G), (found.solve(G) * G).sum(1))
    assert_close(Curvature(None, 1.0).lengths(G), (G * G).sum(1))


def test_a_point_of_rest_that_is_no_maximum():
    mixture = make_mixture("full")
    same = Mixture(
        mixture.kind,
        mixture.weights,
        *(part[:1].repeat(3, *[1] * (part.ndim - 1)) for part in (mixture.means, mixture.roots)),
    )
    found = maximised(same, SAMPLES, PLACE, 1e-10, 1000)
    assert found.is_stationary
    with pytest.raises(ValueError, match="must be at a strict maximum of the likelihood, but it is curved"):
        curvature(found.mixture, SAMPLES, PLACE)


def test_more_parameters_than_the_machine_has_room_for():
    kind = covariance_type_named("full").kind(1000)
    root = torch.eye(1000, dtype=torch.float64).expand(2, -1, -1)
    mixture = Mixture(kind, torch.tensor([0.5, 0.5]).double(), torch.zeros(2, 1000).double(), root)
    with pytest.raises(ValueError, match=r"1003002 parameters, .* 21.96 TiB, but the machine has"):
        curvature(mixture, torch.zeros(3, 1000).double(), PLACE)
