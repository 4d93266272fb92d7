"""The fused sum of kernels has the logarithm that sums in float64 have."""

import math

import pytest
import torch
from kernel_cases import DEVICE, QUIET, normal

from proponent.kernels._log_sum import fused_log_sums, fused_log_sums_of_others

pytestmark = QUIET

CASES = {  # samples, queries, dimensions
    "one-sample": (1, 3, 2),
    "part-of-a-tile": (20, 7, 3),
    "whole-tiles": (128, 128, 16),
    "several-tiles": (300, 130, 5),
    "one-dimension": (40, 9, 1),
    "more-columns-than-a-block": (30, 20, 70),
}


def logarithms(samples, queries, bandwidth, centre):
    x, z = ((points.double() - centre) / bandwidth for points in (samples, queries))
    return -torch.cdist(x, z, compute_mode="donot_use_mm_for_euclid_dist").square() / 2 / math.log(2)


def log_sum(t):
    top = t.amax(0)
    return top + (t - top).exp2().sum(0).log2()


def scaled(d, bandwidth=1.2):
    return bandwidth, normal(d, key=9).double() / 4


def assert_close_everywhere(found, expected, tolerance=1e-4):
    assert found.dtype == torch.float64
    assert found.shape == expected.shape
    at_end = expected == -torch.inf
    assert torch.equal(found == -torch.inf, at_end)
    assert (found - expected)[~at_end].abs().max().item() <= tolerance


@pytest.mark.parametrize("name", CASES)
def test_sums_over_all_samples(name):
    n, q, d = CASES[name]
    samples, queries, scale = normal(n, d, key=1), normal(q, d, key=2), scaled(d)
    t = logarithms(samples, queries, *scale)
    assert_close_everywhere(fused_log_sums(samples, queries, *scale), log_sum(t))


@pytest.mark.parametrize("name", [name for name in CASES if name != "one-sample"])
def test_leaves_each_sample_itself_out(name):
    n, _, d = CASES[name]
    samples, scale = normal(n, d, key=1), scaled(d)
    t = logarithms(samples, samples, *scale).fill_diagonal_(-torch.inf)
    assert_close_everywhere(fused_log_sums_of_others(samples, *scale), log_sum(t))


def test_the_only_sample_has_no_others():
    assert fused_log_sums_of_others(normal(1, 4), *scaled(4)).tolist() == [-torch.inf]


def test_weights():
    samples, queries, scale = normal(140, 3, key=1), normal(9, 3, key=2), scaled(3)
    weights = 3 * normal(140, key=3).double()
    weights[[0, 17, 139]] = -torch.inf
    t = logarithms(samples, queries, *scale) + weights[:, None]
    assert_close_everywhere(fused_log_sums(samples, queries, *scale, weights), log_sum(t))
    t = (logarithms(samples, samples, *scale) + weights[:, None]).fill_diagonal_(-torch.inf)
    assert_close_everywhere(fused_log_sums_of_others(samples, *scale, weights), log_sum(t))


def test_without_any_weight_there_is_nothing():
    samples, weights = normal(140, 3), torch.full((140,), -torch.inf, device=DEVICE)
    assert fused_log_sums(samples, samples[:4], *scaled(3), weights).tolist() == [-torch.inf] * 4
    weights[5] = 0
    others = fused_log_sums_of_others(samples, *scaled(3), weights)
    assert (others == -torch.inf).nonzero().flatten().tolist() == [5]


@pytest.mark.parametrize("far", [0, 1, 2])
def test_queries_so_far_out_that_powers_underflow(far):
    """Whether the nearest samples come first, in the middle or last."""
    samples, scale = normal(300, 2, key=1), scaled(2)
    samples[140 * far : 140 * far + 20] += 30
    queries = torch.tensor([[150.0, 150.0], [-130.0, 90.0]], device=DEVICE)
    t = logarithms(samples, queries, *scale)
    assert t.max().item() < -4000
    assert_close_everywhere(fused_log_sums(samples, queries, *scale), log_sum(t), 5e-3)


@pytest.mark.parametrize("bandwidth", [1e6, 1e3, 0.03])
def test_bandwidths_of_any_size(bandwidth):
    samples, queries, scale = normal(130, 2, key=1), normal(5, 2, key=2), scaled(2, bandwidth)
    t = logarithms(samples, queries, *scale)
    tolerance = 5e-6 * max(1, 4 / bandwidth**2)
    assert_close_everywhere(fused_log_sums(samples, queries, *scale), log_sum(t), tolerance)


@pytest.mark.parametrize("bandwidth", [1.0, 1e-200])
def test_copies_of_one_point(bandwidth):
    samples, centre = torch.full((140, 3), 2.5, device=DEVICE), torch.full((3,), 2.5, device=DEVICE)
    expected = torch.full((140,), 139.0, dtype=torch.float64, device=DEVICE).log2()
    assert_close_everywhere(fused_log_sums_of_others(samples, bandwidth, centre), expected, 5e-6)


def test_queries_a_million_times_as_far_out_as_samples():
    """Each side has a unit of its own, and squares as large as those of queries are not rounded."""
    samples, queries, scale = (
        1e-6 * normal(60, 2, key=1),
        normal(9, 2, key=2),
        (1e-6, torch.zeros(2, device=DEVICE)),
    )
    expected = log_sum(logarithms(samples, queries, *scale))
    found = fused_log_sums(samples, queries, *scale)
    assert ((found - expected) / expected.abs().sqrt()).abs().max().item() < 1e-5  # what |x| |z| / h² loses


def test_samples_in_two_places_far_apart():
    """Near ones stay near, though their coordinates are large."""
    samples, scale = normal(200, 2, key=1), (1.0, torch.zeros(2, device=DEVICE))
    samples[100:] += 100
    samples[:100] -= 100
    expected = log_sum(logarithms(samples, samples, *scale).fill_diagonal_(-torch.inf))
    assert_close_everywhere(fused_log_sums_of_others(samples, *scale), expected, 1e-2)


def test_numbers_of_very_different_sizes():
    """Small coordinates keep their digits beside a point that is far out."""
    samples, scale = normal(60, 2, key=1), scaled(2)
    samples[7] = 300.0
    t = logarithms(samples, samples[10:20], *scale)
    assert_close_everywhere(fused_log_sums(samples, samples[10:20], *scale), log_sum(t), 1e-5)
