r"""Both Gram matrices of a pair of factors, their product and its fold, in one kernel.

$$S_{iz} = \sum_{t, s} (l_{it} \cdot l_{zs}) (r_{it} \cdot r_{zs} + b)$$

A program holds two accumulators for a tile of samples and queries, all their terms included, multiplies
them and sums; neither Gram matrix is written.
"""

from typing import Any

import torch
import triton
import triton.language as tl
from jaxtyping import Float
from torch import Tensor
from triton.tools.tensor_descriptor import TensorDescriptor

from proponent.kernels._halves import halved_rows

# Samples times terms, and queries times terms, of one program.
ROWS, COLUMNS = 128, 128


def fits(terms: int, query_terms: int) -> bool:
    """Whether a tile holds whole samples and whole queries."""
    return terms <= ROWS and query_terms <= COLUMNS


def fused_gram(
    left: Float[Tensor, "n t o"],
    right: Float[Tensor, "n t i"],
    query_left: Float[Tensor, "q s o"],
    query_right: Float[Tensor, "q s i"],
    bias: bool,
) -> Float[Tensor, "n q"]:
    """Sum the products of the Gram matrices, with 1 added to the second where there is a bias."""
    n, q = left.shape[0], query_left.shape[0]
    l, l_scale, t = _rows(left)
    r, r_scale, _ = _rows(right)
    ql, ql_scale, s = _rows(query_left)
    qr, qr_scale, _ = _rows(query_right)
    out = torch.empty(n, q, device=left.device, dtype=torch.float32)
    depth = 64
    grid = (triton.cdiv(l.shape[0], ROWS) * triton.cdiv(ql.shape[0], COLUMNS),)
    describe: Any = TensorDescriptor.from_tensor
    _kernel[grid](
        describe(l, [ROWS, depth]),
        describe(r, [ROWS, depth]),
        describe(ql, [COLUMNS, depth]),
        describe(qr, [COLUMNS, depth]),
        l_scale,
        r_scale,
        ql_scale,
        qr_scale,
        out,
        n,
        q,
        l.shape[1],
        r.shape[1],
        TERMS=t,
        QUERY_TERMS=s,
        BIAS=bias,
        SCALED=l_scale is not None,
        ROWS=ROWS,
        COLUMNS=COLUMNS,
        DEPTH=depth,
        num_warps=8,
        num_stages=3,
    )
    return out


def _rows(factors: Float[Tensor, "n t d"]) -> tuple[Tensor, Tensor | None, int]:
    """Lay factors out as the kernel wants them: rows in half precision, a power of two terms a sample."""
    terms = triton.next_power_of_2(factors.shape[1])
    width = triton.cdiv(factors.shape[2], 8) * 8  # rows start at multiples of 16 bytes
    return (*halved_rows(factors, terms, width), terms)


@triton.jit
def _kernel(
    l, r, ql, qr, l_scale, r_scale, ql_scale, qr_scale, out, n, q, width_l, width_r,
    TERMS: tl.constexpr, QUERY_TERMS: tl.constexpr, BIAS: tl.constexpr, SCALED: tl.constexpr,
    ROWS: tl.constexpr, COLUMNS: tl.constexpr, DEPTH: tl.constexpr,
):  # fmt: skip
    """Compute one tile of ``ROWS / TERMS`` samples and ``COLUMNS / QUERY_TERMS`` queries."""
    across = tl.cdiv(q * QUERY_TERMS, COLUMNS)
    tile = tl.program_id(0)
    # Neighbouring programs share samples: the queries stay in the second-level cache.
    row, column = tile // across * ROWS, tile % across * COLUMNS
    R = tl.zeros((ROWS, COLUMNS), dtype=tl.float32)
    for k in range(0, width_r, DEPTH):
        R = tl.dot(r.load([row, k]), qr.load([column, k]).T, R)
    L = tl.zeros((ROWS, COLUMNS), dtype=tl.float32)
    for k in range(0, width_l, DEPTH):
        L = tl.dot(l.load([row, k]), ql.load([column, k]).T, L)
    if SCALED:
        i = row + tl.arange(0, ROWS)
        z = column + tl.arange(0, COLUMNS)
        in_i, in_z = i < n * TERMS, z < q * QUERY_TERMS
        R *= tl.load(r_scale + i, mask=in_i, other=0.0)[:, None]
        R *= tl.load(qr_scale + z, mask=in_z, other=0.0)[None, :]
        L *= tl.load(l_scale + i, mask=in_i, other=0.0)[:, None]
        L *= tl.load(ql_scale + z, mask=in_z, other=0.0)[None, :]
    if BIAS:
        R += 1.0
    S = L * R
    samples: tl.constexpr = ROWS // TERMS
    queries: tl.constexpr = COLUMNS // QUERY_TERMS
    S = tl.sum(tl.reshape(S, (samples, TERMS, COLUMNS)), 1)
    S = tl.sum(tl.reshape(S, (samples, queries, QUERY_TERMS)), 2)
    i = (row // TERMS + tl.arange(0, samples)).to(tl.int64)
    z = column // QUERY_TERMS + tl.arange(0, queries)
    tl.store(out + i[:, None] * q + z[None, :], S, mask=(i < n)[:, None] & (z < q)[None, :])
