"""The slow truth: density estimators by their definitions, and influence by refitting without each sample."""

import math

import numpy as np


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
