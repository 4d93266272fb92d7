r"""Logarithms of sums of weighted kernels over all samples, a tile at a time.

$$L(z) = \log_2 \sum_i 2^{t(x_i, z)}$$

Powers are relative to a level, each query's own: the highest t of the first samples, raised where a later sum
is too large. So nothing overflows, what underflows is nothing beside the highest, a query may be as far from
all samples as it likes, and few tiles are searched for their maximum.
"""

from collections.abc import Callable
from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from proponent.density._pairs import ByProduct, Kernels, Pairs, Without, tile_shape
from proponent.density._place import slices
from proponent.kernels import has_kernels

# Sums of powers beyond these have their levels raised. Squares of them, and sums of many, are still numbers.
_MOST = {torch.float64: 2.0**500, torch.float32: 2.0**60}


class Sums(NamedTuple):
    """Sums of powers, one a query, $2^{level} s$.

    Attributes:
        levels: In the numbers of the powers.
        relative: s, in float64.
    """

    levels: Float[Tensor, " q"]
    relative: Float[Tensor, " q"]

    @classmethod
    def of_none(cls, tile: Float[Tensor, "r q"]) -> "Sums":
        """Sum over no samples; the level is lower than any logarithm."""
        levels = tile.new_full(tile.shape[1:], torch.finfo(tile.dtype).min / 2)
        return cls(levels, torch.zeros_like(levels, dtype=torch.float64))

    def plus(self, later: "Sums") -> "Sums":
        """Add sums whose levels are as high or higher."""
        return Sums(later.levels, later.relative.addcmul(self.relative, (self.levels - later.levels).exp2()))

    @property
    def logs(self) -> Float[Tensor, " q"]:
        """L, in float64; minus infinity where all is zero."""
        return self.levels + self.relative.log2()


def powers(
    pairs: Pairs,
    rows: slice,
    levels: Float[Tensor, " q"],
    logs: Float[Tensor, "r q"],
    out: Float[Tensor, "r q"],
) -> Sums:
    """Write the powers of what `pairs` writes for some samples, and sum over them.

    Args:
        pairs: Of samples and queries.
        rows: The samples.
        levels: Those to begin with. The sums say which it became.
        logs: For the logarithms; products are faster where they stay in a cache.
        out: Where to. It may be the same.
    """
    pairs.write(rows, levels, logs)
    sums = torch.exp2(logs, out=out).sum(0)
    if bool((sums > _MOST[out.dtype]).any()):
        pairs.write(rows, torch.zeros_like(levels), logs)
        levels = torch.maximum(levels, logs.amax(0))
        pairs.write(rows, levels, logs)  # what stands there is rounded by its size
        sums = torch.exp2(logs, out=out).sum(0)
    return Sums(levels, sums.double())


def log_sums(pairs: Pairs, count: int, tile: Float[Tensor, "r q"]) -> Float[Tensor, " q"]:
    """Compute L for every query, in float64, but for the offset of the pairs.

    Args:
        pairs: Of samples and queries.
        count: How many samples there are.
        tile: Is written to; so many samples are taken at a time, in its numbers.
    """
    total = Sums.of_none(tile)
    for rows in slices(count, len(tile)):
        part = tile[: rows.stop - rows.start]
        total = total.plus(powers(pairs, rows, total.levels, part, part))
    return total.logs


def log_sums_at(kernels: Kernels, queries: Float[Tensor, "q d"]) -> Float[Tensor, " q"]:
    """Compute L for queries, in float64."""
    if _is_fused(kernels, queries):
        from proponent.kernels._log_sum import fused_log_sums

        return fused_log_sums(kernels.points, queries, kernels.bandwidth, kernels.centre, kernels.log_weights)
    parts = slices(len(queries), tile_shape(kernels, len(queries))[1])
    return torch.cat([_whole(kernels.at(queries[part]), kernels) for part in parts])


def log_sums_without_self(kernels: Kernels, report: Callable[[int], object]) -> Float[Tensor, " n"]:
    """Compute L at every sample over all other samples, in float64.

    Args:
        kernels: The samples'.
        report: Is told how many are done.
    """
    n = len(kernels.points)
    if _is_fused(kernels, kernels.points):
        from proponent.kernels._log_sum import fused_log_sums_of_others

        result = fused_log_sums_of_others(
            kernels.points, kernels.bandwidth, kernels.centre, kernels.log_weights
        )
        report(n)
        return result
    result = torch.empty(n, dtype=torch.float64, device=kernels.place.device)
    for part in slices(n, tile_shape(kernels, n)[1]):
        own = torch.arange(part.start, part.stop, device=result.device)
        result[part] = _whole(Without(kernels.at(kernels.points[part]), own), kernels)
        report(part.stop - part.start)
    return result


def tile_for(kernels: Kernels, q: int) -> Float[Tensor, "r q"]:
    """Make room for as many samples at a time as it has rows."""
    place = kernels.place
    return torch.empty(tile_shape(kernels, q)[0], q, dtype=place.dtype, device=place.device)


def _is_fused(kernels: Kernels, queries: Float[Tensor, "q d"]) -> bool:
    """Whether a kernel sums: on a GPU, in float32, where products are accurate enough."""
    in_float32 = kernels.place.dtype == torch.float32 and has_kernels(queries)
    return in_float32 and isinstance(kernels.at(queries), ByProduct)


def _whole(pairs: Pairs, kernels: Kernels) -> Float[Tensor, " q"]:
    offsets = pairs.offsets
    return log_sums(pairs, len(kernels.points), tile_for(kernels, len(offsets))) + offsets
