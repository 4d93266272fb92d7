"""The distance of each sample to its nearest neighbours: a ranking that needs no model."""

import numpy as np
import torch

from proponent.data import as_batch, batch_size
from proponent.scores import FloatArray


def neighbour_distances(samples: object, k: int = 5, chunk: int = 1024) -> FloatArray:
    """Compute the mean Euclidean distance of each sample to the k others that lie nearest.

    Exact: every distance is formed, a chunk of rows at a time, and as a sum of squared differences, since
    the faster way through inner products loses the small distances that matter here.

    >>> neighbour_distances([[0.0], [1.0], [3.0]], k=1)
    array([1., 1., 2.])

    Args:
        samples: An array-like, ``[n, ...]``; all axes but the first are flattened.
        k: How many neighbours. A sample is not its own neighbour.
        chunk: Rows at a time.

    Raises:
        TypeError: `samples` is not one array.
        ValueError: `k` or `chunk` is under 1, or there are not more than k samples.
    """
    batch = as_batch(samples)
    if not isinstance(batch, torch.Tensor):
        raise TypeError(
            f"`samples` must be one array, got a {type(batch).__name__}. Choose the part to compare."
        )
    n = batch_size(batch)
    if not 1 <= k < n:
        raise ValueError(f"`k` must be at least 1 and less than the {n} samples, got {k}.")
    if chunk < 1:
        raise ValueError(f"`chunk` must be at least 1, got {chunk}.")
    x = batch.reshape(n, -1)
    x = x if x.is_floating_point() else x.double()
    rows = []
    for start in range(0, n, chunk):
        distances = torch.cdist(x[start : start + chunk], x, compute_mode="donot_use_mm_for_euclid_dist")
        here = torch.arange(len(distances), device=x.device)
        distances[here, here + start] = torch.inf
        rows.append(distances.topk(k, largest=False).values.mean(1))
    return np.asarray(torch.cat(rows).double().cpu().numpy(), dtype=np.float64)
