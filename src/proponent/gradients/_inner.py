r"""Inner products of gradients, by whichever way costs fewer operations.

For two sums of outer products there are two ways,

$$\langle G_i, G_z \rangle = \sum_{t, s} (l_{it} \cdot l_{zs}) (r_{it} \cdot r_{zs}),$$

which multiplies two Gram matrices of the factors number by number and sums (the fold), or forming both
gradients first. Few terms favour the Gram matrices, many queries on a narrow layer the gradients.
"""

from collections.abc import Mapping

import torch
from jaxtyping import Float
from torch import Tensor

from proponent.gradients._block import Block
from proponent.gradients._dense import densify
from proponent.gradients._gradients import Gradients, matched
from proponent.gradients._outer_products import OuterProducts
from proponent.gradients._rows import Rows
from proponent.kernels import computes_rounded
from proponent.precision import products

# One number written to memory and read again takes the time of about this many multiplications.
_MEMORY_COST_CPU, _MEMORY_COST_GPU = 32, 400
# The Gram matrices of a chunk stay in a processor's cache, or are large enough to fill a GPU.
_CHUNK_CPU, _CHUNK_GPU = 1 << 18, 1 << 27


def inner_products(
    samples: Gradients, queries: Gradients, metric: Mapping[str, Tensor] | None = None
) -> Float[Tensor, "n q"]:
    r"""Compute $\langle g_i, M g_z \rangle$ for every sample and query.

    Args:
        samples: n gradients.
        queries: q gradients. Where they meet several batches of samples, `prepare_queries` saves work.
        metric: The diagonal of M, a tensor for each parameter; the identity without it.
    """
    if metric is not None:
        queries = queries.densify(metric)
    dtype = torch.promote_types(samples.losses.dtype, torch.float32)
    total = torch.zeros(len(samples), len(queries), dtype=dtype, device=samples.losses.device)
    with products(samples.precision):
        for a, b in matched(samples, queries):
            total += _inner(a, b)
    return total


def prepare_queries(queries: Gradients, metric: Mapping[str, Tensor] | None = None) -> Gradients:
    """Bring queries into the form in which many batches of samples meet them at the least cost.

    Args:
        queries: The gradients of the queries.
        metric: The diagonal of the metric between the two.
    """
    if metric is not None:
        return queries.densify(metric)
    with products(queries.precision):
        blocks = tuple(
            block
            if isinstance(block, OuterProducts | Rows) and _factors_pay(block, block)
            else densify(block)
            for block in queries.blocks
        )
    return Gradients(blocks, queries.losses, queries.sizes, queries.precision)


def paired_products(
    a: Gradients, b: Gradients, metric: Mapping[str, Tensor] | None = None
) -> Float[Tensor, " n"]:
    r"""Compute $\langle g_i, M h_i \rangle$, sample by sample, for two sets of n gradients."""
    dtype = torch.promote_types(a.losses.dtype, torch.float32)
    total = torch.zeros(len(a), dtype=dtype, device=a.losses.device)
    if metric is not None:
        b = b.densify(metric)
    with products(a.precision):
        for first, second in matched(a, b):
            total += _paired(first, second)
    return total


def squared_norms(gradients: Gradients, metric: Mapping[str, Tensor] | None = None) -> Float[Tensor, " n"]:
    r"""Compute $\langle g_i, M g_i \rangle$ for every sample."""
    return paired_products(gradients, gradients, metric)


def _inner(a: Block, b: Block) -> Float[Tensor, "n q"]:
    if isinstance(a, OuterProducts) and isinstance(b, OuterProducts) and _factors_pay(a, b):
        return _gram(a, b)
    if isinstance(a, Rows) and isinstance(b, Rows) and _factors_pay(a, b):
        return _row_gram(a, b)
    G, H = densify(a).values, densify(b).values
    return _accumulated(G) @ _accumulated(H).mT


def _paired(a: Block, b: Block) -> Float[Tensor, " n"]:
    if isinstance(a, OuterProducts) and isinstance(b, OuterProducts) and _factors_pay_in_pairs(a, b):
        return _paired_gram(a, b)
    G, H = densify(a).values, densify(b).values
    return (_accumulated(G) * _accumulated(H)).sum(1)


def _factors_pay(a: OuterProducts | Rows, b: OuterProducts | Rows) -> bool:
    """Count operations for one pair of a sample and a query, what a sample costs shared by its queries."""
    pairs = a.terms * b.terms
    if isinstance(a, Rows):
        width = a.left.shape[2]
    else:
        width = a.left.shape[2] + a.right.shape[2]
    memory = _MEMORY_COST_CPU if a.left.device.type == "cpu" else _MEMORY_COST_GPU
    fold = 0 if computes_rounded(a.left) else memory  # a fused kernel folds where it multiplies
    return pairs * (width + fold) <= a.size + a.size * (a.terms + memory) / b.samples


def _factors_pay_in_pairs(a: OuterProducts, b: OuterProducts) -> bool:
    """Count operations where a sample meets one other gradient: two small Gram matrices, or forming both."""
    width = a.left.shape[2] + a.right.shape[2]
    return a.terms * b.terms * width <= (a.terms + b.terms + _MEMORY_COST_CPU) * a.size


def _gram(a: OuterProducts, b: OuterProducts) -> Float[Tensor, "n q"]:
    """Σ_ts (l_it · l_zs) (r_it · r_zs + 1 where there is a bias)."""
    if computes_rounded(a.left):
        from proponent.kernels import _gram as kernel

        if kernel.fits(a.terms, b.terms):
            return kernel.fused_gram(a.left, a.right, b.left, b.right, a.has_bias)
    l_z, r_z = b.left.flatten(0, 1).mT, b.right.flatten(0, 1).mT
    chunk = _chunk(a.terms * l_z.shape[1], a.left.device)
    rows = []
    for start in range(0, a.samples, chunk):
        part = a.select(start, start + chunk)
        L = _accumulated(part.left.flatten(0, 1) @ l_z)
        R = _accumulated(part.right.flatten(0, 1) @ r_z)
        if a.has_bias:
            R += 1
        rows.append(_fold(L.mul_(R), part.terms, b.terms))
    return torch.cat(rows)


def _row_gram(a: Rows, b: Rows) -> Float[Tensor, "n q"]:
    """Σ_ts (l_it · l_zs) where both looked up the same row."""
    l_z, i_z = b.left.flatten(0, 1).mT, b.index.flatten()
    chunk = _chunk(a.terms * l_z.shape[1], a.left.device)
    rows = []
    for start in range(0, a.samples, chunk):
        part = a.select(start, start + chunk)
        L = _accumulated(part.left.flatten(0, 1) @ l_z)
        rows.append(_fold(L * (part.index.flatten()[:, None] == i_z), part.terms, b.terms))
    return torch.cat(rows)


def _paired_gram(a: OuterProducts, b: OuterProducts) -> Float[Tensor, " n"]:
    L = _accumulated(torch.bmm(a.left, b.left.mT))
    R = _accumulated(torch.bmm(a.right, b.right.mT))
    return (L * (R + 1 if a.has_bias else R)).sum((1, 2))


def _fold(products: Tensor, terms_a: int, terms_b: int) -> Float[Tensor, "n q"]:
    rows, columns = products.shape
    return products.view(rows, columns // terms_b, terms_b).sum(2).view(rows // terms_a, terms_a, -1).sum(1)


def _accumulated(values: Tensor) -> Tensor:
    """Half precision is for products; sums are made in float32 at least."""
    return values.to(torch.promote_types(values.dtype, torch.float32))


def _chunk(row: int, device: torch.device) -> int:
    """How many samples' Gram rows, of `row` numbers each, are held at a time."""
    return max(1, (_CHUNK_CPU if device.type == "cpu" else _CHUNK_GPU) // row)
