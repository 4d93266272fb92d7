"""Points as half-precision numbers in one unit, in rows of a width that tiles have."""

from collections.abc import Iterator

import torch
import triton
from jaxtyping import Float
from torch import Tensor

# Numbers stay below 2^15 in units of `unit_of`; float16 ends at 65504.
EXPONENT = 15
# Float64 numbers are made of points on the way, so many at a time.
_NUMBERS_AT_ONCE = 1 << 20


def unit_of(points: Float[Tensor, "n d"], centre: Float[Tensor, " d"]) -> float:
    """Find the power of two that, as a unit, brings the largest coordinate near float16's end."""
    low, high = points.aminmax(dim=0)
    extent = torch.maximum(high - centre, centre - low).amax()
    return float(2.0 ** (int(torch.frexp(extent).exponent) - EXPONENT))


def width_of(dimensions: int) -> int:
    """How many columns a row takes: a power of two from 16 to 64, or whole blocks of 64."""
    if dimensions > 64:
        return int(triton.cdiv(dimensions, 64)) * 64
    return max(16, int(triton.next_power_of_2(dimensions)))


def parts_of(points: Float[Tensor, "n d"]) -> Iterator[slice]:
    """A few points at a time."""
    n, d = points.shape
    step = max(1, _NUMBERS_AT_ONCE // d)
    return (slice(start, min(start + step, n)) for start in range(0, n, step))
