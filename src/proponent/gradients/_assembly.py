"""From the calls of a tape, and the gradients at their outputs, to one block for every parameter."""

from collections.abc import Sequence, Set
from functools import reduce

import torch
from torch import Tensor

from proponent.gradients._block import Block
from proponent.gradients._dense import Dense, densify
from proponent.gradients._layout import Layout
from proponent.gradients._outer_products import OuterProducts
from proponent.gradients._rows import Rows
from proponent.gradients._tape import Call


def assemble(
    calls: Sequence[Call],
    gradients: Sequence[Tensor | None],
    layouts: Sequence[Layout | None],
    served: Set[str],
    n: int,
) -> tuple[Block, ...]:
    """Build the blocks of n samples.

    Args:
        calls: What the tape noted.
        gradients: At the output of each call; none where no loss depends on it.
        layouts: Where the samples lie in each output; none where no served parameter needs it.
        served: The parameters whose every use is a call with a rule.
        n: How many samples the batch has.
    """
    pairs = _joint_pairs(calls, served)
    parts: dict[tuple[str, ...], list[Block]] = {}
    for call, gradient, layout in zip(calls, gradients, layouts, strict=True):
        if gradient is None or layout is None:
            continue
        g = layout.split(gradient, n)
        if call.names in pairs:
            x = layout.split(call.use.input.detach(), n)
            parts.setdefault(call.names, []).append(call.use.weight_block(call.names, x, g))
            continue
        if call.weight is not None and call.weight in served:
            x = layout.split(call.use.input.detach(), n)
            parts.setdefault((call.weight,), []).append(call.use.weight_block((call.weight,), x, g))
        if call.bias is not None and call.bias in served:
            values = call.use.bias_gradient(g)
            parts.setdefault((call.bias,), []).append(Dense((call.bias,), values, (values.shape[1],)))
    return tuple(reduce(_add, blocks) for blocks in parts.values())


def _joint_pairs(calls: Sequence[Call], served: Set[str]) -> set[tuple[str, ...]]:
    """The weights and biases that only ever occur together, so that one block can hold both."""
    partners: dict[str | None, set[str | None]] = {}
    for call in calls:
        partners.setdefault(call.weight, set()).add(call.bias)
        partners.setdefault(call.bias, set()).add(call.weight)
    return {
        call.names
        for call in calls
        if call.use.joins_bias
        and call.weight in served
        and call.bias in served
        and partners[call.weight] == {call.bias}
        and partners[call.bias] == {call.weight}
    }


def _add(a: Block, b: Block) -> Block:
    """Add the gradients of two uses of the same parameters."""
    if isinstance(a, OuterProducts) and isinstance(b, OuterProducts):
        return OuterProducts(a.names, torch.cat([a.left, b.left], 1), torch.cat([a.right, b.right], 1))
    if isinstance(a, Rows) and isinstance(b, Rows):
        return Rows(a.names, torch.cat([a.left, b.left], 1), torch.cat([a.index, b.index], 1), a.count)
    G, H = densify(a), densify(b)
    return Dense(G.names, G.values + H.values, G.sizes)
