r"""The Bernoulli likelihood in one pass forward and one backward.

The outputs of a decoder are the largest tensors of a VAE, and the loss is nothing but passes over them.
"""

from typing import Any

import torch
import triton
import triton.language as tl
from jaxtyping import Float
from torch import Tensor


def fused_bernoulli(logits: Float[Tensor, "n m ..."], x: Float[Tensor, "n ..."]) -> Float[Tensor, " n"]:
    r"""Compute $\frac1m \sum_j \sum_p \log(1 + e^{l_{jp}}) - l_{jp} x_p$, summed in float32."""
    # Any order of the features does: that in which the logits lie costs no copy of them.
    axes = sorted(range(2, logits.ndim), key=lambda axis: -logits.stride()[axis])
    logits = logits.permute(0, 1, *axes).flatten(2).contiguous()
    x = x.permute(0, *[axis - 1 for axis in axes]).flatten(1).contiguous()
    losses: Tensor = _Bernoulli.apply(logits, x)  # type: ignore[no-untyped-call]
    return losses.squeeze(1) if losses.shape[1] == 1 else losses.mean(1)  # a view costs no launch


class _Bernoulli(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, logits: Tensor, x: Tensor) -> Tensor:
        ctx.save_for_backward(logits, x)
        n, m, width = logits.shape
        losses = torch.empty(n, m, device=logits.device, dtype=torch.float32)
        _loss[(n * m,)](logits, x, losses, width, m, BLOCK=1024, num_warps=4)
        return losses

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None]:
        logits, x = ctx.saved_tensors
        if torch.is_grad_enabled():  # somebody differentiates this again
            return (torch.sigmoid(logits) - x[:, None]) * gradient[..., None], None
        n, m, width = logits.shape
        out = torch.empty_like(logits)
        _gradient[(n * m,)](logits, x, gradient.contiguous(), out, width, m, BLOCK=1024, num_warps=4)
        return out, None


@triton.jit
def _loss(logits, x, losses, width, m, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    total = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, width, BLOCK):
        k = start + tl.arange(0, BLOCK)
        inside = k < width
        v = tl.load(logits + row * width + k, mask=inside, other=0.0).to(tl.float32)
        y = tl.load(x + row // m * width + k, mask=inside, other=0.0).to(tl.float32)
        loss = tl.maximum(v, 0.0) + tl.log(1.0 + tl.exp(-tl.abs(v))) - v * y
        total += tl.where(inside, loss, 0.0)
    tl.store(losses + row, tl.sum(total, 0))


@triton.jit
def _gradient(logits, x, gradient, out, width, m, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    g = tl.load(gradient + row)
    for start in range(0, width, BLOCK):
        k = start + tl.arange(0, BLOCK)
        inside = k < width
        v = tl.load(logits + row * width + k, mask=inside, other=0.0).to(tl.float32)
        y = tl.load(x + row // m * width + k, mask=inside, other=0.0).to(tl.float32)
        value = (1.0 / (1.0 + tl.exp(-v)) - y) * g
        tl.store(out + row * width + k, value.to(out.dtype.element_ty), mask=inside)
