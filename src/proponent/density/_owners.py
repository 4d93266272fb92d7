"""Which cluster holds the nearest sample of a point, mostly told without looking at the samples."""

from collections.abc import Sequence

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from proponent.density._cluster import Cluster
from proponent.density._nearest import nearest
from proponent.density._place import Place
from proponent.scores import FloatArray, Positions

# Of distances and coordinates, and what sums over so many of these are rounded by: far below what sets
# clusters apart.
_SLACK, _ROUNDING = 1e-12, 2 * torch.finfo(torch.float64).eps


def owners(
    queries: Float[Tensor, "q d"],
    samples: FloatArray,
    labels: Positions,
    clusters: Sequence[Cluster],
    place: Place,
) -> Positions:
    """Find the cluster of the sample nearest to each query; of several, that of the first sample.

    Args:
        queries: The points.
        samples: All samples.
        labels: The position of each sample's cluster.
        clusters: The clusters.
        place: Where to look.
    """
    found = np.zeros(len(queries), dtype=np.intp)
    if len(clusters) == 1:
        return found
    for part in place.parts(len(queries), 8 * 4 * len(clusters)):
        found[part] = certain_owners(queries[part], clusters).cpu().numpy()
    unsure = np.flatnonzero(found < 0)
    if len(unsure):
        everything = torch.as_tensor(samples, device=place.device)
        _, positions = nearest(everything, queries[unsure], 1, place)
        found[unsure] = labels[positions[:, 0].cpu().numpy()]
    return found


def certain_owners(queries: Float[Tensor, "q d"], clusters: Sequence[Cluster]) -> Int[Tensor, " q"]:
    r"""Find the cluster of the nearest sample where bounds are enough to tell; elsewhere -1.

    At the distance D from the mean of a cluster, some sample of it is no further than
    $\sqrt{D^2 + d \sigma^2}$, the root of the mean square, and none is nearer than D less the radius.
    """
    means = torch.as_tensor(np.stack([cluster.mean for cluster in clusters]), device=queries.device)
    spreads = means.new_tensor([cluster.deviation for cluster in clusters]) * queries.shape[1] ** 0.5
    radii = means.new_tensor([cluster.radius for cluster in clusters])
    D = torch.cdist(queries.double(), means, compute_mode="donot_use_mm_for_euclid_dist")
    at_most, owner = torch.hypot(D, spreads).min(1)
    at_least = (D - radii).scatter(1, owner[:, None], torch.inf).amin(1)
    share = _SLACK + _ROUNDING * queries.shape[1]
    slack = share * (D.amax(1) + radii.amax() + means.norm(dim=1).amax())
    return owner.where(at_most + slack < at_least, -1)
