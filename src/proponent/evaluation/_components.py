"""The principal components of samples: where they lie, in few numbers."""

import numpy as np
import torch

from proponent.randomness import keyed_normal
from proponent.scores import FloatArray

_MORE, _ROUNDS = 10, 4


def principal_components(samples: object, count: int = 60, seed: int = 0) -> FloatArray:
    """Project samples on the directions in which they vary most, by a randomised range finder.

    >>> np.abs(principal_components([[0.0, 1.0], [0.0, -1.0]], count=1)).round(6)
    array([[1.],
           [1.]])

    Args:
        samples: An array-like, ``[n, ...]``; all axes but the first are flattened.
        count: How many components; fewer where there are fewer samples or features.
        seed: Of the finder.

    Returns:
        ``[n, count]``; a component's sign is that in which its largest weight is positive.
    """
    x = torch.as_tensor(np.asarray(samples)).flatten(1).double()
    x = x - x.mean(0)
    width = min(count + _MORE, *x.shape)
    basis = x @ keyed_normal((x.shape[1], width), seed, "components", dtype=torch.float64)
    for _ in range(_ROUNDS):
        basis = torch.linalg.qr(basis).Q
        basis = x @ torch.linalg.qr(x.T @ basis).Q
    _, _, directions = torch.linalg.svd(torch.linalg.qr(basis).Q.T @ x, full_matrices=False)
    directions = directions[: min(count, *x.shape)]
    heaviest = directions.abs().argmax(1, keepdim=True)
    projected = x @ (directions * directions.gather(1, heaviest).sign()).T
    return np.asarray(projected.numpy())
