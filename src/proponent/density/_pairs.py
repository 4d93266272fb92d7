r"""The logarithms of weighted Gaussian kernels, of some samples at every query at a time.

Here and in what builds on it logarithms have the base 2, as a processor takes powers of 2 in a third of the
time that it needs for those of e:

$$t(x_i, z) = \log_2 \Big( w_i \, e^{-\|x_i - z\|^2 / 2 h^2} \Big).$$
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from math import frexp, log, sqrt

import torch
from jaxtyping import Float, Int
from torch import Tensor

from proponent.density._place import Place, slices
from proponent.precision import products

# In bandwidths: in it, products are logarithms to base 2.
_UNIT = sqrt(log(2))
# By how much a logarithm may be wrong at worst before differences replace products, in nats. What is found is
# a hundredth of that.
_TOLERANCES = {torch.float64: 1e-10, torch.float32: 1e-2}
# Of points that are centred at a time.
_NUMBERS_AT_ONCE = 1 << 18
# Numbers in a tile, and points on its sides: what stays in a CPU's caches, and what keeps a GPU busy.
_TILE = {"cpu": 1 << 19, "cuda": 1 << 25}
_SAMPLES = {"cpu": 1 << 12, "cuda": 1 << 17}
_QUERIES = {"cpu": 1 << 10, "cuda": 1 << 13}


class Pairs(ABC):
    """Samples and queries, a tile of whose logarithms can be written at a time.

    What is written lacks an offset, each query's own, that cancels where a query's logarithms are compared.
    """

    @property
    @abstractmethod
    def offsets(self) -> Float[Tensor, " q"]:
        """What is to be added to a query's logarithms, in float64."""

    @abstractmethod
    def write(self, rows: slice, levels: Float[Tensor, " q"], out: Float[Tensor, "r q"]) -> None:
        """Write t − offset − level for some samples and every query.

        Args:
            rows: The samples.
            levels: What else is taken off, a query's own each; it costs nothing.
            out: Where to.
        """

    @abstractmethod
    def of(self, queries: Int[Tensor, " k"]) -> "Pairs":
        """Pair all samples with some of the queries, with the same offsets."""


@dataclass(frozen=True, eq=False)
class Kernels:
    """Gaussian kernels of one bandwidth, one on each sample.

    Attributes:
        points: The samples as they are, in float64.
        log_weights: To base 2; minus infinity where there is no weight. Zeros where there are none.
        bandwidth: h.
        centre: A point in the midst of them, from which products measure.
        reach: How far from there the samples go, in bandwidths.
        place: Where to compute, and in which numbers.
    """

    points: Float[Tensor, "n d"]
    log_weights: Float[Tensor, " n"] | None
    bandwidth: float
    centre: Float[Tensor, " d"]
    reach: float
    place: Place

    def at(self, queries: Float[Tensor, "q d"]) -> Pairs:
        r"""Pair all samples with queries, in float64, by products if these are accurate enough.

        Where samples reach $R$ bandwidths from the centre and queries $R_z$, the terms of
        $x^\top z - |x|^2 / 2 - level$ are no larger together than $2 R R_z + R^2$. Rounded $d + 4$ times at
        most, by half an $\varepsilon$ each, the sum is wrong by less than $(d + 4) \varepsilon R (R + R_z)$.

        Raises:
            ValueError: The bandwidth is so small that squared distances leave the range of numbers.
        """
        reach = self.reach + reach_of(queries, self.centre, self.bandwidth)
        check_reach(reach, self.bandwidth, self.place.dtype)
        epsilon = torch.finfo(self.place.dtype).eps
        if (queries.shape[1] + 4) * epsilon * self.reach * reach <= _TOLERANCES[self.place.dtype]:
            return ByProduct(self, queries)
        return ByDifferences(self, queries)

    def scaled(self, points: Float[Tensor, "m d"], unit: float = 1) -> Float[Tensor, "m d"]:
        """Measure points from the centre, in so many bandwidths."""
        return (points - self.centre).mul_(1 / (unit * self.bandwidth))


@dataclass(frozen=True, eq=False)
class ByProduct(Pairs):
    r"""Pairs by one matrix product, $[x, \log_2 w - |x|^2 / 2, 1] \cdot [z, 1, -level]$.

    The offset is $-|z|^2 / 2$, so that a query that is far from all samples loses no digits to it.
    """

    kernels: Kernels
    queries: Float[Tensor, "q d"]

    @property
    def offsets(self) -> Float[Tensor, " q"]:
        """−|z|²/2."""
        return self.kernels.scaled(self.queries, _UNIT).square_().sum(1).mul_(-0.5)

    def write(self, rows: slice, levels: Float[Tensor, " q"], out: Float[Tensor, "r q"]) -> None:
        """Write t − offset − level for some samples and every query."""
        right = torch.cat([self._right, levels[None].neg().to(out.dtype)])
        with products("float32"):
            torch.mm(self._left(rows), right, out=out)

    def of(self, queries: Int[Tensor, " k"]) -> Pairs:
        """Pair all samples with some of the queries."""
        return ByProduct(self.kernels, self.queries[queries])

    def _left(self, rows: slice) -> Float[Tensor, "r c"]:
        kernels = self.kernels
        x = kernels.scaled(kernels.points[rows], _UNIT)
        r, d = x.shape
        left = torch.empty(r, d + 2, dtype=kernels.place.dtype, device=x.device)
        left[:, :d] = x
        heights = x.square_().sum(1).mul_(-0.5)
        left[:, d] = heights if kernels.log_weights is None else heights + kernels.log_weights[rows]
        left[:, d + 1] = 1
        return left

    @cached_property
    def _right(self) -> Float[Tensor, "c q"]:
        """The queries' factor but for the levels, its last row."""
        q, d = self.queries.shape
        right = torch.ones(d + 1, q, dtype=self.kernels.place.dtype, device=self.queries.device)
        right[:d] = self.kernels.scaled(self.queries, _UNIT).T
        return right


@dataclass(frozen=True, eq=False)
class ByDifferences(Pairs):
    """Pairs by the differences of the points as they are, in float64, without an offset."""

    kernels: Kernels
    queries: Float[Tensor, "q d"]

    @property
    def offsets(self) -> Float[Tensor, " q"]:
        """Zeros."""
        return self.queries.new_zeros(len(self.queries))

    def write(self, rows: slice, levels: Float[Tensor, " q"], out: Float[Tensor, "r q"]) -> None:
        """Write t − level for some samples and every query."""
        kernels = self.kernels
        mantissa, exponent = frexp(kernels.bandwidth)
        unit = 2.0**-exponent  # rounds nothing, and keeps squares in range
        t = torch.cdist(
            kernels.points[rows] * unit, self.queries * unit, compute_mode="donot_use_mm_for_euclid_dist"
        )
        t.mul_(sqrt(1 / 2) / (_UNIT * mantissa)).square_().neg_()
        if kernels.log_weights is not None:
            t += kernels.log_weights[rows, None]
        torch.sub(t, levels, out=out)

    def of(self, queries: Int[Tensor, " k"]) -> Pairs:
        """Pair all samples with some of the queries."""
        return ByDifferences(self.kernels, self.queries[queries])


@dataclass(frozen=True, eq=False)
class Without(Pairs):
    """Pairs of which each query leaves one sample out.

    Attributes:
        pairs: All of them.
        omitted: The position of the sample that a query leaves out, ``[q]``.
    """

    pairs: Pairs
    omitted: Int[Tensor, " q"]

    @property
    def offsets(self) -> Float[Tensor, " q"]:
        """Those of all of them."""
        return self.pairs.offsets

    def write(self, rows: slice, levels: Float[Tensor, " q"], out: Float[Tensor, "r q"]) -> None:
        """Write what there is of all, and minus infinity where a sample is left out."""
        self.pairs.write(rows, levels, out)
        at = self.omitted - rows.start
        here = ((at >= 0) & (at < len(out)))[None]
        at = at.clamp(0, len(out) - 1)[None]
        out.scatter_(0, at, out.gather(0, at).masked_fill_(here, -torch.inf))

    def of(self, queries: Int[Tensor, " k"]) -> Pairs:
        """Pair all samples with some of the queries."""
        return Without(self.pairs.of(queries), self.omitted[queries])


def reach_of(points: Float[Tensor, "m d"], centre: Float[Tensor, " d"], bandwidth: float) -> float:
    """How far points lie from a centre, at most, in bandwidths."""
    parts = slices(len(points), max(1, _NUMBERS_AT_ONCE // points.shape[1]))
    squares = [(points[part] - centre).div_(bandwidth).square_().sum(1).amax() for part in parts]
    return sqrt(float(torch.stack(squares).amax()))


def check_reach(reach: float, bandwidth: float, dtype: torch.dtype) -> None:
    """Refuse points of which a squared distance, in bandwidths, is no number.

    Raises:
        ValueError: Says how small the bandwidth is beside them.
    """
    if not reach < sqrt(torch.finfo(dtype).max) / 4:
        raise ValueError(
            f"`bandwidth` must not be so small that squared distances in bandwidths are beyond "
            f"{str(dtype).removeprefix('torch.')}, got {bandwidth:g} and a distance of {reach:g} bandwidths. "
            "Use a larger one."
        )


def tile_shape(kernels: Kernels, q: int) -> tuple[int, int]:
    """How many samples and queries to take at a time, at least one of each."""
    (n, d), device = kernels.points.shape, "cuda" if kernels.place.device.type == "cuda" else "cpu"
    share, factor = kernels.place.share(1 / 4), 3 * (d + 2)  # what is held of a point on the way
    columns = min(q, _QUERIES[device], share.rows(8 * factor))
    return min(n, _SAMPLES[device], _TILE[device] // columns, share.rows(8 * (columns + factor))), columns
