r"""Which groups of samples can lie near each query.

The radius of a query is one within which there are as many samples as are asked for. A group can hold one of
these only if its smallest $\hat D$ (see `_group_minima`) is small enough: from $D \le R$ follows

$$\hat D^2 \le (R + |x - \hat x| + |z - \hat z|)^2.$$
"""

import torch
import triton
import triton.language as tl
from jaxtyping import Float, Int, Int16
from torch import Tensor

from proponent.kernels._group_minima import DROPPED, Groups, share_of
from proponent.kernels._round_points import SLACK, Rounded

_QUERIES = 32
_CLASSES = 256
# Groups that are tested at a time are the bits of a number.
_QUERIES_LISTED, _GROUPS, _GROUPS_EACH = 64, 32, 2048
_WARPS = 1


def fused_radii(highest: Float[Tensor, "c rows"], count: int) -> Float[Tensor, " rows"]:
    """Select the `count`-th smallest of every column: within it lie as many samples, one of each class.

    Args:
        highest: Upper bounds of distances, none of them negative, a column for each query.
        count: How many samples there must be; infinity comes where there are fewer classes.
    """
    classes, rows = highest.shape
    radii = torch.empty(rows, device=highest.device)
    _select[(triton.cdiv(rows, _QUERIES),)](
        highest, radii, rows, classes, count, QUERIES=_QUERIES, CLASSES=_CLASSES, num_warps=4
    )
    return radii


def fused_near_groups(
    minima: Int16[Tensor, "g rows"],
    radii: Float[Tensor, " rows"],
    queries: Rounded,
    groups: Groups,
    room: int,
) -> tuple[Int[Tensor, "rows room"], Int[Tensor, " rows"]]:
    """List the groups that can hold a sample within the radius, for every column, in any order.

    Args:
        minima: From `fused_group_minima`.
        radii: In the same unit.
        queries: Of the columns.
        groups: Of the rows.
        room: How many groups of each query are listed at most.

    Returns:
        The groups, and how many there are for each query, with those for which there was no room.
    """
    rows = minima.shape[1]
    lists = torch.empty(rows, room, dtype=torch.int32, device=minima.device)
    counts = torch.zeros(rows, dtype=torch.int32, device=minima.device)
    reaches = radii + queries.errors
    own_allowances = queries.squares * share_of(groups.halves.shape[1])
    _list[(triton.cdiv(rows, _QUERIES_LISTED), triton.cdiv(groups.filled, _GROUPS_EACH))](
        minima, reaches, own_allowances, groups.errors, groups.allowances, lists, counts,
        rows, groups.filled, room,
        QUERIES=_QUERIES_LISTED, GROUPS=_GROUPS, EACH=_GROUPS_EACH, SLACK=SLACK, DROPPED=DROPPED,
        num_warps=_WARPS,
    )  # fmt: skip
    return lists, counts


@triton.jit
def _select(highest, radii, rows, classes, count, QUERIES: tl.constexpr, CLASSES: tl.constexpr):
    """Halve the interval of the answer's bits: those of numbers that aren't negative rise with them."""
    query = tl.program_id(0) * QUERIES + tl.arange(0, QUERIES)
    inside = query < rows
    low = tl.zeros((QUERIES,), tl.int32)
    high = tl.full((QUERIES,), 0x7F800000, tl.int32)  # infinity
    for _ in range(31):
        middle = low + (high - low) // 2
        found = tl.zeros((QUERIES,), tl.int32)
        for start in range(0, classes, CLASSES):
            c = start + tl.arange(0, CLASSES)
            there = (c < classes)[:, None] & inside[None, :]
            bound = tl.load(highest + c[:, None].to(tl.int64) * rows + query[None, :], mask=there, other=0.0)
            within = there & (bound.to(tl.int32, bitcast=True) <= middle[None, :])
            found += tl.sum(within.to(tl.int32), 0)
        high = tl.where(found >= count, middle, high)
        low = tl.where(found >= count, low, middle + 1)
    tl.store(radii + query, high.to(tl.float32, bitcast=True), mask=inside)


@triton.jit
def _list(
    minima, reaches, own_allowances, errors, allowances, lists, counts, rows, groups, room,
    QUERIES: tl.constexpr, GROUPS: tl.constexpr, EACH: tl.constexpr, SLACK: tl.constexpr,
    DROPPED: tl.constexpr,
):  # fmt: skip
    """Go through some groups of a few queries, 32 of them as the bits of a number, which is mostly 0."""
    query = tl.program_id(0) * QUERIES + tl.arange(0, QUERIES)
    inside = query < rows
    reach = tl.load(reaches + query, mask=inside, other=0.0)[None, :]
    own_allowance = tl.load(own_allowances + query, mask=inside, other=0.0)[None, :]
    own = lists + query.to(tl.int64) * room
    first = tl.program_id(1) * EACH
    member = tl.arange(0, GROUPS)
    for start in range(first, tl.minimum(first + EACH, groups), GROUPS):
        there = start + member < groups
        tile = minima + (start + member).to(tl.int64)[:, None] * rows + query[None, :]
        # What isn't there opens as no number, and isn't near.
        bits = tl.load(tile, mask=there[:, None] & inside[None, :], other=-1)
        half_square = ((bits.to(tl.int32) & 0xFFFF) << DROPPED).to(tl.float32, bitcast=True)
        R = reach + tl.load(errors + start + member, mask=there, other=0.0)[:, None]
        allowance = tl.load(allowances + start + member, mask=there, other=0.0)[:, None]
        near = half_square <= R * (R * ((1 + SLACK) / 2)) + (allowance + own_allowance)
        word = tl.sum(near.to(tl.int32) << member[:, None], 0)
        while tl.max((word != 0).to(tl.int32), 0) > 0:
            lowest = word & -word
            # It is a power of two, perhaps with a sign; its exponent, as float32, says which.
            place = ((lowest.to(tl.float32).to(tl.int32, bitcast=True) >> 23) & 0xFF) - 127
            at = tl.atomic_add(counts + query, 1, mask=word != 0, sem="relaxed")
            tl.store(own + at, start + place, mask=(word != 0) & (at < room))
            word = word & (word - 1)
