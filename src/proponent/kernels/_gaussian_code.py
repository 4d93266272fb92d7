"""Codes and their divergence from the prior in one kernel, and their gradients in another.

The arithmetic is next to nothing; as a dozen small operations it costs a training step a dozen launches.
"""

from typing import Any

import torch
import triton
import triton.language as tl
from jaxtyping import Float
from torch import Tensor


def fused_code(
    mean: Float[Tensor, "n d"], log_variance: Float[Tensor, "n d"], noise: Float[Tensor, "... m d"]
) -> tuple[Float[Tensor, "n m d"], Float[Tensor, " n"]]:
    r"""Compute codes $z = \mu + \sigma \varepsilon$ and the divergence, differentiable once."""
    z, kl = _Code.apply(mean, log_variance, noise)  # type: ignore[no-untyped-call]
    return z, kl


class _Code(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, mean: Tensor, log_variance: Tensor, noise: Tensor) -> tuple[Tensor, Tensor]:
        n, d = mean.shape
        m = noise.shape[-2]
        z = torch.empty(n, m, d, device=mean.device, dtype=mean.dtype)
        kl = torch.empty(n, device=mean.device, dtype=mean.dtype)
        ctx.save_for_backward(mean, log_variance, noise)
        _encode[(n,)](
            mean, log_variance, noise, z, kl, d, m, *mean.stride(), *log_variance.stride(), *_strides(noise),
            BLOCK=triton.next_power_of_2(d), num_warps=1,
        )  # fmt: skip
        return z, kl

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, by_z: Tensor, by_kl: Tensor) -> tuple[Tensor, Tensor, None]:
        mean, log_variance, noise = ctx.saved_tensors
        n, d = mean.shape
        both = torch.empty(n, 2 * d, device=mean.device, dtype=mean.dtype)
        by_mean, by_log_variance = both[:, :d], both[:, d:]
        _encode_back[(n,)](
            mean, log_variance, noise, by_z.contiguous(), by_kl.contiguous(), both, d, noise.shape[-2],
            *mean.stride(), *log_variance.stride(), *_strides(noise),
            BLOCK=triton.next_power_of_2(d), num_warps=1,
        )  # fmt: skip
        return by_mean, by_log_variance, None


def _strides(noise: Tensor) -> tuple[int, ...]:
    """Of samples, which may share their draws, of draws, and of dimensions."""
    return (0, *noise.stride())[-3:] if noise.ndim == 2 else tuple(noise.stride())


@triton.jit
def _encode(mean, log_variance, noise, z, kl, d, m, mn, md, vn, vd, en, em, ed, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64)
    k = tl.arange(0, BLOCK)
    inside = k < d
    mu = tl.load(mean + i * mn + k * md, mask=inside, other=0.0)
    v = tl.load(log_variance + i * vn + k * vd, mask=inside, other=0.0)
    tl.store(kl + i, tl.sum(mu * mu + tl.exp(v) - 1.0 - v, 0) / 2)  # outside: 0 + 1 - 1 - 0
    sigma = tl.exp(v / 2)
    for j in range(m):
        e = tl.load(noise + i * en + j * em + k * ed, mask=inside, other=0.0)
        tl.store(z + (i * m + j) * d + k, mu + sigma * e, mask=inside)


@triton.jit
def _encode_back(
    mean, log_variance, noise, by_z, by_kl, out, d, m, mn, md, vn, vd, en, em, ed, BLOCK: tl.constexpr
):
    i = tl.program_id(0).to(tl.int64)
    k = tl.arange(0, BLOCK)
    inside = k < d
    mu = tl.load(mean + i * mn + k * md, mask=inside, other=0.0)
    v = tl.load(log_variance + i * vn + k * vd, mask=inside, other=0.0)
    g = tl.load(by_kl + i)
    by_mean = g * mu
    by_v = g * (tl.exp(v) - 1.0) / 2
    sigma = tl.exp(v / 2) / 2
    for j in range(m):
        e = tl.load(noise + i * en + j * em + k * ed, mask=inside, other=0.0)
        gz = tl.load(by_z + (i * m + j) * d + k, mask=inside, other=0.0)
        by_mean += gz
        by_v += gz * e * sigma
    tl.store(out + i * 2 * d + k, by_mean, mask=inside)
    tl.store(out + i * 2 * d + d + k, by_v, mask=inside)
