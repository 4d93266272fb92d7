r"""The gradient of a convolution's weight for every sample, in one kernel that unfolds nothing.

A program holds the gradients of a few channels and taps of one sample and goes through the draws and
positions once. The windows are read where they lie, from the cache.
"""

import torch
import triton
import triton.language as tl
from jaxtyping import Float
from torch import Tensor

from proponent.kernels._halves import halved
from proponent.kernels._window import Window


def fits(anchor: Tensor, window: Window) -> bool:
    """Whether the kernel serves this correlation: two axes, no groups."""
    return anchor.ndim == 5 and window.groups == 1


def fused_correlation(
    anchor: Float[Tensor, "n m A h w"], field: Float[Tensor, "n m B fh fw"], window: Window
) -> Float[Tensor, "n p"]:
    """Form every sample's gradient of the weight, in the weight's own order, in float32."""
    n, m, A, H, W = anchor.shape
    B, FH, FW = field.shape[2:]
    KH, KW = window.kernel
    taps = B * KH * KW
    out = torch.empty(n, A * taps, device=anchor.device, dtype=torch.float32)
    rows = min(64, max(16, triton.next_power_of_2(A)))
    columns = min(64, max(16, triton.next_power_of_2(taps)))
    depth = 16 if m * H * W <= 16 else 64
    (anchor, anchor_scale), (field, field_scale) = halved(anchor), halved(field)
    _kernel[(triton.cdiv(taps, columns) * triton.cdiv(A, rows), n)](
        anchor, field, out, anchor_scale, field_scale, m, FH, FW,
        *anchor.stride(), *field.stride(),
        A=A, B=B, TAPS=taps, H=H, W=W, KH=KH, KW=KW, SH=window.stride[0], SW=window.stride[1],
        PH=window.padding[0], PW=window.padding[1], DH=window.dilation[0], DW=window.dilation[1],
        # Many positions: what is read should lie together. Few: what is written.
        BY_CHANNEL=m * H * W >= 512, SCALED=anchor_scale is not None,
        ROWS=rows, COLUMNS=columns, DEPTH=depth, num_warps=4, num_stages=3,
    )  # fmt: skip
    return out


@triton.jit
def _kernel(
    anchor, field, out, anchor_scale, field_scale, m, FH, FW,
    an, am, ac, ah, aw, fn, fm, fc, fh, fw,
    A: tl.constexpr, B: tl.constexpr, TAPS: tl.constexpr, H: tl.constexpr, W: tl.constexpr,
    KH: tl.constexpr, KW: tl.constexpr, SH: tl.constexpr, SW: tl.constexpr,
    PH: tl.constexpr, PW: tl.constexpr, DH: tl.constexpr, DW: tl.constexpr,
    BY_CHANNEL: tl.constexpr, SCALED: tl.constexpr,
    ROWS: tl.constexpr, COLUMNS: tl.constexpr, DEPTH: tl.constexpr,
):  # fmt: skip
    """Compute a tile of channels and taps of one sample's gradient."""
    sample = tl.program_id(1).to(tl.int64)
    across: tl.constexpr = (TAPS + COLUMNS - 1) // COLUMNS
    a = tl.program_id(0) // across * ROWS + tl.arange(0, ROWS)
    column = tl.program_id(0) % across * COLUMNS + tl.arange(0, COLUMNS)
    if BY_CHANNEL:
        b, ky, kx = column % B, column // (B * KW), column // B % KW
    else:
        b, ky, kx = column // (KH * KW), column // KW % KH, column % KW
    anchor += sample * an
    field += sample * fn
    # An address is the sum of what the position and what the tap contribute.
    of_column = b * fc + (ky * DH - PH) * fh + (kx * DW - PW) * fw
    ty, tx = ky * DH - PH, kx * DW - PW
    G = tl.zeros((COLUMNS, ROWS), dtype=tl.float32)
    for start in range(0, m * H * W, DEPTH):
        p = start + tl.arange(0, DEPTH)
        inside = p < m * H * W
        draw, y, x = p // (H * W), p // W % H, p % W
        at = tl.load(
            anchor + (draw * am + y * ah + x * aw)[:, None] + (a * ac)[None, :],
            mask=inside[:, None] & (a < A)[None, :],
            other=0.0,
        )
        fy, fx = (y * SH)[:, None] + ty[None, :], (x * SW)[:, None] + tx[None, :]
        # Seen as unsigned, what lies before the field lies far behind it.
        seen = (fy.to(tl.uint32) < FH) & (fx.to(tl.uint32) < FW)
        seen = seen & inside[:, None] & (column < TAPS)[None, :]
        of_position = draw * fm + y * SH * fh + x * SW * fw
        f = tl.load(field + (of_position[:, None] + of_column[None, :]), mask=seen, other=0.0)
        G = tl.dot(tl.trans(f), at, G)
    tap = b * (KH * KW) + ky * KW + kx
    where = out + sample * (A * TAPS) + (a * TAPS)[None, :] + tap[:, None]
    if SCALED:
        G *= tl.load(anchor_scale) * tl.load(field_scale)
    tl.store(where, G, mask=(a < A)[None, :] & (column < TAPS)[:, None])
