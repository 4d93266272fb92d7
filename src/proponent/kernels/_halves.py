"""Float32 numbers as scaled float16: the ten bits that tf32 keeps, in half the bytes and at twice its rate.

A tensor, or each row of one, is divided by a power of two that brings its largest number close to the end
of float16's range. What is a hundred million times smaller than the largest keeps fewer than ten bits,
which no sum of products could show.
"""

import torch
import triton
import triton.language as tl
from torch import Tensor


def halved(values: Tensor) -> tuple[Tensor, Tensor | None]:
    """Give a tensor in half precision, in the same order in memory, and its scale, one number.

    bfloat16 stays as it is, without a scale.
    """
    values = values.detach()
    if values.dtype != torch.float32:
        return values, None
    largest = torch.linalg.vector_norm(values, float("inf"))
    scale = torch.ldexp(torch.ones_like(largest), torch.frexp(largest).exponent - 15).reshape(1)
    out = torch.empty_like(values, dtype=torch.float16)
    if out.stride() != values.stride():  # an order with gaps or overlaps has been packed
        values = torch.empty_like(out, dtype=torch.float32).copy_(values)
    count = values.numel()
    _halve[(triton.cdiv(count, _BLOCK),)](values, out, scale, count, BLOCK=_BLOCK, num_warps=8)
    return out, scale


def halved_rows(values: Tensor, terms: int, width: int) -> tuple[Tensor, Tensor | None]:
    """Give ``[n, t, d]`` as rows ``[n terms, width]`` in half precision, zeros added, and a scale a row.

    bfloat16 stays as it is, without a scale.
    """
    n, t, d = values.shape
    if values.dtype != torch.float32:
        if (terms, width) != (t, d):
            values = torch.nn.functional.pad(values, (0, width - d, 0, terms - t))
        return values.reshape(n * terms, width).contiguous(), None
    rows = torch.empty(n * terms, width, device=values.device, dtype=torch.float16)
    scale = torch.empty(n * terms, device=values.device, dtype=torch.float32)
    _halve_row[(n * terms,)](
        values, rows, scale, *values.stride(), t, d, width,
        TERMS=terms, WIDTH=triton.next_power_of_2(width), SMALLEST=_SMALLEST,
    )  # fmt: skip
    return rows, scale


_BLOCK = 4096
# The exponent of a row's smallest scale: a GPU may take subnormal ones, of next to nothing, for zero.
_SMALLEST = -120


@triton.jit
def _halve(values, out, scale, count, BLOCK: tl.constexpr):
    k = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = k < count
    x = tl.load(values + k, mask=inside, other=0.0) / tl.load(scale)
    tl.store(out + k, x.to(tl.float16), mask=inside)


@triton.jit
def _halve_row(
    values, rows, scale, sn, st, sd, t, d, width,
    TERMS: tl.constexpr, WIDTH: tl.constexpr, SMALLEST: tl.constexpr,
):  # fmt: skip
    row = tl.program_id(0).to(tl.int64)
    sample, term = row // TERMS, row % TERMS
    k = tl.arange(0, WIDTH)
    x = tl.load(values + sample * sn + term * st + k * sd, mask=(k < d) & (term < t), other=0.0)
    largest = tl.max(tl.abs(x), 0)
    power = tl.exp2(tl.maximum(tl.floor(tl.log2(largest)) - 14, SMALLEST))
    tl.store(rows + row * width + k, (x / power).to(tl.float16), mask=k < width)
    tl.store(scale + row, power)
