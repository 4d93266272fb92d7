"""Log densities against those of scikit-learn, and its rules for the bandwidth."""

import numpy as np
import pytest
import sklearn.neighbors
from kernel_density_cases import normal, some_weights
from numpy.testing import assert_allclose

from proponent.density import KernelDensity


def by_scikit_learn(samples, queries, bandwidth, weights=None):
    """With a tree of one leaf: bounds that it adds and subtracts on the way through more cost it digits."""
    fitted = sklearn.neighbors.KernelDensity(bandwidth=bandwidth, leaf_size=len(samples) + 1)
    return fitted.fit(samples, sample_weight=weights).score_samples(queries)


@pytest.mark.parametrize("weights", [None, some_weights(200)], ids=["equal", "weighted"])
@pytest.mark.parametrize(
    ("d", "bandwidth", "offset"),
    [
        (1, 0.1, 0),
        (2, 1e-4, 0),
        (16, 0.7, 0),
        (32, 1.0, 1e6),
        (3, 1e-3, 1e6),
        (32, "scott", 0),
        (5, "silverman", 0),
    ],
)
def test_log_densities_are_those_of_scikit_learn(d, bandwidth, offset, weights):
    samples, queries = offset + normal(200, d), offset + normal(30, d, seed=1)
    density = KernelDensity(bandwidth).fit(samples, sample_weight=weights)
    expected = by_scikit_learn(samples, queries, bandwidth, weights)
    assert_allclose(density.score_samples(queries), expected, rtol=1e-12, atol=1e-10)
    assert density.score(queries) == pytest.approx(expected.sum(), rel=1e-11)


@pytest.mark.parametrize("rule", ["scott", "silverman"])
def test_rules_for_the_bandwidth_are_those_of_scikit_learn(rule):
    samples = normal(50, 4)
    expected = sklearn.neighbors.KernelDensity(bandwidth=rule).fit(samples).bandwidth_
    assert KernelDensity(rule).fit(samples).bandwidth_ == pytest.approx(expected, rel=1e-15)


@pytest.mark.parametrize(
    "bandwidth", [0, -1.0, float("nan"), float("inf"), 1e-310, "scot", None, True, [1.0], 1j], ids=repr
)
def test_bandwidths_that_are_none(bandwidth):
    with pytest.raises(
        ValueError, match='`bandwidth` must be a positive number, "scott" or "silverman", got'
    ):
        KernelDensity().set_params(bandwidth=bandwidth).fit(normal(5, 2))


@pytest.mark.parametrize(("precision", "bandwidth"), [("float64", 1e-200), ("float32", 1e-25)])
def test_bandwidths_beside_which_points_are_too_far_apart(precision, bandwidth):
    message = f"`bandwidth` must not be so small .* beyond {precision}, got {bandwidth:g} and a distance of"
    density = KernelDensity(bandwidth, precision=precision)
    with pytest.raises(ValueError, match=message):
        density.fit(normal(5, 2))
    density.fit(np.zeros((5, 2)))
    with pytest.raises(ValueError, match=message):
        density.score_samples([[1.0, 1.0]])
