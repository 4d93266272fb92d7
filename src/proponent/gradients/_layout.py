"""Where the samples lie in a tensor that a model computes from a batch.

A loss with m draws runs layers on ``[n m, ...]``, ``[m n, ...]`` or ``[m, n, ...]``, as its author
liked. The gradient of a weighted sum of the losses shows which: what belongs to sample i is multiplied
by the weight of sample i, and only by that.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True)
class Layout:
    """The axis that holds the samples, and how.

    Attributes:
        axis: The axis; its length is n times a whole number m.
        samples_first: Whether the axis is ``(n, m)`` rather than ``(m, n)``.
    """

    axis: int
    samples_first: bool

    def split(self, tensor: Tensor, n: int) -> Tensor:
        """Rearrange ``[..., n m, ...]`` to ``[n, m, ...]``, the other axes in their order."""
        moved = tensor.movedim(self.axis, 0)
        if self.samples_first:
            return moved.reshape(n, -1, *moved.shape[1:])
        return moved.reshape(-1, n, *moved.shape[1:]).transpose(0, 1)


# Weights of the samples of a probe. Powers of two: multiplying by them is exact.
PROBE_WEIGHTS = (1.0, 2.0, 4.0)


def find_layout(
    gradient: Tensor, weighted: Tensor, leading: int, tolerance: float
) -> tuple[Layout | None, bool]:
    """Find where the samples of a probe lie in the gradient at a tensor.

    Args:
        gradient: Of the sum of the losses.
        weighted: Of their sum with `PROBE_WEIGHTS`.
        leading: How many of the first axes may hold samples.
        tolerance: The relative rounding error to allow.

    Returns:
        The layout, or none where no candidate explains the gradient; and whether several different ones
        do, so that the probe can't tell.
    """
    n = len(PROBE_WEIGHTS)
    weights = torch.tensor(PROBE_WEIGHTS, device=gradient.device, dtype=gradient.dtype)
    allowed = tolerance * weighted.abs().amax()
    found: list[Layout] = []
    for layout in _candidates(gradient.shape, leading, n):
        g, w = layout.split(gradient, n), layout.split(weighted, n)
        if bool(((w - weights.view(-1, *[1] * (g.ndim - 1)) * g).abs() <= allowed).all()):
            found.append(layout)
    return (found[0] if found else None), len(found) > 1


def _candidates(shape: Sequence[int], leading: int, n: int) -> list[Layout]:
    layouts: list[Layout] = []
    for axis in range(leading):
        if shape[axis] % n:
            continue
        layouts.append(Layout(axis, samples_first=True))
        if shape[axis] > n:  # with one row a sample both orders are the same
            layouts.append(Layout(axis, samples_first=False))
    return layouts
