"""The distance of each sample to its nearest neighbours: a ranking that needs no model."""

import numpy as np
import torch

from proponent.data import as_batch, batch_size, check_finite
from proponent.density._nearest import nearest
from proponent.density._place import Place
from proponent.scores import FloatArray


def neighbour_distances(samples: object, k: int = 5, chunk: int = 1024) -> FloatArray:
    """Compute the mean Euclidean distance of each sample to the k others that lie nearest.

    Exact: distances are sums of squared differences in float64, since the faster way through inner products
    loses the small ones that matter here; inner products only say for most samples that they lie further
    away.

    >>> neighbour_distances([[0.0], [1.0], [3.0]], k=1)
    array([1., 1., 2.])

    Args:
        samples: An array-like, ``[n, ...]``; all axes but the first are flattened.
        k: How many neighbours. A sample is not its own neighbour.
        chunk: Rows at a time.

    Raises:
        TypeError: `samples` is not one array.
        ValueError: `k` or `chunk` is under 1, there are not more than k samples, or some are not finite.
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
    check_finite(batch)
    x = batch.detach().reshape(n, -1).double()
    place = Place.asked_for(x.device, "float64", None)
    rows = [nearest(x, part, k + 1, place)[0] for part in torch.split(x, chunk)]
    others = torch.cat(rows)[:, 1:]  # the nearest is the sample itself, or a copy of it
    return np.asarray(others.mean(1).cpu().numpy(), dtype=np.float64)
