"""Float32 numbers as scaled float16: the ten bits that tf32 keeps, in half the bytes and at twice its rate.

A tensor is divided by a power of two that brings its largest number to just under 2^15. What is 2^29 times
smaller than the largest keeps fewer than ten bits, which no sum of products could show.
"""

import torch
import triton
import triton.language as tl
from torch import Tensor


def halved(values: Tensor) -> tuple[Tensor, Tensor]:
    """Give a tensor in half precision, in the same order in memory, and its scale, one number.

    bfloat16 stays as it is, with a scale of 1.
    """
    values = values.detach()
    if values.dtype != torch.float32:
        return values, torch.ones(1, device=values.device)
    largest = torch.linalg.vector_norm(values, float("inf"))
    scale = torch.ldexp(torch.ones_like(largest), torch.frexp(largest).exponent - 15).reshape(1)
    out = torch.empty_like(values, dtype=torch.float16)
    if out.stride() != values.stride():  # an order with gaps or overlaps has been packed
        values = torch.empty_like(out, dtype=torch.float32).copy_(values)
    count = values.numel()
    _halve[(triton.cdiv(count, _BLOCK),)](values, out, scale, count, BLOCK=_BLOCK, num_warps=8)
    return out, scale


_BLOCK = 4096


@triton.jit
def _halve(values, out, scale, count, BLOCK: tl.constexpr):
    k = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = k < count
    x = tl.load(values + k, mask=inside, other=0.0) / tl.load(scale)
    tl.store(out + k, x.to(tl.float16), mask=inside)
