"""Samples, weights and queries for kernel densities, and refits to hold them against."""

import density_reference as reference
import numpy as np
from numpy.testing import assert_allclose

from proponent.density import KernelDensity


def normal(*shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape)


def some_weights(count, seed=5):
    return np.random.default_rng(seed).gamma(1.0, size=count)


def among(samples, count=9, seed=1):
    """Queries in the midst of the samples, far from them, and on some of them."""
    d = samples.shape[1]
    near = normal(count, d, seed=seed) + samples.mean(0)
    return np.concatenate([near, near[:2] + 100, samples[:3]])


def assert_equals_refits(samples, queries, bandwidth, weights=None, tolerance=1e-10, **place):
    density = KernelDensity(bandwidth, **place).fit(samples, sample_weight=weights)
    expected = reference.kernel_influence(samples, queries, bandwidth, weights)
    logs = reference.kernel_log_densities(samples, queries, bandwidth, weights)
    own = reference.kernel_self_influence(samples, bandwidth, weights)
    for found, truth in (
        (density.influence(queries).values, expected),
        (density.score_samples(queries), logs),
        (density.self_influence().values, own),
    ):
        # By value, as a few owners outweigh all others in a norm; those near 0 by what one sample weighs.
        assert_allclose(found, truth, rtol=tolerance, atol=tolerance / len(samples))
