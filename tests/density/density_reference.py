"""The slow truth: density estimators by their definitions, and influence by refitting without each sample."""

import math

import numpy as np
from scipy.special import gammaln


def nearest(samples, queries):
    """The position of the sample nearest to each query; the first of several."""
    return np.array([np.argmin(((samples - query) ** 2).sum(1)) for query in queries])


def spherical_log_density(cluster, total, queries):
    """A cluster's share of the samples, and the likeliest spherical Gaussian for it."""
    d = cluster.shape[1]
    mean = cluster.mean(0)
    variance = ((cluster - mean) ** 2).sum() / (len(cluster) * d)
    squares = ((queries - mean) ** 2).sum(1)
    return math.log(len(cluster) / total) - (d * np.log(2 * np.pi * variance) + squares / variance) / 2


def spherical_log_densities(samples, labels, queries):
    """The log density of each query under the cluster of its nearest sample."""
    owners = labels[nearest(samples, queries)]
    return _under(samples, labels, queries, owners)


def spherical_influence(samples, labels, queries):
    """By refits; the clusters of samples and queries stay as they are."""
    owners = labels[nearest(samples, queries)]
    whole = _under(samples, labels, queries, owners)
    rests = [np.arange(len(samples)) != i for i in range(len(samples))]
    return np.stack([whole - _under(samples[rest], labels[rest], queries, owners) for rest in rests])


def spherical_self_influence(samples, labels):
    """By refits; a sample is in its own cluster."""
    whole = _under(samples, labels, samples, labels)
    rests = [np.arange(len(samples)) != i for i in range(len(samples))]
    return np.array(
        [
            whole[i] - _under(samples[rest], labels[rest], samples[i : i + 1], labels[i : i + 1])[0]
            for i, rest in enumerate(rests)
        ]
    )


def _under(samples, labels, queries, owners):
    result = np.empty(len(queries))
    for k in set(owners.tolist()):
        result[owners == k] = spherical_log_density(samples[labels == k], len(samples), queries[owners == k])
    return result


def distances_to(samples, queries):
    """All distances, ``[q, n]``, by differences."""
    return np.sqrt(((queries[:, None] - samples) ** 2).sum(2))


def knn_log_densities(samples, queries, k):
    """The density of the k nearest neighbours, by its definition."""
    n, d = samples.shape
    radii = np.sort(distances_to(samples, queries), 1)[:, k - 1]
    log_volume = d / 2 * np.log(np.pi) - gammaln(d / 2 + 1)
    with np.errstate(divide="ignore"):
        return np.log(k) - np.log(n) - log_volume - d * np.log(radii)


def knn_influence(samples, queries, k):
    """By refits; a query is treated as any other point."""
    whole = knn_log_densities(samples, queries, k)
    rests = [np.arange(len(samples)) != i for i in range(len(samples))]
    return np.stack([whole - knn_log_densities(samples[rest], queries, k) for rest in rests])


def knn_self_influence(samples, k):
    """By refits."""
    return np.diag(knn_influence(samples, samples, k))


def kernel_log_densities(samples, queries, bandwidth, weights=None):
    """A Gaussian kernel on every sample, by differences."""
    d = samples.shape[1]
    logs, weights = _log_kernels(samples, queries, bandwidth, weights)
    return _log_means(logs, weights) - d * np.log(bandwidth) - d / 2 * np.log(2 * np.pi)


def kernel_influence(samples, queries, bandwidth, weights=None):
    """By refits at the same bandwidth.

    Logarithms are relative to the highest of their query, so that differences of two keep their digits.
    """
    logs, weights = _log_kernels(samples, queries, bandwidth, weights)
    logs = logs - logs.max(1)[:, None]
    whole = _log_means(logs, weights)
    rests = [np.arange(len(samples)) != i for i in range(len(samples))]
    return np.stack([whole - _log_means(logs[:, rest], weights[rest]) for rest in rests])


def kernel_self_influence(samples, bandwidth, weights=None):
    """By refits at the same bandwidth."""
    return np.diag(kernel_influence(samples, samples, bandwidth, weights))


def _log_kernels(samples, queries, bandwidth, weights):
    weights = np.ones(len(samples)) if weights is None else np.asarray(weights, dtype=float)
    with np.errstate(divide="ignore"):
        return np.log(weights) - (distances_to(samples, queries) / bandwidth) ** 2 / 2, weights


def _log_means(logs, weights):
    highest = logs.max(1)
    return highest + np.log(np.exp(logs - highest[:, None]).sum(1)) - np.log(weights.sum())
