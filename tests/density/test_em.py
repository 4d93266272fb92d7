import dataclasses

import mixture_reference as reference
import numpy as np
import pytest
import torch
from sklearn.mixture import GaussianMixture

from asserts import assert_close
from proponent.density._components import Mixture
from proponent.density._covariance_types import covariance_type_named
from proponent.density._em import NoMaximumError, maximised
from proponent.density._place import Place
from proponent.density._start import resumed, started

PLACE = Place.asked_for(None, "float64", None)
SAMPLES = reference.make_components(90)
SAMPLES -= SAMPLES.mean(0)


def start(covariance_type, samples=SAMPLES, components=3):
    return started(samples, components, covariance_type_named(covariance_type), PLACE, random_state=0)


def fitted(covariance_type, tol=1e-10, max_iter=1000):
    return maximised(start(covariance_type), torch.as_tensor(SAMPLES), PLACE, tol, max_iter)


@pytest.mark.parametrize("covariance_type", reference.TYPES)
def test_it_ends_where_plain_em_rests(covariance_type):
    found = fitted(covariance_type)
    mixture = found.mixture
    kept = covariance_type_named(covariance_type)
    covariances = reference.dense(kept.shown(mixture.covariances(), 3, 2), covariance_type, 3, 2)
    ends = mixture.weights.numpy(), mixture.means.numpy(), covariances
    for before, after in zip(ends, reference.em(SAMPLES, *ends, covariance_type, 1), strict=True):
        assert_close(before, after, 1e-9)
    assert found.is_stationary
    assert found.gradient_norm < 1e-10
    assert found.log_likelihood == pytest.approx(reference.log_densities(SAMPLES, *ends).mean(), rel=1e-12)


@pytest.mark.parametrize("covariance_type", reference.TYPES)
def test_it_ends_where_scikit_learn_would_without_its_constant(covariance_type):
    theirs = GaussianMixture(
        3, covariance_type=covariance_type, reg_covar=0, tol=1e-15, max_iter=3000, random_state=0
    ).fit(SAMPLES)
    found = fitted(covariance_type)
    order = np.argsort(theirs.means_[:, 0]), np.argsort(found.mixture.means[:, 0].numpy())
    assert_close(found.mixture.means[order[1]], theirs.means_[order[0]], 1e-5)
    assert found.log_likelihood == pytest.approx(theirs.lower_bound_, abs=1e-12)


def test_newton_arrives_where_as_many_steps_of_em_do_not():
    begin, found = start("tied"), fitted("tied")
    ends = begin.weights.numpy(), begin.means.numpy(), begin.covariances().numpy().repeat(3, 0)
    _, near, _ = reference.em(SAMPLES, *ends, "tied", found.n_iter)
    _, end, _ = reference.em(SAMPLES, *ends, "tied", 1000)
    assert found.n_iter < 25
    assert np.abs(found.mixture.means.numpy() - end).max() < 1e-8
    assert np.abs(near - end).max() > 1e-4


def test_the_likelihood_never_falls():
    likelihoods = [fitted("full", max_iter=steps).log_likelihood for steps in range(8)]
    assert (np.diff(likelihoods) > -1e-14).all()


def test_it_says_that_it_has_not_arrived():
    found = fitted("full", max_iter=2)
    assert not found.is_stationary
    assert found.n_iter == 2
    assert found.gradient_norm > 1e-10


@pytest.mark.parametrize("covariance_type", ["full", "diag", "spherical"])
def test_a_component_on_copies_of_a_point(covariance_type):
    samples = np.concatenate([SAMPLES, np.full((9, 2), 20.0)])
    with pytest.raises(
        NoMaximumError, match=r"Component 1, of weight 0.091, has collapsed: its covariance is"
    ):
        maximised(start(covariance_type, samples, 2), torch.as_tensor(samples), PLACE, 1e-10, 1000)


def test_components_that_share_a_covariance_and_leave_nothing_for_it():
    samples = np.repeat([[0.0, 0.0], [5.0, 0.0], [0.0, 5.0]], 4, 0) + np.tile([[0.0, 1e-9]], (12, 1))
    with pytest.raises(NoMaximumError, match="The covariance that the components share has become singular"):
        maximised(start("tied", samples), torch.as_tensor(samples), PLACE, 1e-10, 1000)


def test_a_component_that_vanishes():
    mixture = start("spherical")
    far = dataclasses.replace(mixture, means=mixture.means + torch.tensor([[0.0], [0.0], [1e3]]).double())
    with pytest.raises(NoMaximumError, match="keep some weight, but that of component 2 has fallen to"):
        maximised(far, torch.as_tensor(SAMPLES), PLACE, 1e-10, 1000)


def test_starts_by_scikit_learn_that_fail():
    with pytest.raises(ValueError, match="must have a start, but scikit-learn finds none: The 'init_params'"):
        started(SAMPLES, 3, covariance_type_named("full"), PLACE, init_params="guess")


@pytest.mark.parametrize("covariance_type", reference.TYPES)
def test_a_mixture_that_is_given_is_taken(covariance_type):
    fitted = GaussianMixture(3, covariance_type=covariance_type, random_state=0).fit(SAMPLES)
    given = {
        "weights_init": fitted.weights_,
        "means_init": fitted.means_,
        "precisions_init": fitted.precisions_,
    }
    mixture = resumed(given, 3, 2, covariance_type_named(covariance_type), PLACE)
    assert isinstance(mixture, Mixture)
    assert_close(
        covariance_type_named(covariance_type).shown(mixture.covariances(), 3, 2), fitted.covariances_
    )
    assert_close(mixture.log_densities(torch.as_tensor(SAMPLES), PLACE), fitted.score_samples(SAMPLES))
