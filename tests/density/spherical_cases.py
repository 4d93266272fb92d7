"""Clusters that lie apart, and queries near their samples."""

import numpy as np

COUNTS = (40, 25, 9)
FORMS = ("exact", "expansion", "paper")


def make_data(d=3, counts=COUNTS, seed=0, scale=0.6):
    """Clusters of different sizes, spreads and places, in mixed order; no two places are near."""
    generator = np.random.default_rng(seed)
    labels = generator.permutation(np.repeat(np.arange(len(counts)), counts))
    centres = 60 * scale * np.eye(len(counts), d) + 100 * scale * np.arange(len(counts))[:, None]
    spreads = scale * (1 + 0.4 * np.arange(len(counts)))[labels]
    return centres[labels] + spreads[:, None] * generator.normal(size=(len(labels), d)), labels


def make_queries(samples, count=12, seed=1):
    """Points near samples, so that each has a cluster of its own, and some samples themselves."""
    generator = np.random.default_rng(seed)
    near = samples[generator.integers(len(samples), size=count)]
    return np.concatenate([near + generator.normal(size=near.shape), samples[:2]])
