"""The cluster of the nearest sample: bounds tell it only where it is so."""

import density_reference as reference
import numpy as np
import pytest
import torch

from proponent.density._cluster import Cluster
from proponent.density._owners import certain_owners, owners
from proponent.density._place import Place


def make_clusters(d, gap, shift=0.0, seed=0):
    """Three clusters of different sizes and spreads, so far apart."""
    generator = np.random.default_rng(seed)
    labels = generator.permutation(np.repeat([0, 1, 2], [30, 5, 12]))
    places = shift + gap * np.arange(3)[:, None] * np.ones(d)
    samples = places[labels] + np.array([1.0, 3.0, 0.1])[labels, None] * generator.normal(size=(47, d))
    place = Place.asked_for(None, "float64", 2000)
    clusters = [Cluster.of(samples, np.flatnonzero(labels == k), place) for k in range(3)]
    queries = samples[generator.integers(47, size=300)] + 2 * generator.normal(size=(300, d))
    return samples, labels, clusters, np.concatenate([queries, samples]), place


@pytest.mark.parametrize("d", [1, 3, 20])
@pytest.mark.parametrize("gap", [0.0, 3.0, 100.0])
@pytest.mark.parametrize("shift", [0.0, 1e6])
def test_is_that_of_the_nearest_sample(d, gap, shift):
    samples, labels, clusters, queries, place = make_clusters(d, gap, shift)
    expected = labels[reference.nearest(samples, queries)]
    assert (owners(torch.from_numpy(queries), samples, labels, clusters, place) == expected).all()
    certain = certain_owners(torch.from_numpy(queries), clusters).numpy()
    assert (certain[certain >= 0] == expected[certain >= 0]).all()


def test_bounds_are_enough_for_clusters_that_lie_apart():
    *_, clusters, queries, _ = make_clusters(3, 100.0)
    assert (certain_owners(torch.from_numpy(queries), clusters) >= 0).all()


def test_bounds_are_not_enough_for_clusters_that_overlap():
    *_, clusters, queries, _ = make_clusters(3, 0.0)
    assert (certain_owners(torch.from_numpy(queries), clusters) < 0).all()


@pytest.mark.parametrize(("d", "owner"), [(1, 0), (10_000, -1)])
def test_bounds_are_not_enough_where_sums_of_many_are_rounded_by_as_much(d, owner):
    ends = np.zeros((2, d))
    ends[:, 0] = 1.0, -1.0 - 5e-12
    clusters = [Cluster(1, end, np.zeros(d), 0.0, 0.0) for end in ends]
    assert certain_owners(torch.zeros(1, d).double(), clusters).tolist() == [owner]


def test_of_two_clusters_that_are_equally_near_the_first_sample_counts():
    samples, labels = np.array([[4.0], [9.0], [0.0], [-5.0]]), np.array([1, 1, 0, 0])
    place = Place.asked_for(None, "float64", None)
    clusters = [Cluster.of(samples, np.flatnonzero(labels == k), place) for k in range(2)]
    assert owners(torch.tensor([[2.0]]).double(), samples, labels, clusters, place).tolist() == [1]
