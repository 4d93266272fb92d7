r"""Linear layers of many models at once, with what stands around them: bias, ReLU, and a step of SGD.

At a batch of 64 a layer's time is that of reading its weights, and of launches. One kernel is the layer
with its bias and ReLU, another the step, which writes $W - G^\top X$ and $b - \sum G$ over the old ones
without forming a gradient. Back to the input the library's product is quicker.
"""

import torch
import triton
import triton.language as tl
from jaxtyping import Float
from torch import Tensor


def fused_linear(
    x: Float[Tensor, "s n i"],
    weight: Float[Tensor, "s o i"],
    bias: Float[Tensor, "s o"] | None,
    rectify: bool,
) -> Float[Tensor, "s n o"]:
    """Compute $X W^T + b$, and what is positive in it if it is to be rectified."""
    (s, n, i), o = x.shape, weight.shape[1]
    out = torch.empty(s, n, o, device=x.device, dtype=x.dtype)
    columns = 64 if _fills(s * o) else 16
    _forward[(triton.cdiv(o, columns), triton.cdiv(n, _ROWS), s)](
        x.contiguous(), weight, bias, out, n, i, o,
        BIAS=bias is not None, RECTIFY=rectify,
        ROWS=_ROWS, COLUMNS=columns, DEPTH=64, num_warps=4, num_stages=4,
    )  # fmt: skip
    return out


def fused_linear_step(
    gradient: Float[Tensor, "s n o"],
    x: Float[Tensor, "s n i"],
    weight: Float[Tensor, "s o i"],
    bias: Float[Tensor, "s o"] | None,
) -> None:
    """Subtract the gradients from the weight and the bias where they lie."""
    (s, n, o), i = gradient.shape, x.shape[2]
    columns = 128 if _fills(s * i) else 64
    _step[(triton.cdiv(i, columns), triton.cdiv(o, 64), s)](
        gradient.contiguous(), x.contiguous(), weight, bias, n, i, o,
        BIAS=bias is not None, ROWS=64, COLUMNS=columns, DEPTH=64, num_warps=4, num_stages=2,
    )  # fmt: skip


_ROWS = 64


def _fills(width: int) -> bool:
    """Whether a layer of this width, over all members, keeps a GPU busy with wide tiles."""
    return width >= 64 * 132


@triton.jit
def _forward(
    x, weight, bias, out, n, i, o,
    BIAS: tl.constexpr, RECTIFY: tl.constexpr,
    ROWS: tl.constexpr, COLUMNS: tl.constexpr, DEPTH: tl.constexpr,
):  # fmt: skip
    s = tl.program_id(2).to(tl.int64)
    row = tl.program_id(1) * ROWS + tl.arange(0, ROWS)
    column = tl.program_id(0) * COLUMNS + tl.arange(0, COLUMNS)
    total = tl.zeros((ROWS, COLUMNS), dtype=tl.float32)
    for start in range(0, i, DEPTH):
        k = start + tl.arange(0, DEPTH)
        a = tl.load(
            x + s * n * i + row[:, None] * i + k[None, :],
            mask=(row < n)[:, None] & (k < i)[None, :],
            other=0.0,
        )
        w = tl.load(
            weight + s * o * i + column[None, :] * i + k[:, None],
            mask=(column < o)[None, :] & (k < i)[:, None],
            other=0.0,
        )
        total = tl.dot(a, w, total, input_precision="tf32")
    if BIAS:
        total += tl.load(bias + s * o + column, mask=column < o, other=0.0)[None, :]
    if RECTIFY:
        total = tl.maximum(total, 0.0)
    tl.store(
        out + s * n * o + row[:, None] * o + column[None, :],
        total,
        mask=(row < n)[:, None] & (column < o)[None, :],
    )


@triton.jit
def _step(
    gradient, x, weight, bias, n, i, o,
    BIAS: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr, DEPTH: tl.constexpr,
):  # fmt: skip
    s = tl.program_id(2).to(tl.int64)
    row = tl.program_id(1) * ROWS + tl.arange(0, ROWS)
    column = tl.program_id(0) * COLUMNS + tl.arange(0, COLUMNS)
    total = tl.zeros((ROWS, COLUMNS), dtype=tl.float32)
    of_bias = tl.zeros((ROWS,), dtype=tl.float32)
    for start in range(0, n, DEPTH):
        k = start + tl.arange(0, DEPTH)
        g = tl.load(
            gradient + s * n * o + k[:, None] * o + row[None, :],
            mask=(k < n)[:, None] & (row < o)[None, :],
            other=0.0,
        )
        a = tl.load(
            x + s * n * i + k[:, None] * i + column[None, :],
            mask=(k < n)[:, None] & (column < i)[None, :],
            other=0.0,
        )
        # Ten bits as float16 under a scale for each tile: its units take tiles that lie transposed.
        to_g, to_a = (
            16384 / tl.maximum(tl.max(tl.abs(g)), 1e-30),
            16384 / tl.maximum(tl.max(tl.abs(a)), 1e-30),
        )
        product = tl.dot(tl.trans((g * to_g).to(tl.float16)), (a * to_a).to(tl.float16))
        total += product * (1 / to_g) * (1 / to_a)
        of_bias += tl.sum(g, 0)
    inside = (row < o)[:, None] & (column < i)[None, :]
    at = weight + s * o * i + row[:, None] * i + column[None, :]
    tl.store(at, tl.load(at, mask=inside, other=0.0) - total, mask=inside)
    if BIAS and tl.program_id(0) == 0:
        at_bias = bias + s * o + row
        tl.store(at_bias, tl.load(at_bias, mask=row < o, other=0.0) - of_bias, mask=row < o)
