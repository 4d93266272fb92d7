"""Logarithms of sums, over tiles in which levels must be raised and tiles in which nothing has weight."""

import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose
from test_pairs import kernels_on, normal

from proponent.density._log_sum import Sums, log_sums, log_sums_at, log_sums_without_self, powers


def true_logs(kernels, queries):
    weights = 0 if kernels.log_weights is None else kernels.log_weights[:, None]
    squares = torch.cdist(kernels.points, queries, compute_mode="donot_use_mm_for_euclid_dist") ** 2
    t = weights - squares / (2 * np.log(2) * kernels.bandwidth**2)
    return torch.logsumexp(t * np.log(2), 0) / np.log(2)


@pytest.mark.parametrize("rows", [1, 7, 40, 100])
@pytest.mark.parametrize("bandwidth", [1.0, 0.02, 1e-5])
def test_is_the_same_for_tiles_of_any_height(rows, bandwidth):
    kernels, queries = kernels_on(normal(40, 2), bandwidth), normal(6, 2, seed=1)
    pairs = kernels.at(queries)
    tile = torch.empty(rows, 6, dtype=torch.float64)
    assert_allclose(
        log_sums(pairs, len(kernels.points), tile) + pairs.offsets, true_logs(kernels, queries), rtol=1e-13
    )


@pytest.mark.parametrize("order", [1, -1])
def test_levels_are_raised_when_nearer_samples_come(order):
    points = torch.arange(0, 4000, 100.0).double()[:, None]
    points = points if order == 1 else points.flip(0)
    kernels, queries = kernels_on(points), torch.tensor([[0.0], [3900.0], [2010.0]]).double()
    pairs, tile = kernels.at(queries), torch.empty(3, 3, dtype=torch.float64)
    assert_allclose(
        log_sums(pairs, len(kernels.points), tile) + pairs.offsets,
        true_logs(kernels, queries),
        rtol=1e-12,
        atol=1e-9,
    )


def test_powers_are_relative_to_levels():
    kernels, queries = kernels_on(normal(5, 1)), normal(2, 1, seed=1)
    pairs, out = kernels.at(queries), torch.empty(5, 2, dtype=torch.float64)
    first = powers(pairs, slice(0, 5), Sums.of_none(out).levels, torch.empty_like(out), out)
    assert_allclose(out.amax(0), 1)
    assert_allclose(first.relative, out.sum(0))
    again = powers(pairs, slice(0, 5), first.levels, out, out)
    assert again.levels is first.levels  # high enough
    assert_allclose(first.plus(again).logs, first.logs + 1, rtol=1e-15)


def test_nothing_has_no_logarithm():
    assert (Sums.of_none(torch.empty(3, 2)).logs == -torch.inf).all()


@pytest.mark.parametrize("precision", ["float64", "float32"])
def test_tiles_without_weight(precision):
    weights = torch.zeros(30).double()
    weights[[12, 25]] = 1.0
    kernels, queries = kernels_on(normal(30, 2), 0.1, weights, precision), normal(4, 2, seed=1)
    pairs, tile = kernels.at(queries), torch.empty(5, 4, dtype=kernels.place.dtype)
    tolerance = 1e-13 if precision == "float64" else 1e-4
    assert_allclose(
        log_sums(pairs, len(kernels.points), tile) + pairs.offsets,
        true_logs(kernels, queries),
        rtol=tolerance,
    )


@pytest.mark.parametrize("budget", [1, 2000, 10**8])
def test_many_queries(budget):
    kernels = kernels_on(normal(30, 3), 0.5, budget=budget)
    queries = normal(50, 3, seed=1)
    assert_allclose(log_sums_at(kernels, queries), true_logs(kernels, queries), rtol=1e-13)


@pytest.mark.parametrize("budget", [1, 2000, 10**8])
@pytest.mark.parametrize("bandwidth", [1.0, 1e-5])
def test_all_others(budget, bandwidth):
    weights = torch.rand(25, generator=torch.Generator().manual_seed(0)).double()
    kernels, done = kernels_on(normal(25, 3), bandwidth, weights, budget=budget), []
    found = log_sums_without_self(kernels, done.append)
    for i in range(25):
        rest = torch.arange(25) != i
        others = kernels_on(kernels.points[rest], bandwidth, weights[rest])
        assert_allclose(found[i], true_logs(others, kernels.points[i : i + 1])[0], rtol=1e-12)
    assert sum(done) == 25
