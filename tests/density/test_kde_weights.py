"""Kernel densities of samples with weights."""

import math

import numpy as np
import pytest
from kernel_density_cases import among, assert_equals_refits, normal, some_weights
from numpy.testing import assert_allclose

from asserts import assert_close
from proponent.density import KernelDensity


@pytest.mark.parametrize("share", [0.5, 0.5 + 1e-12, 0.9, 1 - 1e-9])
def test_shares_about_a_half(share):
    samples, queries = np.zeros((2, 1)), np.zeros((1, 1))
    scores = KernelDensity().fit(samples, sample_weight=[share, 1 - share]).influence(queries).values
    assert_allclose(scores, 0, atol=1e-8)  # the other is a copy: removing one changes nothing
    samples[1] = 2.0
    assert_equals_refits(samples, np.array([[0.0], [1.0], [2.0]]), 1.0, np.array([share, 1 - share]))


def test_a_sample_without_weight_has_no_influence():
    samples, weights = normal(30, 2), some_weights(30)
    weights[[0, 7, 29]] = 0
    density = KernelDensity(0.6).fit(samples, sample_weight=weights)
    queries = among(samples)
    scores, own = density.influence(queries).values, density.self_influence().values
    assert (scores[[0, 7, 29]] == 0).all()
    assert (own[[0, 7, 29]] == 0).all()
    kept = weights > 0
    without = KernelDensity(0.6).fit(samples[kept], sample_weight=weights[kept])
    assert_close(scores[kept], without.influence(queries).values)
    assert_close(density.score_samples(queries), without.score_samples(queries))
    assert_equals_refits(samples, queries, 0.6, weights)


def test_samples_without_weight_come_first():
    samples, weights = normal(20, 2), np.repeat([0.0, 1.0], 10)
    assert_equals_refits(samples, among(samples), 0.6, weights, memory_budget=100)


def test_the_only_sample_with_weight():
    density = KernelDensity().fit(normal(3, 2), sample_weight=[0, 2, 0])
    expected = np.array([0, np.inf, 0])
    assert (density.influence(normal(4, 2, seed=1)).values == expected[:, None]).all()
    assert (density.self_influence().values == expected).all()


def test_the_scale_of_weights_does_not_matter():
    samples, queries, weights = normal(20, 2), normal(5, 2, seed=1), some_weights(20)
    first = KernelDensity().fit(samples, sample_weight=weights)
    for scale in (1e-300, 1e300):
        second = KernelDensity().fit(samples, sample_weight=weights * scale)
        assert_close(second.influence(queries).values, first.influence(queries).values, 1e-12)
        assert_close(second.self_influence().values, first.self_influence().values, 1e-12)
        assert_close(second.score_samples(queries), first.score_samples(queries), 1e-12)


def test_weights_of_one_are_no_weights():
    samples, queries = normal(20, 2), among(normal(20, 2))
    plain, weighted = (
        KernelDensity().fit(samples),
        KernelDensity().fit(samples, sample_weight=np.full(20, 3.0)),
    )
    assert_close(weighted.influence(queries).values, plain.influence(queries).values, 1e-13)
    assert_close(weighted.score_samples(queries), plain.score_samples(queries), 1e-13)


def test_a_weight_beside_which_all_others_are_nothing():
    samples = np.array([[0.0], [1.0], [2.0]])
    weights = np.array([1.0, 1e-30, 1e-30])
    scores = KernelDensity().fit(samples, sample_weight=weights).influence([[1.0]]).values[:, 0]
    # log(2e-30) is left of the weight, and of the sum at 1 the others' e^0 + e^(-1/2) of e^(-1/2) as much
    expected = math.log(2) - math.log(math.exp(0.5) + 1)
    assert scores[0] == pytest.approx(expected, rel=1e-12)
    assert_allclose(scores[1:], 0, atol=1e-29)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (np.ones(4), r"`sample_weight` must be one weight for each of the 5 samples, got shape \(4,\)"),
        (np.ones((5, 1)), r"one weight for each of the 5 samples, got shape \(5, 1\)"),
        ([1, 1, -0.5, 1, 1], "must be finite and not negative, but sample 2 has -0.5"),
        ([1, float("nan"), 1, 1, 1], "must be finite and not negative, but sample 1 has nan"),
        ([1, 1, 1, 1, float("inf")], "must be finite and not negative, but sample 4 has inf"),
        (np.zeros(5), "`sample_weight` must have a positive weight, but all of them are zero"),
    ],
)
def test_weights_that_can_not_be_used(weights, message):
    with pytest.raises(ValueError, match=message):
        KernelDensity().fit(normal(5, 2), sample_weight=weights)
