r"""Which groups of samples can lie near each query.

The radius of a query is one within which there are as many samples as are asked for. A group can hold one of
these only if its smallest $h$ (see `_group_minima`) is small enough: from $D \le R$ follows

$$2 h + |\hat z|^2 = \hat D^2 \le (R + |x - \hat x| + |z - \hat z|)^2.$$
"""

import torch
import triton
import triton.language as tl
from jaxtyping import Float, Int
from torch import Tensor

from proponent.kernels._group_minima import SLACK, Groups, Rounded, share_of

_QUERIES = 32
_CLASSES = 256
_GROUPS, _GROUPS_EACH = 64, 2048


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
    minima: Float[Tensor, "g rows"],
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
    count, rows = minima.shape
    lists = torch.empty(rows, room, dtype=torch.int32, device=minima.device)
    counts = torch.zeros(rows, dtype=torch.int32, device=minima.device)
    reaches = radii + queries.errors
    squares = queries.squares * (1 - share_of(groups.halves.shape[1]))
    _list[(triton.cdiv(rows, _QUERIES), triton.cdiv(count, _GROUPS_EACH))](
        minima, reaches, squares, groups.errors, groups.allowances, lists, counts, rows, count, room,
        QUERIES=_QUERIES, GROUPS=_GROUPS, EACH=_GROUPS_EACH, SLACK=SLACK, num_warps=4,
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
    minima, reaches, squares, errors, allowances, lists, counts, rows, groups, room,
    QUERIES: tl.constexpr, GROUPS: tl.constexpr, EACH: tl.constexpr, SLACK: tl.constexpr,
):  # fmt: skip
    """Go through some groups of a few queries; those near draw their places one by one, as most are far."""
    query = tl.program_id(0) * QUERIES + tl.arange(0, QUERIES)
    inside = query < rows
    reach = tl.load(reaches + query, mask=inside, other=0.0)[None, :]
    square = tl.load(squares + query, mask=inside, other=0.0)[None, :]
    own = lists + query[None, :].to(tl.int64) * room
    first = tl.program_id(1) * EACH
    for start in range(first, tl.minimum(first + EACH, groups), GROUPS):
        g = start + tl.arange(0, GROUPS)
        h = tl.load(
            minima + g[:, None].to(tl.int64) * rows + query[None, :],
            mask=(g < groups)[:, None] & inside[None, :],
            other=float("inf"),
        )
        R = reach + tl.load(errors + g, mask=g < groups, other=0.0)[:, None]
        allowance = tl.load(allowances + g, mask=g < groups, other=0.0)[:, None]
        # Infinity is within an infinite reach, but stands for groups without samples.
        near = (h <= R * R * ((1 + SLACK) / 2) + allowance - square) & (h < float("inf"))
        if tl.max(tl.max(near.to(tl.int32), 1), 0) > 0:
            own_count = counts + query[None, :] + tl.zeros_like(g)[:, None]
            at = tl.atomic_add(own_count, 1, mask=near, sem="relaxed")
            tl.store(own + at, g[:, None] + tl.zeros_like(at), mask=near & (at < room))
