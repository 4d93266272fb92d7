r"""How near every query comes to every group of a few samples, but for a known error, in one pass.

Products are of numbers rounded to half precision. Between rounded points the distance $\hat D$ is known but
for the rounding of sums, and it bounds the distance $D$ between the points themselves:

$$|\hat D - D| \le |x - \hat x| + |z - \hat z|,$$

where what rounding did to each point is measured, not estimated.

A program holds a tile of queries and goes through the samples of a segment. It keeps running minima of
$h = |\hat x|^2/2 - \hat x \cdot \hat z$, one for each query and slot, so that $\hat D^2 = 2 h + |\hat z|^2$.
Samples are laid out so that those which meet a slot one after the other are a group: neighbours in their own
order. A sum of w products is wrong by less than a share of $(w + 32)\, 2^{-22}$ of $(|\hat x|^2 + |\hat
z|^2) / 2$, also where a GPU cuts off what it adds to the size of the largest term; that is twice what is
needed, and covers the rounding of whatever is made of it.
"""

from dataclasses import dataclass
from typing import Any

import torch
import triton
import triton.language as tl
from jaxtyping import Float, Int
from torch import Tensor
from triton.tools.tensor_descriptor import TensorDescriptor

from proponent.kernels._half_points import parts_of, width_of

GROUP = 32  # samples
SLOTS = 32  # groups that a program follows at a time
BLOCK = GROUP * SLOTS  # samples, of which each slot meets as many
ROWS, QUERIES = 64, 128
_DEPTH = 64
_WARPS, _STAGES = 4, 3
# Above the rounding of square roots, norms, and squares.
SLACK = 2.0**-20
# Above what a GPU takes for zero; next to it every number of float16 is large.
_TINY = 2.0**-100
# Groups that were rounded by more than so many times the middle one's error give no upper bound: a few far
# samples should not blur it.
_BLURRED = 4


@dataclass(frozen=True)
class Rounded:
    """Points as the products see them, and how far from there they are, in one unit.

    Attributes:
        halves: The rounded points, ``[rows, width]``; zeros follow the last up to a whole tile.
        squares: |x̂|²/2, ``[rows]``.
        errors: An upper bound of |x − x̂|, ``[rows]``.
    """

    halves: Tensor
    squares: Tensor
    errors: Tensor

    def take(self, rows: Int[Tensor, " m"]) -> "Rounded":
        """Some of them."""
        return Rounded(self.halves[rows], self.squares[rows], self.errors[rows])


@dataclass(frozen=True)
class Groups:
    """Samples in the order in which they are met, and bounds for each group.

    Attributes:
        halves: The rounded samples, ``[blocks * BLOCK, width]``.
        squares: |x̂|²/2; infinite where there is no sample.
        allowances: By how much the rounding of sums may have changed h, but for the query's part.
        errors: The largest |x − x̂| of each group.
    """

    halves: Tensor
    squares: Tensor
    allowances: Tensor
    errors: Tensor

    @property
    def bytes(self) -> int:
        """What they take, while they are made."""
        return 2 * (self.halves.nbytes + self.squares.nbytes)


def share_of(width: int) -> float:
    """The share of (|x̂|² + |ẑ|²) / 2 by which h may be wrong."""
    return (width + 32) * 2.0**-22


def round_queries(queries: Float[Tensor, "q d"], centre: Float[Tensor, " d"], unit: float) -> Rounded:
    """Round queries in the unit of the samples."""
    return _round(queries, centre, unit, QUERIES)


def group_samples(samples: Float[Tensor, "n d"], centre: Float[Tensor, " d"], unit: float) -> Groups:
    """Round samples, and lay groups of `GROUP` neighbours out across tiles.

    Args:
        samples: In their own order.
        centre: Close to their mean, so that little is lost; the queries' as well.
        unit: A power of two by which no coordinate of a sample or query, once centred, exceeds 2^15.
    """
    points = _round(samples, centre, unit, BLOCK)
    largest, errors = (part.view(-1, GROUP).amax(1) for part in (points.squares, points.errors))
    points.squares[len(samples) :] = torch.inf
    order, width = _order().to(samples.device), points.halves.shape[1]
    halves = points.halves.view(-1, BLOCK, width)[:, order].flatten(0, 1)
    squares = points.squares.view(-1, BLOCK)[:, order].flatten()
    return Groups(halves, squares, largest * share_of(width), errors)


def fused_group_minima(
    queries: Rounded, groups: Groups, segments: int
) -> tuple[Float[Tensor, "g rows"], Float[Tensor, "c rows"]]:
    """Compute the smallest h of each group, and bound distances from above.

    Args:
        queries: From `round_queries`.
        groups: From `group_samples`.
        segments: In how many parts the samples are gone through, by programs of their own.

    Returns:
        A number for each group of `GROUP` consecutive samples; and for each of ``SLOTS * segments`` classes
        of samples an upper bound of the distance to the nearest of them. No sample is in two classes. Where
        there are no samples, there is infinity. Columns are queries; what follows the last means nothing.
    """
    rows, count = len(queries.halves), len(groups.errors)
    blocks, width = count // SLOTS, groups.halves.shape[1]
    minima = torch.empty(count, rows, device=groups.halves.device)
    highest = torch.empty(segments * SLOTS, rows, device=groups.halves.device)
    blur = groups.errors.median() * _BLURRED
    describe: Any = TensorDescriptor.from_tensor
    depth = min(width, _DEPTH)
    _kernel[(rows // QUERIES, segments)](
        describe(groups.halves, [ROWS, depth]),
        describe(queries.halves, [QUERIES, depth]),
        describe(minima, [SLOTS, QUERIES]),
        describe(highest, [SLOTS, QUERIES]),
        groups.squares,
        groups.allowances.masked_fill(groups.errors > blur, torch.inf),
        queries.squares * (1 + share_of(width)),
        queries.errors + blur,
        blocks,
        triton.cdiv(blocks, segments),
        WIDTH=width,
        DEPTH=depth,
        ROWS=ROWS,
        QUERIES=QUERIES,
        SLOTS=SLOTS,
        TILES=BLOCK // ROWS,
        SLACK=SLACK,
        num_warps=_WARPS,
        num_stages=_STAGES,
    )
    return minima, highest


def _round(points: Float[Tensor, "n d"], centre: Float[Tensor, " d"], unit: float, tile: int) -> Rounded:
    """Round points in float64, and measure what it did to them."""
    n, d = points.shape
    rows = triton.cdiv(n, tile) * tile
    halves = torch.zeros(rows, width_of(d), dtype=torch.float16, device=points.device)
    squares, errors = torch.zeros(2, rows, device=points.device)
    for part in parts_of(points):
        x = (points[part].double() - centre.double()) / unit
        halves[part, :d] = x
        rounded = halves[part, :d].double()
        squares[part] = rounded.square().sum(1) / 2
        # Centring rounds as well, in float64.
        errors[part] = (x - rounded).norm(dim=1) * (1 + SLACK) + x.norm(dim=1) * 2.0**-50 + _TINY
    return Rounded(halves, squares, errors)


def _order() -> Tensor:
    """Which sample of a block lies at each place: tile t, row ρ meets slot c, as its member m.

    The rows of a tile that one thread holds share a slot: of every 16 the first and second 8, and of the
    tile's parts, where there are more rows than two for a slot.
    """
    members = torch.arange(BLOCK).view(SLOTS // 8, 8, BLOCK // ROWS, ROWS // SLOTS // 2, 2)
    return members.permute(2, 3, 0, 4, 1).flatten()


@triton.jit
def _kernel(
    samples, queries, minima, highest, squares, allowances, q_squares, q_errors, blocks, blocks_each,
    WIDTH: tl.constexpr, DEPTH: tl.constexpr, ROWS: tl.constexpr, QUERIES: tl.constexpr,
    SLOTS: tl.constexpr, TILES: tl.constexpr, SLACK: tl.constexpr,
):  # fmt: skip
    """Go through one segment of the samples, for one tile of queries."""
    first = tl.program_id(0) * QUERIES
    start = tl.program_id(1) * blocks_each
    slot = tl.arange(0, SLOTS)
    z = queries.load([first, 0]).T
    M = tl.full((SLOTS, QUERIES), float("inf"), tl.float32)
    U = tl.full((SLOTS, QUERIES), float("inf"), tl.float32)
    for tile in range(start * TILES, tl.minimum(start + blocks_each, blocks) * TILES):
        row = tile * ROWS
        if WIDTH == DEPTH:
            P = tl.dot(samples.load([row, 0]), z)
        else:
            P = tl.zeros((ROWS, QUERIES), dtype=tl.float32)
            for k in range(0, WIDTH, DEPTH):
                P = tl.dot(samples.load([row, k]), queries.load([first, k]).T, P)
        h = tl.load(squares + row + tl.arange(0, ROWS))[:, None] - P
        # All rows of a slot lie with one thread, and need no exchange.
        h = tl.reshape(h, (ROWS // SLOTS // 2, SLOTS // 8, 2, 8, QUERIES))
        M = tl.minimum(M, tl.reshape(tl.min(tl.min(h, 2), 0), (SLOTS, QUERIES)))
        if tile % TILES == TILES - 1:
            group = tile // TILES * SLOTS
            minima.store([group, first], M)
            U = tl.minimum(U, M + tl.load(allowances + group + slot)[:, None])
            M = tl.full((SLOTS, QUERIES), float("inf"), tl.float32)
    query = first + tl.arange(0, QUERIES)
    D2 = 2 * (U + tl.load(q_squares + query)[None, :])
    high = (tl.sqrt(tl.maximum(D2, 0.0)) + tl.load(q_errors + query)[None, :]) * (1 + SLACK)
    highest.store([tl.program_id(1) * SLOTS, first], high)
