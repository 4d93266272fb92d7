"""Exact distances to the samples of a few groups, of which those within a limit are kept."""

import torch
import triton
import triton.language as tl
from jaxtyping import Float, Int
from torch import Tensor

_SAMPLES, _DEPTH = 128, 16
# Where there is no sample; it sorts behind them.
NOBODY = torch.iinfo(torch.int32).max


def fused_near_samples(
    samples: Float[Tensor, "n d"],
    queries: Float[Tensor, "q d"],
    lists: Int[Tensor, "q g"],
    counts: Int[Tensor, " q"],
    limits: Float[Tensor, " q"],
    size: int,
    room: int,
) -> tuple[Float[Tensor, "q room"], Int[Tensor, "q room"], Int[Tensor, " q"]]:
    r"""Compute $|x - z|^2$ by differences, in float64.

    Args:
        samples: In any precision, from which on nothing is rounded.
        queries: Likewise.
        lists: Which groups to go through, for each query.
        counts: How many of those that are listed count.
        limits: Squares beyond it are left out.
        size: How many consecutive samples make a group: a power of two up to 128.
        room: How many samples are kept at most.

    Returns:
        The squares within the limit, in any order, and infinity where there are fewer; their samples'
        positions, or `NOBODY`; and how many there are.
    """
    (n, d), q = samples.shape, len(queries)
    squares = torch.full((q, room), torch.inf, dtype=torch.float64, device=samples.device)
    positions = torch.full((q, room), NOBODY, dtype=torch.int32, device=samples.device)
    kept = torch.empty(q, dtype=torch.int32, device=samples.device)
    _kernel[(q,)](
        samples.contiguous(), queries.contiguous(), lists, counts, limits.double(), squares, positions, kept,
        n, d, lists.shape[1], room,
        SIZE=size, SAMPLES=_SAMPLES, DEPTH=_DEPTH, num_warps=4,
    )  # fmt: skip
    return squares, positions, kept


@triton.jit
def _kernel(
    samples, queries, lists, counts, limits, squares, positions, kept, n, d, listed, room,
    SIZE: tl.constexpr, SAMPLES: tl.constexpr, DEPTH: tl.constexpr,
):  # fmt: skip
    """Go through the groups of one query, a few at a time."""
    i = tl.program_id(0).to(tl.int64)
    limit = tl.load(limits + i)
    z = queries + i * d
    member = tl.arange(0, SAMPLES)
    column = tl.arange(0, DEPTH)
    count = tl.minimum(tl.load(counts + i), listed)
    found = 0
    for start in range(0, count, SAMPLES // SIZE):
        place = start + member // SIZE
        group = tl.load(lists + i * listed + place, mask=place < count, other=0)
        j = group * SIZE + member % SIZE
        there = (place < count) & (j < n)
        x = samples + j[:, None].to(tl.int64) * d
        # Sums come last: until then each thread adds up columns of its own.
        parts = tl.zeros((SAMPLES, DEPTH), tl.float64)
        for k in tl.range(0, d, DEPTH, loop_unroll_factor=4):
            inside = k + column < d
            u = tl.load(x + (k + column)[None, :], mask=there[:, None] & inside[None, :], other=0.0)
            v = tl.load(z + k + column, mask=inside, other=0.0)
            difference = u.to(tl.float64) - v.to(tl.float64)[None, :]
            parts += difference * difference
        square = tl.sum(parts, 1)
        near = (there & (square <= limit)).to(tl.int32)
        at = found + tl.cumsum(near, 0) - 1
        tl.store(squares + i * room + at, square, mask=(near > 0) & (at < room))
        tl.store(positions + i * room + at, j, mask=(near > 0) & (at < room))
        found += tl.sum(near, 0)
    tl.store(kept + i, found)
