r"""Convolutions and transposed convolutions for the passes that make the factors.

One kernel serves four needs. A transposed convolution of stride s is a plain one of stride 1 that computes
the s phases of its output as channels: with $y + p = s g + \rho$, the taps that reach $y$ are
$\kappa = \rho + s j$, and they see the input at $g - j$, whatever the phase. So the gather

$$out[y, \alpha] = b[\alpha] + \sum_{\kappa \beta} x[s y + d \kappa - p, \beta]\, w[\kappa, \beta, \alpha]$$

computes a convolution, a transposed one with $d = -1$, and the gradient of each at its input, which is the
other. It reads and writes with the channels last, where the libraries' kernels transpose images back and
forth or pad their few channels, and adds the bias where it stands.

Gradients with respect to weights don't pass through here: the capture asks for gradients at layer outputs
alone, and forms the weights' from them.
"""

from collections.abc import Sequence
from typing import Any

import torch
import triton
import triton.language as tl
from torch import Tensor

from proponent.kernels._halves import halved
from proponent.kernels._window import Window


class FusedConvolution(torch.autograd.Function):
    """A convolution that passes gradients to its input, not to its weight."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, bias: Tensor | None, window: Window) -> Tensor:
        """Convolve ``[n, b, h, w]`` with a weight ``[a, b, kh, kw]``."""
        ctx.save_for_backward(weight)
        ctx.window, ctx.size = window, x.shape[2:]
        sizes = [
            (size + 2 * p - k) // s + 1
            for size, p, k, s in zip(x.shape[2:], window.padding, window.kernel, window.stride, strict=True)
        ]
        return _convolve(x, weight, bias, window, sizes)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> Any:
        """Convolve the gradient back to the input."""
        (weight,) = ctx.saved_tensors
        back = None
        if ctx.needs_input_grad[0]:
            back = _convolve_transposed(gradient, weight, None, ctx.window, ctx.size)
        return back, None, None, None


class FusedTransposedConvolution(torch.autograd.Function):
    """A transposed convolution that passes gradients to its input, not to its weight."""

    @staticmethod
    def forward(
        ctx: Any, x: Tensor, weight: Tensor, bias: Tensor | None, window: Window, extra: Sequence[int]
    ) -> Tensor:
        """Convolve ``[n, a, h, w]`` with a weight ``[a, b, kh, kw]``; `extra` is the output padding."""
        ctx.save_for_backward(weight)
        ctx.window, ctx.size = window, x.shape[2:]
        sizes = [
            (size - 1) * s - 2 * p + k + e
            for size, p, k, s, e in zip(
                x.shape[2:], window.padding, window.kernel, window.stride, extra, strict=True
            )
        ]
        return _convolve_transposed(x, weight, bias, window, sizes)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> Any:
        """Convolve the gradient back to the input."""
        (weight,) = ctx.saved_tensors
        back = None
        if ctx.needs_input_grad[0]:
            back = _convolve(gradient, weight, None, ctx.window, ctx.size)
        return back, None, None, None, None


def _convolve(x: Tensor, weight: Tensor, bias: Tensor | None, window: Window, sizes: Sequence[int]) -> Tensor:
    matrix = weight.permute(2, 3, 1, 0).reshape(-1, weight.shape[0])
    return _run(
        x, matrix, bias, weight.shape[0], sizes, grid=sizes, first=(0, 0), taps=window.kernel,
        stride=window.stride, padding=window.padding, direction=1, phases=(1, 1), shift=(0, 0),
    )  # fmt: skip


def _convolve_transposed(
    x: Tensor, weight: Tensor, bias: Tensor | None, window: Window, sizes: Sequence[int]
) -> Tensor:
    (SH, SW), p, b = window.stride, window.padding, weight.shape[1]
    KH, KW = (triton.cdiv(k, s) for k, s in zip(window.kernel, window.stride, strict=True))
    filled = [0, KW * SW - window.kernel[1], 0, KH * SH - window.kernel[0]]
    split = torch.nn.functional.pad(weight, filled).reshape(weight.shape[0], b, KH, SH, KW, SW)
    matrix = split.permute(2, 4, 0, 3, 5, 1).reshape(KH * KW * weight.shape[0], SH * SW * b)
    first = [q // s for q, s in zip(p, window.stride, strict=True)]
    grid = [
        (size - 1 + q) // s - start + 1
        for size, q, s, start in zip(sizes, p, window.stride, first, strict=True)
    ]
    return _run(
        x, matrix, bias, b, sizes, grid=grid, first=first, taps=(KH, KW), stride=(1, 1), padding=(0, 0),
        direction=-1, phases=window.stride, shift=p,
    )  # fmt: skip


def _run(
    x: Tensor,
    matrix: Tensor,
    bias: Tensor | None,
    channels: int,
    sizes: Sequence[int],
    *,
    grid: Sequence[int],
    first: Sequence[int],
    taps: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    direction: int,
    phases: Sequence[int],
    shift: Sequence[int],
) -> Tensor:
    n, width = x.shape[0], matrix.shape[1]
    out_dtype = x.dtype
    (x, x_scale), (matrix, w_scale) = halved(x), halved(matrix.to(x.dtype).contiguous())
    out = torch.empty(
        (n, channels, *sizes), dtype=out_dtype, device=x.device, memory_format=torch.channels_last
    )
    columns = min(128, max(16, triton.next_power_of_2(width)))
    depth = min(64, max(16, triton.next_power_of_2(x.shape[1])))
    programs = (triton.cdiv(n * grid[0] * grid[1], _ROWS), triton.cdiv(width, columns))
    _kernel[programs](
        x, matrix, bias, out, x_scale, w_scale, n, x.shape[2], x.shape[3], *x.stride(), *out.stride(),
        IN=x.shape[1], WIDTH=width, OUT=channels, H=sizes[0], W=sizes[1], GH=grid[0], GW=grid[1],
        FH=first[0], FW=first[1], KH=taps[0], KW=taps[1], SH=stride[0], SW=stride[1],
        PH=padding[0], PW=padding[1], D=direction, RH=phases[0], RW=phases[1], OH=shift[0], OW=shift[1],
        SCALED=x_scale is not None, BIAS=bias is not None,
        ROWS=_ROWS, COLUMNS=columns, DEPTH=depth, num_warps=8 if columns == 128 else 4, num_stages=3,
    )  # fmt: skip
    return out


_ROWS = 128


@triton.jit
def _kernel(
    x, weight, bias, out, x_scale, w_scale, n, XH, XW, xn, xc, xh, xw, on, oc, oh, ow,
    IN: tl.constexpr, WIDTH: tl.constexpr, OUT: tl.constexpr, H: tl.constexpr, W: tl.constexpr,
    GH: tl.constexpr, GW: tl.constexpr, FH: tl.constexpr, FW: tl.constexpr,
    KH: tl.constexpr, KW: tl.constexpr, SH: tl.constexpr, SW: tl.constexpr,
    PH: tl.constexpr, PW: tl.constexpr, D: tl.constexpr, RH: tl.constexpr, RW: tl.constexpr,
    OH: tl.constexpr, OW: tl.constexpr, SCALED: tl.constexpr, BIAS: tl.constexpr,
    ROWS: tl.constexpr, COLUMNS: tl.constexpr, DEPTH: tl.constexpr,
):  # fmt: skip
    """Compute a tile of positions, and of channels and phases."""
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    column = tl.program_id(1) * COLUMNS + tl.arange(0, COLUMNS)
    image = (row // (GH * GW)).to(tl.int64)
    gy, gx = row // GW % GH + FH, row % GW + FW
    inside = row < n * GH * GW
    base = x + image * xn
    y0, x0 = gy * SH - PH, gx * SW - PW
    total = tl.zeros((ROWS, COLUMNS), dtype=tl.float32)
    for start in range(0, KH * KW * IN, DEPTH):
        k = start + tl.arange(0, DEPTH)
        tap, b = k // IN, k % IN
        fy, fx = y0[:, None] + (tap // KW * D)[None, :], x0[:, None] + (tap % KW * D)[None, :]
        seen = inside[:, None] & (k < KH * KW * IN)[None, :] & (fy >= 0) & (fy < XH) & (fx >= 0) & (fx < XW)
        value = tl.load(base[:, None] + fy * xh + fx * xw + (b * xc)[None, :], mask=seen, other=0.0)
        w = tl.load(
            weight + k[:, None] * WIDTH + column[None, :],
            mask=(k < KH * KW * IN)[:, None] & (column < WIDTH)[None, :],
            other=0.0,
        )
        total = tl.dot(value, w, total)
    if SCALED:
        total *= tl.load(x_scale) * tl.load(w_scale)
    c, phase = column % OUT, column // OUT
    if BIAS:
        total += tl.load(bias + c, mask=column < WIDTH, other=0.0).to(tl.float32)[None, :]
    y = (gy * RH - OH)[:, None] + (phase // RW)[None, :]
    x_ = (gx * RW - OW)[:, None] + (phase % RW)[None, :]
    real = inside[:, None] & (column < WIDTH)[None, :] & (y >= 0) & (y < H) & (x_ >= 0) & (x_ < W)
    where = out + (image * on)[:, None] + y * oh + x_ * ow + (c * oc)[None, :]
    tl.store(where, total.to(out.dtype.element_ty), mask=real)
