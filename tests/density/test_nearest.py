"""The search for nearest samples: every case against all distances, sorted."""

import numpy as np
import pytest
import torch

from asserts import assert_same_bits
from proponent.density._closest import smallest
from proponent.density._groups import Frame, GroupBounds, keeps_float32
from proponent.density._nearest import nearest
from proponent.density._place import Place

PLACE = Place.asked_for(None, "float64", None)


def normal(*shape, seed=0):
    return torch.randn(*shape, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


def distances_of(samples, queries):
    return torch.cdist(
        queries.double(), samples.double(), compute_mode="donot_use_mm_for_euclid_dist"
    )  # by differences


def assert_found(samples, queries, count, place=PLACE):
    """Distances to the last bit, and among equal ones the lowest positions."""
    expected = distances_of(samples, queries).sort(dim=1, stable=True)
    distances, positions = nearest(samples, queries, count, place)
    assert_same_bits(distances, expected.values[:, :count])
    assert_same_bits(positions, expected.indices[:, :count])


def exact_squares(samples, queries):
    """In twice the precision, as far as NumPy has it; float64 numbers that are sums of few bits are exact."""
    x, z = (np.asarray(points, dtype=np.longdouble) for points in (samples, queries))
    return ((z[:, None] - x) ** 2).sum(2)


@pytest.mark.parametrize(
    ("n", "q", "d", "count"),
    [
        (1, 1, 1, 1),
        (2, 3, 1, 1),
        (2, 3, 4, 2),
        (5, 4, 3, 5),
        (300, 20, 3, 4),
        (1000, 8, 1, 1),
        (1001, 8, 1, 7),
        (4000, 50, 20, 11),
        (1500, 5, 1000, 11),
        (2000, 10, 2, 300),  # groups of one
        (2000, 10, 2, 1500),  # more than half: all are compared
    ],
)
def test_finds_what_sorting_all_distances_finds(n, q, d, count):
    samples = normal(n, d)
    assert_found(samples, torch.cat([normal(q, d, seed=1), samples[:2], samples[-2:]]), count)


@pytest.mark.parametrize("count", [1, 3, 10, 100])
@pytest.mark.parametrize("values", [2, 10])
def test_lowest_positions_come_first_among_ties(count, values):
    generator = torch.Generator().manual_seed(count)
    samples = torch.randint(values, (3000, 3), generator=generator).double()
    assert_found(samples, samples[::200] + 0.5 * (torch.arange(15)[:, None] % 2), count)


def tight_clusters():
    """Clusters that are 1e-10 as wide as they lie apart: float64 products see one point in each."""
    centres, noise = normal(20, 8), normal(2000, 8, seed=1)
    return centres[torch.arange(2000) % 20] + 1e-10 * noise


def tight_clusters_in_blocks():
    return tight_clusters()[(torch.arange(2000) % 20).sort(stable=True).indices]


def far_points():
    """One sample far from all others, and others that lie close together."""
    samples = normal(2000, 8)
    samples[77] = 1e9
    return samples


ADVERSARIES = {
    "tight clusters": tight_clusters,
    "tight clusters in blocks": tight_clusters_in_blocks,
    "sphere": lambda: normal(2000, 8) / normal(2000, 8).norm(dim=1, keepdim=True),
    "shell": lambda: 1 + 1e-9 * normal(2000, 8),
    "copies": lambda: normal(3, 8)[torch.arange(2000) % 3],
    "copies beside others": lambda: torch.cat([normal(1000, 8), normal(1, 8).expand(1000, 8)]),
    "all the same": lambda: normal(1, 8).expand(2000, 8),
    "one far away": far_points,
    "offset": lambda: 1e6 + normal(2000, 8),
    "one far coordinate": lambda: normal(2000, 8) * torch.tensor([1e8] + [1.0] * 7),
    "tiny beside large": lambda: torch.cat([1e-20 * normal(1999, 8), torch.ones(1, 8, dtype=torch.float64)]),
    "line": lambda: torch.arange(2000.0, dtype=torch.float64)[:, None].expand(2000, 8) / 7,
}


@pytest.mark.parametrize("count", [1, 6])
@pytest.mark.parametrize("make", ADVERSARIES.values(), ids=ADVERSARIES)
def test_data_for_which_products_are_too_rough(make, count):
    samples = make()
    on_sphere = torch.zeros(1, samples.shape[1], dtype=torch.float64)  # as far from all on a sphere
    assert_found(samples, torch.cat([samples[::100], samples[::100] + 1e-11, on_sphere]), count)


def test_all_on_a_sphere_around_the_query():
    angles = torch.arange(3000, dtype=torch.float64) * (2 * torch.pi / 3000)
    samples = torch.stack([angles.cos(), angles.sin()], 1)
    assert_found(samples, torch.tensor([[0.0, 0.0], [1e-9, 0.0], [1e-17, 0.0]], dtype=torch.float64), 7)


@pytest.mark.parametrize("budget", [1, 1000, 100_000])
@pytest.mark.parametrize("count", [3, 200])
def test_small_budgets_give_the_same(budget, count):
    samples = torch.cat([normal(500, 4), normal(100, 4).repeat(2, 1)])
    place = Place(torch.device("cpu"), torch.float64, budget)
    assert_found(samples, torch.cat([samples[:2], samples[500:502], normal(2, 4, seed=9)]), count, place)


def test_single_precision_points_are_compared_exactly():
    samples, queries = (1000 + normal(900, 6)).float(), (1000 + normal(9, 6, seed=1)).float()
    assert_found(samples, torch.cat([queries, samples[:2]]), 5)


@pytest.mark.parametrize("scale", [1e-300, 1e-200, 1e200, 1e300])
def test_squares_neither_overflow_nor_vanish(scale):
    samples, queries = normal(700, 3), normal(5, 3, seed=1)
    expected = nearest(samples, queries, 4, PLACE)
    distances, positions = nearest(samples * scale, queries * scale, 4, PLACE)
    torch.testing.assert_close(distances, expected[0] * scale, rtol=1e-14, atol=0)
    assert (positions == expected[1]).all()


def test_the_smallest_numbers_there_are():
    samples = torch.arange(600, dtype=torch.float64)[:, None] * 5e-324
    distances, positions = nearest(samples, samples[100:101], 3, PLACE)
    assert distances.tolist() == [[0.0, 5e-324, 5e-324]]
    assert positions.tolist() == [[100, 99, 101]]


def test_a_query_far_outside_does_not_change_what_others_find():
    samples = normal(900, 3)
    for far in (1e20, 1e120):
        assert_found(
            samples, torch.cat([normal(5, 3, seed=1), torch.full((1, 3), far, dtype=torch.float64)]), 4
        )


def test_points_too_far_apart_for_numbers_are_refused():
    samples = torch.tensor([[-1.5e308], [1.5e308]], dtype=torch.float64)
    with pytest.raises(ValueError, match=r"must lie within 1.8e308 of each other in every coordinate"):
        nearest(samples, samples, 1, PLACE)


def test_reports_every_query_once():
    done = []
    nearest(
        normal(900, 3),
        normal(40, 3, seed=1),
        4,
        Place(torch.device("cpu"), torch.float64, 60_000),
        done.append,
    )
    assert sum(done) == 40
    assert len(done) > 3


def test_products_in_fewer_bits_are_not_relied_on():
    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("medium")
    try:
        assert not keeps_float32(torch.device("cpu"))
        assert_found(normal(4000, 5), normal(20, 5, seed=1), 4)
    finally:
        torch.set_float32_matmul_precision(before)
    assert keeps_float32(torch.device("cpu"))
    assert keeps_float32(torch.device("cuda"))  # where products are told to keep them


class TestGroupBounds:
    @pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
    @pytest.mark.parametrize("size", [1, 4, 64])
    @pytest.mark.parametrize("make", ADVERSARIES.values(), ids=ADVERSARIES)
    def test_no_square_is_under_its_bound(self, make, size, dtype):
        samples, queries = make()[:333], make()[300:340] + 1e-12
        frame = Frame.around(samples, queries)
        bounds = GroupBounds.over(samples, size, frame, dtype).minima(queries, 5000)
        squares = exact_squares(samples, queries) * np.longdouble(frame.scale) ** 2
        least = np.stack([squares[:, i : i + size].min(1) for i in range(0, 333, size)], 1)
        assert bounds.shape == least.shape
        assert (bounds.numpy().astype(np.longdouble) <= least).all()

    @pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
    def test_without_the_share_taken_off_some_would_be(self, dtype):
        samples, queries = normal(300, 8), normal(300, 8) * (1 + 1e-9)
        x, z = samples.to(dtype), queries.to(dtype)
        product = x.square().sum(1) - 2 * z @ x.T + z.square().sum(1)[:, None]
        assert (product.numpy() < exact_squares(samples, queries)).any()

    @pytest.mark.parametrize(("dtype", "within"), [(torch.float32, 1e-5), (torch.float64, 1e-13)])
    def test_they_are_near_where_distances_are_ordinary(self, dtype, within):
        samples, queries = 50 + normal(1000, 8), 50 + normal(30, 8, seed=1)
        frame = Frame.around(samples, queries)
        bounds = GroupBounds.over(samples, 1, frame, dtype).minima(queries, 1 << 20)
        squares = distances_of(samples, queries).square() * frame.scale**2
        assert ((squares - bounds) < within * queries.shape[1]).all()

    @pytest.mark.parametrize("size", [2, 8])
    def test_room_does_not_matter(self, size):
        samples, queries = normal(101, 3), normal(7, 3, seed=1)
        groups = GroupBounds.over(samples, size, Frame.around(samples, queries), torch.float64)
        whole = groups.minima(queries, 1 << 20)
        for room in (1, 3000):
            torch.testing.assert_close(groups.minima(queries, room), whole, rtol=0, atol=1e-14)


class TestFrame:
    def test_a_far_sample_does_not_move_the_centre(self):
        assert (Frame.around(far_points(), normal(1, 8)).centre.abs() < 0.2).all()

    def test_coordinates_are_at_most_one(self):
        samples, queries = 5 + normal(100, 3), 90 + normal(5, 3)
        frame = Frame.around(samples, queries)
        placed = torch.cat([frame.place(samples), frame.place(queries)]).abs()
        assert 0.5 <= placed.max() < 1
        assert np.log2(frame.scale) % 1 == 0

    def test_one_point(self):
        point = torch.full((1, 2), 3.0, dtype=torch.float64)
        frame = Frame.around(point, point)
        assert frame.scale == 1
        assert (frame.place(point) == 0).all()


@pytest.mark.parametrize("count", [1, 3, 8])
def test_smallest_are_in_order_and_the_first_of_equal_ones(count):
    values = torch.randint(4, (50, 8), generator=torch.Generator().manual_seed(0)).double()
    values[0, 3:] = torch.inf
    expected = values.sort(dim=1, stable=True)
    found = smallest(values, count)
    assert_same_bits(found[0], expected.values[:, :count])
    assert_same_bits(found[1], expected.indices[:, :count])
