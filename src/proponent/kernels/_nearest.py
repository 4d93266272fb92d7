"""The nearest samples of points: bounds on all distances, then the exact ones of those that may be nearest.

Every step is exhaustive, so nothing is left to be certified: within a query's radius lie as many samples as
are asked for, and no group that could hold another is left out.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import torch
import triton
from jaxtyping import Float, Int
from torch import Tensor

from proponent.kernels._group_minima import (
    GROUP,
    QUERIES,
    SLOTS,
    Groups,
    Rounded,
    fused_group_minima,
    group_samples,
    round_queries,
)
from proponent.kernels._half_points import BYTES_ON_THE_WAY
from proponent.kernels._near_groups import fused_near_groups, fused_radii
from proponent.kernels._near_samples import fused_near_samples

Found = tuple[Float[Tensor, "q count"], Int[Tensor, "q count"]]

# Classes for each sample that is asked for: the more there are, the fewer of these share one.
_CLASSES = 8
# Programs that go through the samples of a tile of queries, so that few queries keep a GPU busy as well.
_SEGMENTS = 8
# Above the rounding of a radius, and of squares of differences.
_SLACK, _TINY = 2.0**-18, 1e-300
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
    search = _Search(samples, groups, count, unit, budget - groups.bytes - BYTES_ON_THE_WAY)
    for part in search.parts(len(queries)):
        own = queries[part]
        rounded = round_queries(own, centre, unit)
        minima, highest = fused_group_minima(rounded, groups, search.segments)
        yield part, search.within(own, rounded, minima, fused_radii(highest, count), search.rooms)


@dataclass(frozen=True)
class _Search:
    """What stays the same from chunk to chunk."""

    samples: Float[Tensor, "n d"]
    groups: Groups
    count: int
    unit: float
    budget: int

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
        group_room, sample_room = self.rooms
        row = 4 * (len(self.groups.errors) + self.segments * SLOTS + group_room) + _BYTES_KEPT * sample_room
        most = max(1, self.budget // row // QUERIES) * QUERIES
        each = triton.cdiv(triton.cdiv(q, triton.cdiv(q, most)), QUERIES) * QUERIES
        return (slice(start, min(start + each, q)) for start in range(0, q, each))

    def within(
        self,
        queries: Float[Tensor, "q d"],
        rounded: Rounded,
        minima: Float[Tensor, "g rows"],
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
            bytes_each = 4 * (len(minima) + rooms[0]) + _BYTES_KEPT * rooms[1]
            for some in torch.split(crowded, max(1, self.budget // 2 // bytes_each)):
                found = self.within(queries[some], rounded.take(some), minima[:, some], radii[some], rooms)
                distances[some], positions[some] = found
        return distances, positions
