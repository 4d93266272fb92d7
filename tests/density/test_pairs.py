"""Log kernels of pairs: products and differences agree, and each is taken where it is right."""

from math import log

import density_reference as reference
import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose

from proponent.density._pairs import (
    ByDifferences,
    ByProduct,
    Kernels,
    Without,
    check_reach,
    reach_of,
    tile_shape,
)
from proponent.density._place import Place


def normal(*shape, seed=0):
    return torch.from_numpy(np.random.default_rng(seed).normal(size=shape))


def kernels_on(points, bandwidth=1.0, weights=None, precision="float64", budget="1 GB"):
    centre = points.mean(0)
    logs = None if weights is None else weights.log2()
    place = Place.asked_for(None, precision, budget)
    return Kernels(points, logs, bandwidth, centre, reach_of(points, centre, bandwidth), place)


def written(pairs, rows=slice(0, 20), levels=None):
    q = len(pairs.offsets)
    levels = torch.zeros(q, dtype=torch.float64) if levels is None else levels
    out = torch.empty(rows.stop - rows.start, q, dtype=torch.float64)
    pairs.write(rows, levels, out)
    return out + pairs.offsets


def expected(points, queries, bandwidth, weights=None):
    squares = reference.distances_to(points.numpy(), queries.numpy()).T ** 2
    logs = 0 if weights is None else np.log(weights.numpy())[:, None]
    return (logs - squares / 2 / bandwidth**2) / log(2)


@pytest.mark.parametrize("by", [ByProduct, ByDifferences])
@pytest.mark.parametrize("weights", [None, torch.arange(1, 21).double()], ids=["equal", "weighted"])
def test_both_give_the_logarithms(by, weights):
    points, queries = 7 + normal(20, 5), 7 + normal(6, 5, seed=1)
    pairs = by(kernels_on(points, 0.3, weights), queries)
    truth = expected(points, queries, 0.3, weights)
    assert_allclose(written(pairs), truth, rtol=1e-12, atol=1e-12)
    assert_allclose(written(pairs, slice(3, 9)), truth[3:9], rtol=1e-12, atol=1e-12)
    levels = torch.arange(6).double()
    assert_allclose(written(pairs, levels=levels), truth - levels.numpy(), rtol=1e-12, atol=1e-12)
    some = torch.tensor([4, 0])
    assert_allclose(written(pairs.of(some)), truth[:, [4, 0]], rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("by", [ByProduct, ByDifferences])
def test_one_sample_is_left_out(by):
    points = normal(20, 2)
    omitted = torch.tensor([2, 8, 19])
    pairs = by(kernels_on(points), normal(3, 2, seed=1))
    truth = written(pairs)
    truth[omitted, torch.arange(3)] = -torch.inf
    without = Without(pairs, omitted)
    assert_allclose(written(without), truth, rtol=1e-14)
    assert_allclose(written(without, slice(5, 10)), truth[5:10], rtol=1e-14)
    assert_allclose(written(without.of(torch.tensor([1]))), truth[:, [1]], rtol=1e-14)


@pytest.mark.parametrize("by", [ByProduct, ByDifferences])
def test_no_weight_is_minus_infinity(by):
    weights = torch.ones(20).double()
    weights[4] = 0
    pairs = by(kernels_on(normal(20, 2), weights=weights), normal(3, 2, seed=1))
    assert (written(pairs)[4] == -torch.inf).all()
    assert written(pairs)[5].isfinite().all()


@pytest.mark.parametrize(
    ("bandwidth", "precision", "chosen"),
    [
        (1.0, "float64", ByProduct),
        (1e-4, "float64", ByDifferences),
        (1.0, "float32", ByProduct),
        (0.01, "float32", ByDifferences),
    ],
)
def test_products_are_taken_where_they_are_right(bandwidth, precision, chosen):
    kernels = kernels_on(normal(20, 3), bandwidth, precision=precision)
    assert type(kernels.at(normal(4, 3))) is chosen


@pytest.mark.parametrize("precision", ["float64", "float32"])
@pytest.mark.parametrize("d", [1, 30, 700])
def test_products_are_as_right_as_is_said(d, precision):
    points, queries = normal(20, d), 5 * normal(30, d, seed=1)
    kernels = kernels_on(points, 1.0, precision=precision)
    out = torch.empty(20, 30, dtype=kernels.place.dtype)
    pairs = ByProduct(kernels, queries)
    pairs.write(slice(0, 20), torch.zeros(30, dtype=out.dtype), out)
    found = (out.double() + pairs.offsets).numpy() * log(2)
    error = np.abs(found - expected(points, queries, 1.0) * log(2)).max()
    reach = kernels.reach + reach_of(queries, kernels.centre, 1.0)
    bound = (d + 4) * torch.finfo(out.dtype).eps * kernels.reach * reach
    assert error < bound + 1e-15 * reach**2  # what the truth is rounded by
    assert error > bound / 1e5


def test_reach_is_in_bandwidths():
    points = torch.tensor([[0.0, 0.0], [3.0, 4.0]]).double()
    assert reach_of(points, torch.zeros(2).double(), 0.5) == 10


@pytest.mark.parametrize("reach", [1e160, float("inf"), float("nan")])
def test_refuses_distances_whose_squares_are_no_numbers(reach):
    with pytest.raises(ValueError, match=r"squared distances in bandwidths are beyond float64, got 0\.5 and"):
        check_reach(reach, 0.5, torch.float64)


@pytest.mark.parametrize("budget", [1, 1000, 10**5, 10**8])
@pytest.mark.parametrize("d", [1, 100])
def test_tiles_fit_the_budget(budget, d):
    kernels = kernels_on(normal(1000, d), budget=budget)
    rows, columns = tile_shape(kernels, 300)
    assert 1 <= rows <= 1000
    assert 1 <= columns <= 300
    assert rows == columns == 1 or 8 * (rows * columns + 3 * (rows + columns) * (d + 2)) <= budget
