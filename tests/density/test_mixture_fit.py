"""Where the fit of a mixture starts and ends, and what can not be fitted."""

import re

import mixture_reference as reference
import numpy as np
import pytest
import sklearn.mixture
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from asserts import assert_close
from proponent.density import GaussianMixture

SAMPLES = reference.make_components(90)


QUERIES = np.concatenate([reference.make_components(9), [[30.0, -20.0]]])


@pytest.mark.parametrize("covariance_type", reference.TYPES)
def test_it_fits_as_scikit_learn_does(covariance_type):
    options = {"covariance_type": covariance_type, "random_state": 0}
    theirs = sklearn.mixture.GaussianMixture(3, reg_covar=0, tol=1e-15, max_iter=2000, **options).fit(SAMPLES)
    ours = GaussianMixture(3, **options).fit(SAMPLES)
    assert ours.covariances_.shape == theirs.covariances_.shape
    assert_allclose(ours.score_samples(QUERIES), theirs.score_samples(QUERIES), rtol=1e-5)
    assert ours.score(QUERIES) == pytest.approx(ours.score_samples(QUERIES).mean())
    assert ours.lower_bound_ == pytest.approx(theirs.lower_bound_, abs=1e-12)
    assert ours.lower_bound_ == pytest.approx(ours.score(SAMPLES))
    assert ours.converged_
    assert ours.gradient_norm_ <= 1e-10
    assert ours.weights_.sum() == pytest.approx(1)


@pytest.mark.parametrize("covariance_type", reference.TYPES)
def test_it_goes_on_from_what_is_given(covariance_type):
    theirs = sklearn.mixture.GaussianMixture(3, covariance_type=covariance_type, random_state=0).fit(SAMPLES)
    ours = GaussianMixture(
        3,
        covariance_type=covariance_type,
        weights_init=theirs.weights_,
        means_init=theirs.means_,
        precisions_init=theirs.precisions_,
    ).fit(SAMPLES)
    changes = ours.score_samples(SAMPLES) - theirs.score_samples(SAMPLES)
    assert ours.moved_ == pytest.approx((changes**2).mean() ** 0.5)
    assert ours.moved_ == ours.influence(QUERIES).facts["moved"]
    assert 0 < ours.moved_ < 0.5


def test_it_stays_where_it_ended():
    ours = GaussianMixture(3).fit(SAMPLES)
    again = clone(ours).set_params(**reference.start_of(ours)).fit(SAMPLES)
    assert_close(again.influence(QUERIES), ours.influence(QUERIES), 1e-7)


def test_one_or_two_of_the_starting_values_are_scikit_learns():
    centres = SAMPLES[:3] + 0.1
    theirs = sklearn.mixture.GaussianMixture(3, means_init=centres, random_state=0, tol=1e-10, max_iter=2000)
    ours = GaussianMixture(3, means_init=centres).fit(SAMPLES)
    assert_allclose(ours.score_samples(QUERIES), theirs.fit(SAMPLES).score_samples(QUERIES), rtol=1e-3)


def test_a_fit_that_does_not_converge_warns_and_has_no_influence():
    mixture = GaussianMixture(3, max_iter=1)
    with pytest.warns(
        ConvergenceWarning, match="EM did not converge within `max_iter`=1 steps: the gradient's"
    ):
        mixture.fit(SAMPLES)
    assert not mixture.converged_
    assert np.isfinite(mixture.score_samples(QUERIES)).all()
    for ask in (
        mixture.self_influence,
        lambda: mixture.influence(QUERIES),
        lambda: mixture.leave_one_out(QUERIES),
    ):
        with pytest.raises(
            ValueError, match="must be at a maximum of the likelihood for its influence, but the"
        ):
            ask()


def test_components_that_are_the_same_have_no_influence():
    start = {"weights_init": [0.5, 0.5], "means_init": np.zeros((2, 2)), "precisions_init": [np.eye(2)] * 2}
    mixture = GaussianMixture(2, **start).fit(SAMPLES)
    with pytest.raises(ValueError, match="must be at a strict maximum of the likelihood"):
        mixture.influence(QUERIES)


EYES = np.stack([np.eye(2)] * 3)


@pytest.mark.parametrize(
    ("change", "samples", "message"),
    [
        (
            {"covariance_type": "round"},
            SAMPLES,
            "`covariance_type` must be one of full, tied, diag, spherical",
        ),
        ({"n_components": 0}, SAMPLES, "`n_components` must be a whole number of at least 1, got 0"),
        ({"n_components": True}, SAMPLES, "`n_components` must be a whole number of at least 1, got True"),
        ({"n_components": 91}, SAMPLES, "`n_components` must be at most the 90 samples, got 91"),
        ({"tol": 0}, SAMPLES, "`tol` must be a number above 0, got 0"),
        ({"max_iter": 0}, SAMPLES, "`max_iter` must be a whole number of at least 1, got 0"),
        ({"init_params": "guess"}, SAMPLES, "scikit-learn finds none: The 'init_params' parameter"),
        ({}, SAMPLES[:1], "`X` must have at least 2 samples for a mixture, got 1 sample"),
        ({}, np.full((5, 2), np.nan), "contains NaN"),
        ({}, np.zeros((0, 2)), "0 sample"),
        (
            {"n_components": 1},
            np.eye(3)[:2],
            'must have more samples than features for `covariance_type="full"',
        ),
        ({"n_components": 1}, np.eye(4)[:, :2] * [1, 0], "feature 1 is constant. Drop it"),
        ({"covariance_type": "diag"}, SAMPLES * [0, 1], "but feature 0 is constant. Drop it"),
        ({"covariance_type": "diag"}, SAMPLES * 0, "but 2 features are constant: 0, 1. Drop them"),
        (
            {"covariance_type": "spherical"},
            SAMPLES * 0,
            "must have samples that differ, but all 90 are the same",
        ),
        ({"covariance_type": "tied"}, SAMPLES[:, [0, 1, 0]], "must have linearly independent features"),
        ({}, np.concatenate([SAMPLES, np.full((40, 2), 50.0)]), "has collapsed: its covariance is singular"),
        ({"means_init": np.zeros((2, 2))}, SAMPLES, "scikit-learn finds none: The parameter 'means'"),
        (
            {"weights_init": [0.5, 0.6, 0.1], "means_init": EYES[0], "precisions_init": EYES},
            SAMPLES,
            "`weights_init` must be 3 positive numbers that sum to 1, got [0.5, 0.6, 0.1]",
        ),
        (
            {"weights_init": [0.5, 0.4, 0.1], "means_init": EYES[0], "precisions_init": EYES},
            SAMPLES,
            "`means_init` must be finite numbers of the shape (3, 2), got numbers of the shape (2, 2)",
        ),
        (
            {"weights_init": [0.5, 0.4, 0.1], "means_init": EYES[:, 0], "precisions_init": EYES[0]},
            SAMPLES,
            '`precisions_init` must have the shape (3, 2, 2) for `covariance_type="full"`, got (2, 2)',
        ),
        (
            {"weights_init": [0.5, 0.4, 0.1], "means_init": EYES[:, 0], "precisions_init": -EYES},
            SAMPLES,
            "`precisions_init` must be positive definite, but at least one of them is not",
        ),
    ],
)
def test_what_can_not_be_fitted(change, samples, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        GaussianMixture(**{"n_components": 3, **change}).fit(samples)
