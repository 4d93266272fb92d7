"""The clusters of a spherical mixture, by labels and by k-means."""

import numpy as np
import pandas as pd
import pytest
import torch
from spherical_cases import COUNTS, make_data

from asserts import assert_close, assert_same_bits
from proponent.density import SphericalMixture


class TestLabels:
    @pytest.mark.parametrize(
        "labels",
        [
            ["b", "a", "b", "a"],
            [3, -1, 3, -1],
            np.array([2.5, 0.5, 2.5, 0.5]),
            [(1, 2), (0, 5), (1, 2), (0, 5)],
            pd.Series(["b", "a", "b", "a"], dtype="category"),
            torch.tensor([3, 0, 3, 0]),
        ],
        ids=["text", "whole", "real", "pairs", "pandas", "tensor"],
    )
    def test_are_numbered_in_their_order(self, labels):
        mixture = SphericalMixture(labels=labels).fit([[0.0], [10.0], [1.0], [11.0]])
        assert list(mixture.labels_) == [1, 0, 1, 0]
        assert list(mixture.clusters_) == sorted(set(_plain(labels)))
        assert mixture.means_.ravel().tolist() == [10.5, 0.5]

    def test_without_an_order_come_as_they_first_come(self):
        mixture = SphericalMixture(labels=["x", 7, "x", 7]).fit([[0.0], [10.0], [1.0], [11.0]])
        assert list(mixture.clusters_) == ["x", 7]
        assert list(mixture.labels_) == [0, 1, 0, 1]

    @pytest.mark.parametrize(
        ("labels", "message"),
        [
            ([0, 0, 1], "`labels` must be one for each of the 4 samples, got 3"),
            ([0, None, 0, 0], "`labels` must not have gaps, but that of sample 1 is None"),
            (np.array([0, 0, np.nan, 0]), "`labels` must not have gaps, but that of sample 2 is nan"),
            (pd.Series([0, 0, 0, pd.NA]), "`labels` must not have gaps, but that of sample 3 is <NA>"),
            (np.zeros((4, 1)), "`labels` must be one hashable value a sample"),
            ([["a"], ["a"], ["b"], ["b"]], "`labels` must be one hashable value a sample"),
        ],
        ids=["length", "none", "nan", "pandas", "matrix", "lists"],
    )
    def test_that_can_not_be_used(self, labels, message):
        with pytest.raises(ValueError, match=message):
            SphericalMixture(labels=labels).fit([[0.0], [10.0], [1.0], [11.0]])


class TestKMeans:
    def test_finds_clusters_that_lie_apart(self):
        samples, labels = make_data()
        found = SphericalMixture(3).fit(samples)
        given = SphericalMixture(labels=labels).fit(samples)
        assert sorted(found.counts_) == sorted(COUNTS)
        assert list(found.clusters_) == [0, 1, 2]
        assert_close(found.self_influence().values, given.self_influence().values, 1e-12)
        assert_same_bits(found.labels_, SphericalMixture(3).fit(samples).labels_)

    @pytest.mark.parametrize(
        ("n_clusters", "message"),
        [
            (0, "`n_clusters` must be a whole number of at least 1, got 0"),
            (True, "`n_clusters` must be a whole number of at least 1, got True"),
            (6, "`n_clusters` must be at most the 5 samples, got 6"),
            (4, "`n_clusters` must be at most the 3 different points among the samples, got 4"),
        ],
    )
    def test_that_is_asked_for_too_much(self, n_clusters, message):
        with pytest.raises(ValueError, match=message):
            SphericalMixture(n_clusters).fit([[0.0], [0.0], [5.0], [5.0], [9.0]])


@pytest.mark.parametrize(
    ("samples", "labels", "message"),
    [
        ([[0.0], [1.0], [9.0]], ["a", "a", "b"], "cluster 'b' has 1 sample"),
        (
            [[0.1, 3.3]] * 3 + [[1.0, 1.0], [2.0, 2.0]],
            [7, 7, 7, 8, 8],
            "cluster 7 has 3 samples, all the same",
        ),
        ([[5.0]], None, "cluster 0 has 1 sample"),
        ([[5.0], [5.0]], None, "cluster 0 has 2 samples, all the same"),
    ],
)
def test_clusters_without_a_variance_are_refused(samples, labels, message):
    with pytest.raises(ValueError, match=f"must have 2 different samples at least, but {message}"):
        SphericalMixture(labels=labels).fit(samples)


def _plain(labels):
    return labels.tolist() if isinstance(labels, torch.Tensor) else list(labels)
