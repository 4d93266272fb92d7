"""The nearest samples of points: bounds on all distances, then the exact ones of those that may be nearest.

Every step is exhaustive, so nothing is left to be certified: within a query's radius lie as many samples as
are asked for, and no group that could hold another is left out.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import torch
import triton
from jaxtyping import Float, Int, Int16
from torch import Tensor

from proponent.kernels._group_minima import (
    GROUP,
    QUERIES,
    SLOTS,
    Groups,
    fused_group_minima,
    group_samples,
    round_queries,
)
from proponent.kernels._near_groups import fused_near_groups, fused_radii
from proponent.kernels._near_samples import fused_near_samples
from proponent.kernels._round_points import Rounded

Found = tuple[Float[Tensor, "q count"], Int[Tensor, "q count"]]

# Classes for each sample that is asked for: the more there are, the fewer of these share one.
_CLASSES = 8
# Programs that go through the samples of a tile of queries, so that few queries keep a GPU busy as well.
_SEGMENTS = 8
# Above the rounding of a radius, and of squares of differences.
_SLACK, _TINY = 2.0**-18, 1e-300
# What is held of a query, beside what grows with something.
_BYTES_A_QUERY = 128
# What is held of a kept sample while they are put in order.
_BYTES_KEPT = 96


def fused_nearest(
    samples: Float[Tensor, "n d"],
    queries: Float[Tensor, "q d"],
    count: int,
    centre: Float[Tensor, " d"],
    unit: float,
    budget: int,
) -> Iterator[tuple[slice, Found]]:
    """Find the samples nearest to each query, as many queries at a time as there is room for.

    Args:
        samples: All of them finite, in any precision, from which on nothing is rounded.
        queries: Likewise.
        count: How many to find, from 1 to n.
        centre: In the midst of the samples.
        unit: A power of two by which no coordinate, seen from there, exceeds 2^15.
        budget: Bytes to take, beside samples, queries and what is yielded.

    Yields:
        Which queries; their distances in rising order, in float64, and the positions of the samples, among
        equal distances the lowest first.
    """
    groups = group_samples(samples, centre, unit)
    search = _Search(samples, groups, count, centre, unit, budget - groups.bytes)
    for part in search.parts(len(queries)):
        yield part, search(queries[part])


@dataclass(frozen=True)
class _Search:
    """What stays the same from chunk to chunk."""

    samples: Float[Tensor, "n d"]
    groups: Groups
    count: int
    centre: Float[Tensor, " d"]
    unit: float
    budget: int

    def __call__(self, queries: Float[Tensor, "q d"]) -> Found:
        rounded = round_queries(queries, self.centre, self.unit)
        minima, highest = fused_group_minima(rounded, self.groups, self.segments)
        return self.within(queries, rounded, minima, fused_radii(highest, self.count), self.rooms)

    @property
    def segments(self) -> int:
        wanted = max(_SEGMENTS, -(-_CLASSES * self.count // SLOTS))
        return min(wanted, len(self.groups.errors) // SLOTS)

    @property
    def rooms(self) -> tuple[int, int]:
        """For how many groups, and samples, of each query there is room at first."""
        return 32 + 4 * self.count, int(triton.next_power_of_2(16 + self.count))

    def parts(self, q: int) -> Iterator[slice]:
        """As many queries at a time as the budget has room for, about the same number each time."""
        row = self._bytes_each(self.rooms) + 4 * self.segments * SLOTS
        most = (
            max(1, self.budget * 2 // 3 // row // QUERIES) * QUERIES
        )  # the rest is for those that need more
        each = triton.cdiv(triton.cdiv(q, triton.cdiv(q, most)), QUERIES) * QUERIES
        return (slice(start, min(start + each, q)) for start in range(0, q, each))

    def within(
        self,
        queries: Float[Tensor, "q d"],
        rounded: Rounded,
        minima: Int16[Tensor, "g rows"],
        radii: Float[Tensor, " rows"],
        rooms: tuple[int, int],
    ) -> Found:
        """Find the nearest of the samples within the radii; where there is too little room, make more."""
        group_room, sample_room = rooms
        listed = fused_near_groups(minima, radii, rounded, self.groups, group_room)
        near, groups, radius = (part[: len(queries)] for part in (*listed, radii))
        limits = (radius.double() * self.unit).square() * (1 + _SLACK) + _TINY
        squares, where, kept = fused_near_samples(
            self.samples, queries, near, groups, limits, GROUP, sample_room
        )
        where, order = where.sort(dim=1)  # now the lowest of equal distances comes first
        squares, order = squares.gather(1, order).sort(dim=1, stable=True)
        distances, positions = squares[:, : self.count].sqrt(), where.gather(1, order[:, : self.count]).long()
        crowded = ((groups > group_room) | (kept > sample_room)).nonzero()[:, 0]
        if len(crowded):
            wider = int(groups[crowded].amax()), int(kept[crowded].amax())
            rooms = max(group_room, wider[0]), max(sample_room, wider[1])
            for some in torch.split(crowded, max(1, self.budget // 3 // self._bytes_each(rooms))):
                found = self.within(queries[some], rounded.take(some), minima[:, some], radii[some], rooms)
                distances[some], positions[some] = found
        return distances, positions

    def _bytes_each(self, rooms: tuple[int, int]) -> int:
        """What is held of a query: itself, rounded, a bound for each group, and lists."""
        group_room, sample_room = rooms
        query = 2 * self.groups.halves.shape[1] + _BYTES_A_QUERY
        return query + 2 * len(self.groups.errors) + 4 * group_room + _BYTES_KEPT * sample_room
