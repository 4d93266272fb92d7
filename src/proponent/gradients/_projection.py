r"""Random projections of gradients, formed from the factors where that is cheaper.

A block whose gradient is a matrix $G_i$ is projected from both sides, to $A G_i B^\top$ with $A$ and $B$
normal of variance one over their number of rows, so that inner products keep their expectation. For a sum
of outer products, $A G_i B^\top = \sum_t (A l_{it}) (B r_{it})^\top$: nothing of the gradient's size is
formed.
"""

from math import prod

import torch
from jaxtyping import Float
from torch import Tensor

from proponent.gradients._block import Block
from proponent.gradients._correlation import Correlation
from proponent.gradients._dense import densify
from proponent.gradients._gradients import Gradients
from proponent.gradients._outer_products import OuterProducts
from proponent.gradients._rows import Rows
from proponent.precision import products
from proponent.randomness import keyed_normal

# Columns of a projection that are drawn, and held, at a time.
_CHUNK = 1 << 14


def project(gradients: Gradients, side: int, seed: int) -> dict[tuple[str, ...], Float[Tensor, "n k"]]:
    r"""Project the gradients at random, block by block, to ``side * side`` numbers a block.

    Inner products of projections are unbiased estimates of inner products of gradients, whose relative
    error falls as one over `side`.

    Args:
        gradients: n gradients.
        side: How many rows the projection of each side of a matrix has.
        seed: The projection's; the same seed projects every batch alike.

    Returns:
        For each block, by the names of its parameters, ``[n, side * side]``. A parameter that the losses of
        a batch don't depend on is in no block, as its gradient is zero.

    Raises:
        ValueError: `side` is less than 1.
    """
    if side < 1:
        raise ValueError(f"`side` must be at least 1, got {side}.")
    with products(gradients.precision):
        return {block.names: _project(block, side, seed) for block in gradients.blocks}


def _project(block: Block, side: int, seed: int) -> Float[Tensor, "n k"]:
    if isinstance(block, OuterProducts) and _factors_pay(block, side):
        A = _matrix(block.left, side, block.left.shape[2], seed, block, "left")
        B = _matrix(block.right, side, block.right.shape[2] + block.has_bias, seed, block, "right")
        right = block.right @ B[:, : block.right.shape[2]].mT
        if block.has_bias:
            right = right + B[:, -1]
        return torch.bmm((block.left @ A.mT).mT, right).flatten(1)
    if isinstance(block, OuterProducts):
        rows, columns = block.left.shape[2], block.right.shape[2]
        weight, *bias = block.gradients()
        G = weight.view(-1, rows, columns)
        if bias:
            G = torch.cat([G, bias[0][:, :, None]], 2)
        return _from_both_sides(G, side, seed, block)
    if isinstance(block, Correlation):
        columns = block.field.shape[2] // block.window.groups * prod(block.window.kernel)
        return _from_both_sides(block.gradients()[0].view(block.samples, -1, columns), side, seed, block)
    if isinstance(block, Rows):
        A = _matrix(block.left, side, block.left.shape[2], seed, block, "left")
        B = _matrix(block.left, side, block.count, seed, block, "right")
        return torch.bmm((block.left @ A.mT).mT, B.mT[block.index]).flatten(1)
    G = densify(block).values
    total = G.new_zeros(block.samples, side * side)
    for place, start in enumerate(range(0, block.size, _CHUNK)):
        part = G[:, start : start + _CHUNK]
        total += part @ _matrix(G, side * side, part.shape[1], seed, block, f"columns {place}").mT
    return total


def _from_both_sides(G: Float[Tensor, "n o i"], side: int, seed: int, block: Block) -> Float[Tensor, "n k"]:
    A = _matrix(G, side, G.shape[1], seed, block, "left")
    B = _matrix(G, side, G.shape[2], seed, block, "right")
    return (A @ G @ B.mT).flatten(1)


def _factors_pay(block: OuterProducts, side: int) -> bool:
    """Count operations a sample: projecting the factors, or forming the gradient and projecting it."""
    o, i = block.left.shape[2], block.right.shape[2] + block.has_bias
    return block.terms * side * (o + i + side) <= (block.terms + side) * o * i + side * side * i


def _matrix(like: Tensor, rows: int, columns: int, seed: int, block: Block, role: str) -> Tensor:
    draws = keyed_normal((rows, columns), seed, "projection", ",".join(block.names), role)
    matrix: Tensor = draws / rows**0.5
    return matrix.to(like)
