"""Everything that the paper's figures on density estimators show, as plain numbers."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from proponent.density import KernelDensity, KNNDensity, SphericalMixture
from proponent.paper._six_clusters import SixClusters, six_clusters
from proponent.scores import FloatArray, Scores

KNN, KDE, MIXTURE = "k-NN", "KDE", "spherical mixture"
FORMS = ("exact", "expansion", "paper")

# Of cluster 0, in its deviations: near the centre, as the paper has it, but not on it, where terms vanish.
_OFF_CENTRE = np.array([0.25, 0.25])


@dataclass(frozen=True, eq=False)
class Estimate:
    """What one density estimator says of the clusters.

    Attributes:
        log_likelihoods: Of the samples, ``[n]``, in nats.
        self_influence: Of the samples, ``[n]``.
        influence: Of the samples on the query, ``[n, 1]``.
        among: Of the samples on each other, ``[n, n]``; a column is a query.
    """

    log_likelihoods: FloatArray
    self_influence: Scores
    influence: Scores
    among: Scores


@dataclass(frozen=True, eq=False)
class DensityFigures:
    """The numbers of the figures.

    Attributes:
        clusters: The data.
        query: The point z that is asked about, ``[2]``, near the centre of cluster 0.
        seed: What the data come from.
        k: Neighbours of k-NN.
        bandwidth: The standard deviation of KDE's kernel.
        estimates: By the estimator's name: k-NN, KDE, the spherical mixture in its exact form.
        forms: The spherical mixture in each of its forms: exact, corrected expansion, as the paper prints it.
    """

    clusters: SixClusters
    query: FloatArray
    seed: int
    k: int
    bandwidth: float
    estimates: Mapping[str, Estimate]
    forms: Mapping[str, Estimate]

    @property
    def distances(self) -> FloatArray:
        """Of the samples to the query, ``[n]``."""
        distances: FloatArray = np.linalg.norm(self.clusters.points - self.query, axis=1)
        return distances

    def settings(self) -> dict[str, Any]:
        """What the figures were made with, fit for JSON."""
        return {
            "seed": self.seed,
            "k": self.k,
            "bandwidth": self.bandwidth,
            "query": self.query.tolist(),
            "sizes": self.clusters.sizes.tolist(),
            "deviations": self.clusters.deviations.tolist(),
            "centres": self.clusters.centres.tolist(),
        }


def density_figures(seed: int = 0, k: int = 10, bandwidth: float | int | str = 1.0) -> DensityFigures:
    """Compute what the paper's figures on density estimators show.

    The paper's Section 3.1 and its first appendix draw six clusters, the self-influences of their samples,
    and the influences on a point z near the centre of cluster 0, under three estimators. Where the text
    leaves something open it is chosen here: the centres of the clusters, the bandwidth, and z, which lies a
    quarter of a deviation off the centre of cluster 0 along both axes and is none of the samples.

    Args:
        seed: What the samples come from.
        k: Neighbours of k-NN; 2 at least, and fewer than the 100 samples.
        bandwidth: The standard deviation of KDE's kernel, or "scott" or "silverman", rules for it.

    Raises:
        ValueError: `k` or `bandwidth` can't be used.
    """
    clusters = six_clusters(seed)
    most = len(clusters.points) - 1
    if not 2 <= k <= most:
        raise ValueError(
            f"`k` must be from 2 to {most}, got {k}: a sample is its own first neighbour, and of the "
            f"{most + 1} samples one is left out."
        )
    query = clusters.centres[0] + _OFF_CENTRE * clusters.deviations[0]
    forms = {
        form: _estimate(SphericalMixture(labels=clusters.labels, form=form), clusters, query)
        for form in FORMS
    }
    kernels = KernelDensity(bandwidth=bandwidth)
    estimates = {
        KNN: _estimate(KNNDensity(k=k), clusters, query),
        KDE: _estimate(kernels, clusters, query),
        MIXTURE: forms["exact"],
    }
    return DensityFigures(clusters, query, seed, k, kernels.bandwidth_, estimates, forms)


def _estimate(
    density: KNNDensity | KernelDensity | SphericalMixture, clusters: SixClusters, query: FloatArray
) -> Estimate:
    fitted = density.fit(clusters.points)
    ids = [f"{k}-{i}" for k, size in enumerate(clusters.sizes) for i in range(size)]
    return Estimate(
        log_likelihoods=fitted.score_samples(clusters.points),
        self_influence=fitted.self_influence(ids=ids, progress=False),
        influence=fitted.influence(query[None], ids=ids, query_ids=["z"], progress=False),
        among=fitted.influence(clusters.points, ids=ids, query_ids=ids, progress=False),
    )
