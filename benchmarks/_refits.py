"""The slow truth of density estimators: their definitions, fitted anew without each sample."""

import math
from collections.abc import Callable, Sequence

import numpy as np
from scipy.special import logsumexp

from proponent.scores import FloatArray

# (samples, their labels, queries, the labels of those) -> the queries' log densities
LogDensities = Callable[[FloatArray, FloatArray, FloatArray, FloatArray], FloatArray]


def by_refits(
    estimate: LogDensities,
    samples: FloatArray,
    labels: FloatArray,
    queries: FloatArray,
    query_labels: FloatArray,
    left_out: Sequence[int],
) -> FloatArray:
    """The influence of some samples on queries ``[m, q]``, each by a fit without it."""
    whole = estimate(samples, labels, queries, query_labels)
    return np.stack(
        [
            whole - estimate(np.delete(samples, i, 0), np.delete(labels, i), queries, query_labels)
            for i in left_out
        ]
    )


def k_nearest(k: int) -> LogDensities:
    """The density of the k nearest neighbours."""

    def estimate(samples: FloatArray, _: FloatArray, queries: FloatArray, __: FloatArray) -> FloatArray:
        n, d = samples.shape
        radii = np.sort(_distances(samples, queries), axis=0)[k - 1]
        volume = d / 2 * math.log(math.pi) - math.lgamma(d / 2 + 1)
        return math.log(k / n) - volume - d * np.log(radii)

    return estimate


def kernels(bandwidth: float) -> LogDensities:
    """Gaussian kernels around the samples."""

    def estimate(samples: FloatArray, _: FloatArray, queries: FloatArray, __: FloatArray) -> FloatArray:
        n, d = samples.shape
        exponents = -((_distances(samples, queries) / bandwidth) ** 2) / 2
        constant = math.log(n) + d / 2 * math.log(2 * math.pi * bandwidth**2)
        return np.asarray(logsumexp(exponents, axis=0)) - constant

    return estimate


def spherical(
    samples: FloatArray, labels: FloatArray, queries: FloatArray, query_labels: FloatArray
) -> FloatArray:
    """A spherical Gaussian for each cluster."""
    n, d = samples.shape
    result = np.empty(len(queries))
    for k in np.unique(query_labels):
        cluster, asked = samples[labels == k], query_labels == k
        mean, variance = cluster.mean(0), cluster.var(0).mean()
        squares = ((queries[asked] - mean) ** 2).sum(1) / variance
        constant = math.log(len(cluster) / n) - d / 2 * math.log(2 * math.pi * variance)
        result[asked] = constant - squares / 2
    return result


def _distances(samples: FloatArray, queries: FloatArray) -> FloatArray:
    return np.stack([np.sqrt(((samples - query) ** 2).sum(1)) for query in queries], 1)
