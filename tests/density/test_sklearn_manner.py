"""The estimators keep scikit-learn's manner: its own checks pass."""

import jaxtyping
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from proponent.density import GaussianMixture, KernelDensity, KNNDensity, SphericalMixture

ESTIMATORS = [
    KernelDensity(),
    KNNDensity(),
    KNNDensity(1),
    SphericalMixture(),
    SphericalMixture(2),
    GaussianMixture(),
    GaussianMixture(2, covariance_type="spherical"),
]


@pytest.fixture(autouse=True)
def _types_unchecked():
    """The checks hand over what is not of our types, to see how we refuse it."""
    jaxtyping.config.update("jaxtyping_disable", True)
    yield
    jaxtyping.config.update("jaxtyping_disable", False)


@parametrize_with_checks(ESTIMATORS)
def test_keeps_the_manner(estimator, check):
    check(estimator)
