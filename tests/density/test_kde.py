"""The influence on kernel density estimates against refits without each sample."""

import math
import warnings

import numpy as np
import pytest
import torch
from kernel_density_cases import among, assert_equals_refits, normal, some_weights
from numpy.testing import assert_allclose

from asserts import assert_close, assert_same_bits
from proponent.density import KernelDensity


@pytest.mark.parametrize("weights", [None, some_weights(60)], ids=["equal", "weighted"])
@pytest.mark.parametrize(("d", "bandwidth"), [(1, 0.2), (1, 3.0), (2, 0.5), (16, 1.1), (64, 0.9), (64, 4.0)])
def test_equals_refits_without_each_sample(d, bandwidth, weights):
    samples = normal(60, d)
    assert_equals_refits(samples, among(samples), bandwidth, weights)


@pytest.mark.parametrize("bandwidth", [0.5, 3.0])  # by differences, by products
def test_a_thousand_dimensions(bandwidth):
    samples = normal(30, 1000)
    assert_equals_refits(samples, among(samples, count=3), bandwidth)


@pytest.mark.parametrize("offset", [1e6, -1e6])
@pytest.mark.parametrize("bandwidth", [1e-3, 0.8])
def test_far_from_the_origin_nothing_is_lost(offset, bandwidth):
    samples = offset + normal(40, 3)
    assert_equals_refits(samples, among(samples), bandwidth)


@pytest.mark.parametrize("bandwidth", [1e-100, 1e-9, 1e-4])
def test_tiny_bandwidths(bandwidth):
    samples = normal(40, 3)
    assert_equals_refits(samples, among(samples), bandwidth)


def test_neighbours_that_only_differences_tell_apart():
    samples = np.concatenate([normal(20, 2), 5 + 1e-9 * normal(20, 2)])
    assert_equals_refits(samples, 5 + 1e-9 * normal(6, 2, seed=2), 1e-9)


@pytest.mark.parametrize("scale", [1e-200, 1e200])
def test_the_unit_of_the_data_does_not_matter(scale):
    samples, queries = normal(40, 3), normal(5, 3, seed=1)
    ours = KernelDensity(0.5).fit(samples)
    theirs = KernelDensity(0.5 * scale).fit(samples * scale)
    assert_close(theirs.influence(queries * scale).values, ours.influence(queries).values, 1e-12)
    assert_close(theirs.self_influence().values, ours.self_influence().values, 1e-12)
    shift = 3 * math.log(scale)
    assert_close(theirs.score_samples(queries * scale) + shift, ours.score_samples(queries), 1e-11)


def test_a_density_that_no_number_is_small_enough_for():
    samples = normal(30, 2)
    queries = np.array([[1e3, 0.0], [1e4, 1e4], [-1e5, 3.0]])
    assert (KernelDensity().fit(samples).score_samples(queries) < -1e5).all()
    assert_equals_refits(samples, queries, 1.0)


def test_a_sample_that_carries_all_of_a_query():
    samples = np.array([[0.0], [1.0], [1000.0]])
    density = KernelDensity(1.0).fit(samples)
    scores = density.influence([[1000.0], [990.0]]).values
    assert_allclose(scores[2], np.log(2 / 3) + np.array([999.0**2, 989.0**2 - 100]) / 2, rtol=1e-14)
    assert_allclose(scores[:2], np.log(2 / 3), rtol=1e-15)
    assert density.self_influence().values[2] == pytest.approx(math.log(2 / 3) + 999.0**2 / 2, rel=1e-14)


def test_copies_share_the_influence():
    samples = np.concatenate([np.zeros((3, 2)), np.full((1, 2), 30.0)])
    density = KernelDensity().fit(samples)
    gain = math.log(3 / 4) - math.log(2 / 3)
    assert_allclose(density.influence(np.zeros((1, 2))).values[:3, 0], gain, rtol=1e-13)
    assert_allclose(density.self_influence().values[:3], gain, rtol=1e-13)
    assert_equals_refits(samples, samples, 1.0)


def test_all_samples_the_same():
    density = KernelDensity(0.1).fit(np.full((5, 2), 0.1))
    assert_allclose(density.influence([[0.1, 0.1], [3.0, 3.0]]).values, 0, atol=1e-13)
    assert_allclose(density.self_influence().values, 0, atol=1e-13)


def test_one_sample():
    density = KernelDensity(0.5).fit([[1.0, 2.0]])
    assert_allclose(density.score_samples([[1.0, 2.0]]), -math.log(2 * math.pi * 0.25))
    for ask in (density.self_influence, lambda: density.influence([[0.0, 0.0]])):
        with pytest.raises(ValueError, match=r"`influence` needs at least 2 samples, .* fitted to 1 sample"):
            ask()


def test_two_samples():
    samples = np.array([[0.0], [3.0]])
    assert_equals_refits(samples, np.array([[0.0], [1.0], [1.5], [100.0]]), 1.0)


@pytest.mark.parametrize("budget", [1, 300, 3000, "1 MB"])
def test_the_budget_does_not_matter(budget):
    samples, weights = normal(25, 3), some_weights(25)
    queries = among(samples, count=4)
    for w in (None, weights):
        whole = KernelDensity(0.5).fit(samples, sample_weight=w)
        pieces = KernelDensity(0.5, memory_budget=budget).fit(samples, sample_weight=w)
        assert_allclose(
            pieces.influence(queries).values, whole.influence(queries).values, rtol=1e-12, atol=1e-16
        )
        assert_allclose(pieces.self_influence().values, whole.self_influence().values, rtol=1e-12, atol=1e-16)
        assert_allclose(pieces.score_samples(queries), whole.score_samples(queries), rtol=1e-13)
        top = pieces.influence(queries, top=2)
        assert_allclose(top.proponents(2).values, whole.influence(queries).proponents(2).values, rtol=1e-12)


@pytest.mark.parametrize("first", ["near", "far"])
def test_samples_in_order_of_their_distance(first):
    samples = np.sort(np.abs(normal(50, 1)), 0) * 100
    samples = samples if first == "near" else samples[::-1].copy()
    assert_equals_refits(samples, np.array([[0.0], [-1000.0]]), 1.0, memory_budget=600)


def test_the_order_of_samples_does_not_matter():
    samples, queries, weights = normal(50, 3), normal(8, 3, seed=1), some_weights(50)
    order = np.random.default_rng(2).permutation(50)
    first = KernelDensity(0.4).fit(samples, sample_weight=weights)
    second = KernelDensity(0.4).fit(samples[order], sample_weight=weights[order])
    assert_allclose(second.influence(queries).values, first.influence(queries).values[order], rtol=1e-11)
    assert_allclose(second.self_influence().values, first.self_influence().values[order], rtol=1e-11)
    assert_allclose(second.score_samples(queries), first.score_samples(queries), rtol=1e-13)


def test_float32_input_is_widened():
    samples, queries = normal(20, 2).astype(np.float32), normal(5, 2, seed=1).astype(np.float32)
    wide = KernelDensity().fit(samples.astype(float)).influence(queries.astype(float)).values
    assert_same_bits(KernelDensity().fit(samples).influence(queries).values, wide)


@pytest.mark.parametrize("offset", [0, 1e6])
@pytest.mark.parametrize(("d", "bandwidth"), [(2, 0.5), (16, 1.0), (16, 0.01)])
def test_in_float32(d, bandwidth, offset):
    samples, weights = offset + normal(60, d), some_weights(60)
    queries = among(samples)
    wide = KernelDensity(bandwidth).fit(samples, sample_weight=weights)
    narrow = KernelDensity(bandwidth, precision="float32").fit(samples, sample_weight=weights)
    scores = narrow.influence(queries)
    assert scores.values.dtype == narrow.self_influence().values.dtype == np.float32
    assert_allclose(scores.values, wide.influence(queries).values, rtol=1e-4, atol=1e-5)
    assert_allclose(narrow.self_influence().values, wide.self_influence().values, rtol=1e-4, atol=1e-5)
    assert_allclose(narrow.score_samples(queries), wide.score_samples(queries), rtol=1e-5)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU")
@pytest.mark.parametrize(("precision", "tolerance"), [("float64", 1e-9), ("float32", 1e-3)])
@pytest.mark.parametrize("bandwidth", [1.0, 1e-3])
@pytest.mark.parametrize("weights", [None, some_weights(500)], ids=["equal", "weighted"])
def test_on_a_gpu(precision, tolerance, bandwidth, weights):
    samples, queries = normal(500, 8), normal(60, 8, seed=1)
    here = KernelDensity(bandwidth).fit(samples, sample_weight=weights)
    there = KernelDensity(bandwidth, device="cuda", precision=precision).fit(samples, sample_weight=weights)
    for found, truth in (
        (there.influence(queries).values, here.influence(queries).values),
        (there.self_influence().values, here.self_influence().values),
        (there.score_samples(queries), here.score_samples(queries)),
    ):
        assert_allclose(found, truth, rtol=tolerance, atol=tolerance / 10)


def test_tensors_are_taken():
    samples, queries, weights = normal(20, 2), normal(5, 2, seed=1), some_weights(20)
    expected = KernelDensity().fit(samples, sample_weight=weights)
    density = KernelDensity().fit(torch.from_numpy(samples), sample_weight=torch.from_numpy(weights))
    queries_there = torch.from_numpy(queries).requires_grad_()
    assert_same_bits(density.influence(queries_there).values, expected.influence(queries).values)
    assert_same_bits(density.score_samples(queries_there), expected.score_samples(queries))


def test_the_facts():
    density = KernelDensity(0.5, precision="float32").fit(normal(20, 2), sample_weight=some_weights(20))
    scores = density.influence(normal(2, 2))
    assert scores.method == "kernel density"
    assert scores.facts == {"bandwidth": 0.5, "weighted": True, "device": "cpu", "precision": "float32"}


@pytest.mark.parametrize(
    ("samples", "message"),
    [
        (np.full((2, 3), np.nan), "contains NaN"),
        (np.full((2, 3), np.inf), "contains infinity"),
        (np.zeros((0, 3)), "0 sample"),
        (np.zeros((3, 0)), "0 feature"),
        (np.zeros(3), "Expected 2D array, got 1D array"),
    ],
)
def test_samples_that_can_not_be_used(samples, message):
    with pytest.raises(ValueError, match=message):
        KernelDensity().fit(samples)


def test_nothing_is_warned_of():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        KernelDensity(1e-3).fit(normal(5, 2), sample_weight=[0, 1, 0, 0, 1e-300]).influence([[1e9, 0.0]])
