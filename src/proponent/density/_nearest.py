r"""The nearest samples of points: exact, at nearly the speed of a matrix product.

The product of `GroupBounds` gives for every group of samples a number that no squared distance to a member
is under. The members of the groups with the lowest ones are compared with the point by differences, in
float64. Where the last distance to be found, squared, is under the bounds of all groups left out, no sample
of theirs can be as near, and the search of this point is certified. Where it is not, bounds are formed again
in float64, and the members of every group whose bound does not exceed that distance are compared: after this
nothing is left to be certified. For data on which bounds say nothing, such as thousands of copies of one
sample, that means all of them.

A GPU for which there are kernels has a search of its own, as exact: `proponent.kernels._nearest`.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from math import log2

import torch
from jaxtyping import Float, Int
from torch import Tensor

from proponent.density._closest import Found, closest_in_groups, closest_of_all
from proponent.density._groups import Frame, GroupBounds, keeps_float32
from proponent.density._place import Place
from proponent.kernels import has_kernels

# Groups that are compared beyond the number that must be: they carry the certificate over near ties.
_SPARE = 3
# Squares of numbers of this size, and their sums, stay well within float64.
_SAFE = 1e140
# On a CPU and on a GPU. Products and members that fit a CPU's cache are read from it, and more queries at a
# time gain nothing; a GPU wants more work at a time.
_ROOM, _QUERIES_AT_ONCE = (4 << 20, 1 << 30), (1 << 10, 1 << 13)
# A group's bound, as float64, and what selecting takes: its copy, values and positions.
_BYTES_A_GROUP = 32


def nearest(
    samples: Float[Tensor, "n d"],
    queries: Float[Tensor, "q d"],
    count: int,
    place: Place,
    report: Callable[[int], object] = lambda done: None,
) -> tuple[Float[Tensor, "q count"], Int[Tensor, "q count"]]:
    """Find the samples nearest to each query.

    >>> from proponent.density._place import Place
    >>> samples = torch.tensor([[0.0], [2.0], [2.0], [7.0]])
    >>> nearest(samples, torch.tensor([[1.0], [6.0]]), 2, Place.asked_for(None, "float64", None))
    (tensor([[1., 1.],
            [1., 4.]], dtype=torch.float64), tensor([[0, 1],
            [3, 1]]))

    Args:
        samples: All of them finite, in any precision, from which on nothing is rounded.
        queries: Likewise. A sample that equals one has the distance 0, and counts as any other.
        count: How many to find, from 1 to n.
        place: Its budget bounds what is held beside samples, queries, result, and copies of samples and
            queries for products.
        report: Is told how many queries are done.

    Returns:
        Distances in rising order, in float64: what sums of squared differences give, without the error of
        products. Under 1e-154 of the largest coordinate they count as 0. And the positions of their
        samples; among equal distances the lowest first.

    Raises:
        ValueError: Some of the points lie further apart than numbers go.
    """
    distances = torch.empty(len(queries), count, dtype=torch.float64, device=samples.device)
    positions = torch.empty(len(queries), count, dtype=torch.long, device=samples.device)
    for part, found in nearest_by_parts(samples, queries, count, place):
        distances[part], positions[part] = found
        report(part.stop - part.start)
    return distances, positions


def nearest_by_parts(
    samples: Float[Tensor, "n d"], queries: Float[Tensor, "q d"], count: int, place: Place
) -> Iterator[tuple[slice, Found]]:
    """Find what `nearest` finds, a few queries at a time, where all of it is more than is needed.

    Yields:
        Which queries, their distances and positions.
    """
    samples, queries = samples.double(), queries.double()
    frame = Frame.around(samples, queries)
    if not 1 / _SAFE < frame.scale < _SAFE:
        scale = frame.scale
        for part, (distances, positions) in nearest_by_parts(samples * scale, queries * scale, count, place):
            yield part, (distances / scale, positions)
        return
    if has_kernels(samples):
        from proponent.kernels._nearest import fused_nearest

        unit = 2.0**-15 / frame.scale  # coordinates are within 2^15 of it
        yield from fused_nearest(samples, queries, count, frame.centre, unit, place.budget)
        return
    search = _Search(samples, count, frame, place)
    for start in range(0, len(queries), search.rows):
        part = slice(start, min(start + search.rows, len(queries)))
        yield part, search(queries[part])


@dataclass(frozen=True)
class _Search:
    """Samples that are made ready once to be searched by many."""

    samples: Float[Tensor, "n d"]
    count: int
    frame: Frame
    place: Place

    def __call__(self, queries: Float[Tensor, "q d"]) -> Found:
        if 2 * self.taken * self.size > len(self.samples):
            return closest_of_all(self.samples, queries, self.count, self.room)
        bounds = self.bounds.minima(queries, self.room)
        lowest = bounds.topk(self.taken + 1, 1, largest=False)
        distances, positions = self._among(queries, lowest.indices[:, :-1])
        reach = self._reach(distances[:, -1])
        unsure = ~(reach < lowest.values[:, -1])
        if bool(unsure.any()):
            distances[unsure], positions[unsure] = self._surely(queries[unsure], reach[unsure])
        return distances, positions

    @property
    def taken(self) -> int:
        """How many groups are compared at first: each may hold but one of those to be found."""
        return self.count + _SPARE

    @cached_property
    def size(self) -> int:
        """Of a group: small ones have fewer members to compare, large ones fewer bounds to select from.

        The costs of the two, measured, are equal where the square of the size is this.
        """
        n, d = self.samples.shape
        return int(2 ** max(0, round(log2(4 * n / (self.taken * (d + 16))) / 2)))

    @property
    def rows(self) -> int:
        """How many queries are searched at a time."""
        groups = -(-len(self.samples) // self.size)
        most = _QUERIES_AT_ONCE[self.place.device.type == "cuda"]
        return max(1, min(most, self.place.budget // 2 // ((groups + 2 * self.taken) * _BYTES_A_GROUP)))

    @property
    def room(self) -> int:
        """For products, and for members."""
        return min(self.place.budget // 4, _ROOM[self.place.device.type == "cuda"])

    @cached_property
    def bounds(self) -> GroupBounds:
        rough = torch.float32 if keeps_float32(self.samples.device) else torch.float64
        return GroupBounds.over(self.samples, self.size, self.frame, rough)

    @cached_property
    def sharp_bounds(self) -> GroupBounds:
        return GroupBounds.over(self.samples, self.size, self.frame, torch.float64)

    def _among(self, queries: Float[Tensor, "q d"], groups: Int[Tensor, "q t"]) -> Found:
        ordered = groups.sort(1).values
        return closest_in_groups(self.samples, queries, ordered, self.size, self.count, self.room)

    def _reach(self, distances: Float[Tensor, " q"]) -> Float[Tensor, " q"]:
        """What a bound must exceed for its group to lie further away, though differences are rounded."""
        error = 4 * (self.samples.shape[1] + 8) * torch.finfo(torch.float64).eps
        return (distances * self.frame.scale).square() * (1 + error)

    def _surely(self, queries: Float[Tensor, "q d"], reach: Float[Tensor, " q"]) -> Found:
        """Compare every group whose bound does not exclude it; queries with as many of them at a time."""
        bounds = self.sharp_bounds.minima(queries, self.room)
        needed = (bounds <= reach[:, None]).sum(1)
        distances = queries.new_empty(len(queries), self.count)
        positions = torch.empty_like(distances, dtype=torch.long)
        power = needed.double().log2().ceil()
        for value in torch.unique(power):
            rows = (power == value).nonzero()[:, 0]
            most = int(needed[rows].amax())
            if 2 * most > bounds.shape[1]:
                found = closest_of_all(self.samples, queries[rows], self.count, self.room)
            else:
                found = self._among(queries[rows], bounds[rows].topk(most, 1, largest=False).indices)
            distances[rows], positions[rows] = found
        return distances, positions
