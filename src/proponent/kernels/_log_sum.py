r"""The logarithm of a sum of Gaussian kernels over all samples, for every query, in one pass.

$$L(z) = \log_2 \sum_j w_j\, e^{-|x_j - z|^2 / 2 h^2}$$

A program holds a tile of queries and goes through the samples once, with the running maximum and sum of each
query; no distance is written. Products are of numbers split in two halves of 11 bits each, $x = h + l$, as
$h h' + h l' + l h'$: what is left out is smaller by $2^{-22}$, and three products of half precision take half
the time of three in tf32.
"""

from math import log, sqrt
from typing import Any, NamedTuple

import torch
import triton
import triton.language as tl
from jaxtyping import Float
from torch import Tensor
from triton.tools.tensor_descriptor import TensorDescriptor

from proponent.kernels._half_points import parts_of, unit_of, width_of

ROWS, COLUMNS = 128, 128
_DEPTH = 64
_WARPS, _STAGES = 8, 2
# Logarithms that count for nothing, and the maximum before there is one: far above them.
_NEVER, _LOWEST = -1e30, -1e20
# Points whose squares float32 holds have smaller units; those that all lie on the centre have any.
_LARGEST = 2.0**48


def fused_log_sums(
    samples: Float[Tensor, "n d"],
    queries: Float[Tensor, "q d"],
    bandwidth: float,
    centre: Float[Tensor, " d"],
    log_weights: Float[Tensor, " n"] | None = None,
) -> Float[Tensor, " q"]:
    r"""Compute $L(z)$ of every query; its error is that of float32.

    Args:
        samples: In any precision.
        queries: Likewise.
        bandwidth: h.
        centre: In the midst of the samples, so that little is lost.
        log_weights: To base 2, minus infinity where there is no weight; zeros unless given.

    Returns:
        In float64; minus infinity where no sample has weight.
    """
    return _log_sums(
        _split(samples, COLUMNS, bandwidth, centre),
        _split(queries, ROWS, bandwidth, centre),
        log_weights,
        False,
    )


def fused_log_sums_of_others(
    samples: Float[Tensor, "n d"],
    bandwidth: float,
    centre: Float[Tensor, " d"],
    log_weights: Float[Tensor, " n"] | None = None,
) -> Float[Tensor, " n"]:
    """Compute the same at every sample, over the other samples."""
    split = _split(samples, max(ROWS, COLUMNS), bandwidth, centre)
    return _log_sums(split, split, log_weights, True)


class _Split(NamedTuple):
    """Points as sums of two halves.

    Attributes:
        high: The first half, in the unit, ``[rows, width]``; zeros follow the last up to a whole tile.
        low: The second.
        squares: |x|²/2h² to base 2, ``[n]``.
        split_squares: The same of what the halves stand for.
        unit: Where products are logarithms to base 2.
    """

    high: Tensor
    low: Tensor
    squares: Tensor
    split_squares: Tensor
    unit: float


def _split(points: Float[Tensor, "n d"], tile: int, bandwidth: float, centre: Float[Tensor, " d"]) -> _Split:
    """Split points, and measure them as they then are."""
    (n, d), unit = points.shape, unit_of(points, centre)
    high, low = torch.zeros(
        2, triton.cdiv(n, tile) * tile, width_of(d), dtype=torch.float16, device=points.device
    )
    squares, split_squares = torch.empty(2, n, dtype=torch.float64, device=points.device)
    for part in parts_of(points):
        x = (points[part].double() - centre) / unit
        high[part, :d] = x
        low[part, :d] = x - high[part, :d].double()
        squares[part] = x.square().sum(1)
        split_squares[part] = (high[part].double() + low[part].double()).square().sum(1)
    unit = min(unit / (sqrt(log(2)) * bandwidth), _LARGEST)
    return _Split(high, low, squares * (unit**2 / 2), split_squares * (unit**2 / 2), unit)


def _log_sums(
    samples: _Split, queries: _Split, log_weights: Float[Tensor, " n"] | None, others: bool
) -> Float[Tensor, " q"]:
    """Sum powers of t = x·z − |x|²/2 + log w; −|z|²/2 is the same for all samples, and comes last."""
    (n,), (q,), width = samples.squares.shape, queries.squares.shape, samples.high.shape[1]
    offsets = torch.full((len(samples.high),), -_NEVER, device=samples.high.device)
    offsets[:n] = samples.split_squares if log_weights is None else samples.split_squares - log_weights
    offsets.clamp_(max=-_NEVER)
    sums = torch.empty(q, device=offsets.device)
    describe: Any = TensorDescriptor.from_tensor
    depth = min(width, _DEPTH)
    _kernel[(triton.cdiv(q, ROWS),)](
        describe(queries.high, [ROWS, depth]),
        describe(queries.low, [ROWS, depth]),
        describe(samples.high, [COLUMNS, depth]),
        describe(samples.low, [COLUMNS, depth]),
        offsets,
        sums,
        samples.unit * queries.unit,
        q,
        triton.cdiv(n, COLUMNS),
        WIDTH=width,
        DEPTH=depth,
        ROWS=ROWS,
        COLUMNS=COLUMNS,
        NEVER=_NEVER,
        LOWEST=_LOWEST,
        OTHERS=others,
        num_warps=_WARPS,
        num_stages=_STAGES,
    )
    # With a query's own square, what its halves leave out counts by its product with samples, which are near
    # the centre. Among themselves, points are better taken as if they were their halves: near ones stay near.
    return sums.double() - (queries.split_squares if others else queries.squares)


@triton.jit
def _kernel(
    q_high, q_low, high, low, offsets, sums, square_unit, q, tiles,
    WIDTH: tl.constexpr, DEPTH: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr,
    NEVER: tl.constexpr, LOWEST: tl.constexpr, OTHERS: tl.constexpr,
):  # fmt: skip
    """Sum over all samples, or all but the query itself, for one tile of queries."""
    row = tl.program_id(0) * ROWS
    i = row + tl.arange(0, ROWS)
    zh, zl = q_high.load([row, 0]), q_low.load([row, 0])
    m = tl.full((ROWS,), LOWEST, tl.float32)
    s = tl.zeros((ROWS,), tl.float32)  # of powers, over 2^m
    first, last = tiles, tiles
    if OTHERS:  # only tiles on the diagonal hold someone to leave out
        first, last = row // COLUMNS, tl.minimum(tl.cdiv(row + ROWS, COLUMNS), tiles)
    for part in tl.static_range(3 if OTHERS else 1):
        start = 0 if part == 0 else first if part == 1 else last
        stop = first if part == 0 else last if part == 1 else tiles
        for tile in range(start, stop):
            column = tile * COLUMNS
            j = column + tl.arange(0, COLUMNS)
            P = tl.zeros((ROWS, COLUMNS), dtype=tl.float32)
            # The small products come first: a GPU rounds to the size of what it has summed.
            if WIDTH == DEPTH:
                xh, xl = high.load([column, 0]), low.load([column, 0])
                P = tl.dot(zh, xl.T, P)
                P = tl.dot(zl, xh.T, P)
                P = tl.dot(zh, xh.T, P)
            else:
                for k in range(0, WIDTH, DEPTH):
                    P = tl.dot(q_high.load([row, k]), low.load([column, k]).T, P)
                    P = tl.dot(q_low.load([row, k]), high.load([column, k]).T, P)
                for k in range(0, WIDTH, DEPTH):
                    P = tl.dot(q_high.load([row, k]), high.load([column, k]).T, P)
            t = P * square_unit - tl.load(offsets + j)[None, :]
            if part == 1:
                t = tl.where(i[:, None] == j[None, :], NEVER, t)
            top = tl.maximum(m, tl.max(t, 1))
            s = s * tl.exp2(m - top) + tl.sum(tl.exp2(t - top[:, None]), 1)
            m = top
    tl.store(sums + i, m + tl.log2(s), mask=i < q)
