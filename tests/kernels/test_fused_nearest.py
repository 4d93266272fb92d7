"""The fused search finds what sorting all distances finds, and its bounds hold."""

import pytest
import torch
from kernel_cases import DEVICE, QUIET, normal, whole

from proponent.kernels._group_minima import (
    GROUP,
    SLOTS,
    fused_group_minima,
    group_samples,
    opened,
    round_queries,
    share_of,
)
from proponent.kernels._half_points import unit_of
from proponent.kernels._near_groups import fused_near_groups, fused_radii
from proponent.kernels._near_samples import NOBODY, fused_near_samples
from proponent.kernels._nearest import fused_nearest

pytestmark = QUIET


def distances(samples, queries):
    return (queries.double()[:, None] - samples.double()).square().sum(2).sqrt()


def frame(samples, queries):
    centre = samples.double().median(0).values
    return centre, max(unit_of(points.double(), centre) for points in (samples, queries))


def found_by_sorting(samples, queries, count):
    ordered = distances(samples, queries).sort(dim=1, stable=True)
    return ordered.values[:, :count], ordered.indices[:, :count]


def assert_finds(samples, queries, count, budget=1 << 30):
    expected, which = found_by_sorting(samples, queries, count)
    parts = []
    for part, (found, positions) in fused_nearest(samples, queries, count, *frame(samples, queries), budget):
        assert (found.dtype, positions.dtype) == (torch.float64, torch.int64)
        assert torch.allclose(found, expected[part], rtol=1e-14, atol=0)
        assert torch.equal(positions, which[part])
        parts += range(len(queries))[part]
    assert parts == list(range(len(queries)))


CASES = {  # samples, queries, dimensions, how many are sought
    "one-sample": (1, 2, 3, 1),
    "part-of-a-group": (20, 5, 2, 3),
    "one-dimension": (300, 9, 1, 4),
    "more-than-a-block": (1500, 130, 5, 11),
    "columns-that-are-no-power-of-two": (70, 20, 19, 5),
    "more-columns-than-a-block": (40, 6, 70, 2),
    "all-samples": (40, 6, 3, 40),
    "more-than-there-are-classes": (600, 6, 3, 300),
}


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("name", CASES)
def test_finds_the_nearest(name, dtype):
    n, q, d, count = CASES[name]
    assert_finds(normal(n, d, key=1).to(dtype), normal(q, d, key=2).to(dtype), count)


def test_samples_among_themselves():
    samples = normal(200, 4)
    assert_finds(samples, samples, 6)


def test_copies_and_ties():
    """Numbers of few values have many equal distances; of those the lowest positions count."""
    samples = whole(300, 2)
    assert_finds(samples, samples[:40], 7)
    assert_finds(samples, samples[:40] + 0.5, 100)


def test_copies_of_one_point():
    samples = torch.full((200, 3), 2.5, device=DEVICE)
    assert_finds(samples, samples[:3], 5)
    assert_finds(samples, samples[:3] + 1, 5)


@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_clusters_far_from_each_other_and_from_the_origin(offset):
    samples = normal(300, 3).double()
    samples += offset + 1e4 * torch.arange(300, device=DEVICE)[:, None] // 100
    assert_finds(samples, samples[::9], 8)


def test_a_sample_that_is_far_out():
    samples = normal(300, 3).double()
    samples[7] = 1e9
    assert_finds(samples, samples[:20], 8)


def test_queries_that_are_far_out():
    samples = normal(300, 3).double()
    assert_finds(samples, 1e5 * normal(6, 3, key=2).double(), 8)


def test_differences_that_single_precision_does_not_show():
    samples = 1 + 1e-12 * normal(200, 2).double()
    assert_finds(samples, samples[:10], 8)


def test_few_queries_at_a_time():
    """A budget that leaves room for one tile of queries."""
    samples, queries = normal(100, 3), normal(150, 3, key=2)
    assert_finds(samples, queries, 4, budget=1)
    parts = [part for part, _ in fused_nearest(samples, queries, 4, *frame(samples, queries), 1)]
    assert parts == [slice(0, 128), slice(128, 150)]


def exact_minima(samples, queries):
    padding = -len(samples) % GROUP
    padded = torch.nn.functional.pad(distances(samples, queries), (0, padding), value=torch.inf)
    return padded.view(len(queries), -1, GROUP).amin(2)


BOUNDED = {
    "normal": lambda: (normal(1200, 7, key=1), normal(130, 7, key=2)),
    "tiny": lambda: (1e-6 * normal(100, 2, key=1), 1e-6 * normal(9, 2, key=2)),
    "off-centre": lambda: (normal(100, 2, key=1) + 300, normal(9, 2, key=2) + 300),
    "far-samples": lambda: (normal(300, 3, key=1) ** 9, normal(9, 3, key=2)),
    "exact-numbers": lambda: (whole(300, 3, key=1), whole(9, 3, key=2)),
}


@pytest.mark.parametrize("segments", [1, 2])
@pytest.mark.parametrize("name", BOUNDED)
def test_bounds_hold(name, segments):
    samples, queries = BOUNDED[name]()
    centre, unit = frame(samples, queries)
    groups, rounded = group_samples(samples, centre, unit), round_queries(queries, centre, unit)
    minima, highest = fused_group_minima(rounded, groups, segments)
    minima, highest = (
        opened(minima)[:, : len(queries)].T.double(),
        highest[:, : len(queries)].T.double() * unit,
    )
    exact = exact_minima(samples, queries)
    assert bool((minima[:, exact.shape[1] :] == torch.inf).all())
    minima = minima[:, : exact.shape[1]]

    # From each minimum, the interval in which the smallest distance of the group must lie.
    squares, errors = (part[: len(queries), None].double() for part in (rounded.squares, rounded.errors))
    share = share_of(groups.halves.shape[1])
    lost = groups.allowances.double()[: exact.shape[1]] + share * squares
    away = groups.errors.double()[: exact.shape[1]] + errors
    low = (2 * (minima - lost)).clamp(min=0).sqrt() - away
    high = (2 * (minima * (1 + 2**-8) + lost)).sqrt() + away
    assert bool((low * unit <= exact * (1 + 1e-12)).all())
    assert bool((exact <= high * unit * (1 + 1e-12)).all())
    if name == "normal":  # and it is a narrow one
        assert ((high - low) * unit).max().item() < 0.02 * exact.median().item()

    # Within the bounds of any m classes there are m samples.
    ordered = highest.sort(1).values
    ranked = distances(samples, queries).sort(1).values
    there = min(ordered.shape[1], ranked.shape[1])
    assert bool((ranked[:, :there] <= ordered[:, :there]).all())
    assert highest.shape == (len(queries), SLOTS * segments)


@pytest.mark.parametrize("count", [1, 5, 300])
def test_radii_are_order_statistics(count):
    highest = normal(300, 40).abs()
    highest[17:30] = 0
    highest[40:50] = torch.inf
    assert torch.equal(fused_radii(highest, count), highest.sort(0).values[count - 1])


def test_without_enough_classes_the_radius_is_infinite():
    assert fused_radii(normal(3, 2).abs(), 4).tolist() == [torch.inf] * 2


def test_lists_every_group_within_the_radius():
    samples, queries = normal(1200, 3, key=1), normal(10, 3, key=2)
    centre, unit = frame(samples, queries)
    groups, rounded = group_samples(samples, centre, unit), round_queries(queries, centre, unit)
    minima, _ = fused_group_minima(rounded, groups, 1)
    exact = exact_minima(samples, queries) / unit
    radii = torch.full((minima.shape[1],), exact.median().item(), device=DEVICE)
    lists, counts = fused_near_groups(minima, radii, rounded, groups, 5)
    within, close = ((exact <= radii[0] * scale).sum(1) for scale in (1 + 1e-6, 1.01))
    for i in range(len(queries)):
        assert int(within[i]) <= int(counts[i]) <= int(close[i])
        own = lists[i, : min(int(counts[i]), 5)].tolist()
        assert len(set(own)) == len(own)
        assert all(exact[i, group] <= radii[0] * 1.01 for group in own)
    lists, counts = fused_near_groups(minima, radii * torch.inf, rounded, groups, 64)
    assert bool((counts == exact.shape[1]).all())  # and none in which there is nobody
    assert lists[0, : counts[0]].sort().values.tolist() == list(range(exact.shape[1]))


def test_minima_are_rounded_down():
    """Sixteen bits of a number that is not negative, and infinity as it is."""
    numbers = torch.cat([normal(5000).abs() ** 7, torch.tensor([0.0, torch.inf], device=DEVICE)])[None]
    kept = opened((numbers.view(torch.int32) >> 15).short())
    assert bool((kept <= numbers).all())
    assert bool((kept[:, :-2] > numbers[:, :-2] * (1 - 2**-8)).all())
    assert kept[0, -2:].tolist() == [0.0, torch.inf]


def test_keeps_the_samples_within_the_limit():
    samples, queries = normal(100, 18, key=1), normal(4, 18, key=2)
    lists = torch.tensor([[3, 0, 7], [0, 7, 7], [2, 1, 0], [9, 8, 7]], dtype=torch.int32, device=DEVICE)
    counts = torch.tensor([2, 1, 3, 0], dtype=torch.int32, device=DEVICE)
    exact = distances(samples, queries).square()
    limits = exact.median(1).values * (1 + 1e-12)
    squares, positions, kept = fused_near_samples(samples, queries, lists, counts, limits, 32, 40)
    for i, groups in enumerate([[3, 0], [0], [2, 1, 0], []]):
        expected = {j for j in range(100) if j // 32 in groups and exact[i, j] <= limits[i]}
        own = positions[i, : min(int(kept[i]), 40)]
        assert int(kept[i]) == len(expected)
        assert len(set(own.tolist())) == len(own)
        assert set(own.tolist()) <= expected
        assert torch.allclose(squares[i, : len(own)], exact[i, own.long()], rtol=1e-14, atol=0)
        assert bool((squares[i, len(own) :] == torch.inf).all())
        assert bool((positions[i, len(own) :] == NOBODY).all())
    assert int(kept[2]) > 40
