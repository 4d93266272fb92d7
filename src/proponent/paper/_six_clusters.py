"""The data of the paper's figures on density estimators: six clusters in the plane."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from proponent.scores import FloatArray

SIZES = (25, 15, 20, 25, 10, 5)
DEVIATIONS = (0.5, 0.5, 0.4, 0.4, 0.5, 1.0)
# The paper does not say where they lie; these are well separated.
CENTRES = ((0.0, 0.0), (8.0, 1.0), (4.0, 7.0), (-5.0, 6.0), (-7.0, -3.0), (3.5, -8.0))


@dataclass(frozen=True, eq=False)
class SixClusters:
    """Samples of six spherical Gaussians.

    Attributes:
        points: The samples, ``[100, 2]``, cluster by cluster.
        labels: The cluster of each, ``[100]``.
        centres: Of the Gaussians, ``[6, 2]``.
        deviations: Their standard deviations, ``[6]``.
    """

    points: FloatArray
    labels: npt.NDArray[np.int64]
    centres: FloatArray
    deviations: FloatArray

    @property
    def sizes(self) -> npt.NDArray[np.int64]:
        """How many samples each cluster has, ``[6]``."""
        return np.bincount(self.labels)

    @property
    def from_means(self) -> FloatArray:
        """Of each sample, from the mean of the samples of its cluster, ``[100, 2]``."""
        means = np.array([self.points[self.labels == k].mean(0) for k in np.unique(self.labels)])
        return np.asarray(self.points - means[self.labels])


def six_clusters(seed: int = 0) -> SixClusters:
    """Draw the six clusters of the paper's appendix on density estimators.

    They have 25, 15, 20, 25, 10 and 5 samples with standard deviations 0.5, 0.5, 0.4, 0.4, 0.5 and 1.

    >>> clusters = six_clusters()
    >>> clusters.points.shape, clusters.sizes.tolist()
    ((100, 2), [25, 15, 20, 25, 10, 5])

    Args:
        seed: What the samples come from.
    """
    labels = np.repeat(np.arange(len(SIZES)), SIZES)
    centres, deviations = np.array(CENTRES), np.array(DEVIATIONS)
    noise = np.random.default_rng(seed).standard_normal((len(labels), 2))
    return SixClusters(centres[labels] + deviations[labels, None] * noise, labels, centres, deviations)
