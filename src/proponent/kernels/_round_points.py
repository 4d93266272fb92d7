"""Points rounded to half precision, with what that did to each of them measured."""

from dataclasses import dataclass

import torch
import triton
import triton.language as tl
from jaxtyping import Float, Int
from torch import Tensor

from proponent.kernels._half_points import width_of

# Above the rounding of square roots, norms, and squares.
SLACK = 2.0**-20
# Above what a GPU takes for zero; next to it every number of float16 is large.
_TINY = 2.0**-100
_ROWS, _DEPTH = 32, 64


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


def round_points(
    points: Float[Tensor, "n d"], centre: Float[Tensor, " d"], unit: float, tile: int
) -> Rounded:
    """Round points, by float64.

    Args:
        points: In any precision.
        centre: What lies there becomes 0.
        unit: A power of two by which no coordinate, once centred, exceeds 2^15.
        tile: A multiple of 32; of so many rows there is a whole number.
    """
    n, d = points.shape
    rows, width = triton.cdiv(n, tile) * tile, width_of(d)
    halves = torch.empty(rows, width, dtype=torch.float16, device=points.device)
    squares, errors = torch.empty(2, rows, device=points.device)
    # In float64, which numbers that a kernel is given are not.
    per_unit = torch.full((1,), 1 / unit, dtype=torch.float64, device=points.device)
    _kernel[(rows // _ROWS,)](
        points.contiguous(), centre.double(), per_unit, halves, squares, errors, n, d,
        WIDTH=width, ROWS=_ROWS, DEPTH=min(width, _DEPTH), SLACK=SLACK, TINY=_TINY, num_warps=4,
    )  # fmt: skip
    return Rounded(halves, squares, errors)


@triton.jit
def _kernel(
    points, centre, per_unit, halves, squares, errors, n, d,
    WIDTH: tl.constexpr, ROWS: tl.constexpr, DEPTH: tl.constexpr, SLACK: tl.constexpr, TINY: tl.constexpr,
):  # fmt: skip
    """Round a few rows."""
    i = tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS)
    scale = tl.load(per_unit)
    norm, rounded_norm, lost = (tl.zeros((ROWS,), tl.float64),) * 3
    for k in range(0, WIDTH, DEPTH):
        j = k + tl.arange(0, DEPTH)
        inside = (i < n)[:, None] & (j < d)[None, :]
        x = tl.load(points + i[:, None] * d + j[None, :], mask=inside, other=0.0).to(tl.float64)
        x = tl.where(inside, (x - tl.load(centre + j, mask=j < d, other=0.0)[None, :]) * scale, 0.0)
        half = x.to(tl.float32).to(tl.float16)
        tl.store(halves + i[:, None] * WIDTH + j[None, :], half)
        y = half.to(tl.float64)
        norm += tl.sum(x * x, 1)
        rounded_norm += tl.sum(y * y, 1)
        lost += tl.sum((x - y) * (x - y), 1)
    tl.store(squares + i, (rounded_norm / 2).to(tl.float32))
    # Centring rounds as well, in float64.
    error = tl.sqrt(lost) * (1 + SLACK) + tl.sqrt(norm) * 2.0**-50 + TINY
    tl.store(errors + i, error.to(tl.float32))
