"""Self-influence of density estimators as one writes it in torch: a product, and a reduction of its rows.

Whole rows of the matrix of distances are made and read, a few queries at a time. Both are exact but for the
rounding of products in float32.
"""

import math

import torch
from torch import Tensor


def torch_kernel_self_influence(samples: Tensor, bandwidth: float, rows: slice, at_once: int) -> Tensor:
    """Score some samples by kernels on all, in the samples' precision."""
    x = (samples - samples.mean(0)) / bandwidth
    heights = x.square().sum(1) / -2
    logs = []
    for part in _parts(rows, at_once):
        t = torch.addmm(heights, x[part], x.T).add_(heights[part, None])
        t.diagonal(part.start).fill_(-torch.inf)
        logs.append(t.logsumexp(1))
    return math.log1p(-1 / len(x)) + torch.nn.functional.softplus(-torch.cat(logs), threshold=50)


def torch_nearest_self_influence(samples: Tensor, k: int, rows: slice, at_once: int) -> Tensor:
    """Score some samples by the radii that hold k and k + 1 of all, in the samples' precision."""
    n, d = samples.shape
    x = samples - samples.mean(0)
    squares = x.square().sum(1)
    gains = []
    for part in _parts(rows, at_once):
        distances = torch.addmm(squares, x[part], x.T, alpha=-2).add_(squares[part, None])
        nearest = distances.topk(k + 1, 1, largest=False).values
        gains.append(d / 2 * (nearest[:, -1] / nearest[:, -2]).log())
    return math.log1p(-1 / n) + torch.cat(gains)


def _parts(rows: slice, at_once: int) -> list[slice]:
    starts = range(rows.start, rows.stop, at_once)
    return [slice(start, min(start + at_once, rows.stop)) for start in starts]
