"""Samples without which little or nothing is left of the variance of their cluster."""

import math

import density_reference as reference
import numpy as np
import pytest
from numpy.testing import assert_allclose

from proponent.density import SphericalMixture


class TestDominantSamples:
    """Without them little or nothing is left of the cluster's variance."""

    FAR = np.array([[50.0], [51.0], [53.0]])

    def mixture(self, cluster, **options):
        samples = np.concatenate([cluster, self.FAR])
        return SphericalMixture(labels=[0] * len(cluster) + [1] * 3, **options).fit(samples)

    def test_cluster_of_two(self):
        mixture = self.mixture([[0.0], [1.0]])
        assert list(mixture.self_influence().values[:2]) == [math.inf, math.inf]
        values = mixture.influence([[0.0], [1.0], [0.3]]).values
        assert values[:2].tolist() == [[math.inf, -math.inf, math.inf], [-math.inf, math.inf, math.inf]]
        assert_allclose(values[2:], math.log(4 / 5), rtol=1e-14)

    def test_two_of_three_are_the_same(self):
        mixture = self.mixture([[0.1], [0.1], [0.7]])
        values = mixture.influence([[0.1], [0.7], [0.3]]).values
        assert values[2].tolist() == [-math.inf, math.inf, math.inf]
        assert np.isfinite(values[:2]).all()
        own = mixture.self_influence().values
        assert own[2] == math.inf
        assert np.isfinite(own[:2]).all()
        assert_allclose(own[:2], values[:2, 0], rtol=1e-13)

    @pytest.mark.parametrize("spread", [1e-12, 1e-9, 1e-6, 1e-3, 0.3])
    def test_all_but_one_are_near_each_other(self, spread):
        cluster = np.array([[0.0], [spread], [-0.5 * spread], [1.0]])
        mixture = self.mixture(cluster)
        samples, labels = mixture.samples_, mixture.labels_
        queries = np.concatenate([cluster, [[0.4], [2 * spread]]])
        expected = reference.spherical_influence(samples, labels, queries)
        assert_allclose(mixture.influence(queries).values, expected, rtol=1e-10)
        assert_allclose(
            mixture.self_influence().values, reference.spherical_self_influence(samples, labels), rtol=1e-10
        )

    def test_one_of_two_in_single_precision(self):
        mixture = self.mixture([[0.1], [0.1], [0.7]], precision="float32")
        assert mixture.self_influence().values[2] == math.inf
        assert mixture.influence([[0.3]]).values[2, 0] == math.inf

    @pytest.mark.parametrize("form", ["expansion", "paper"])
    def test_first_orders_are_finite(self, form):
        mixture = self.mixture([[0.0], [1.0]], form=form)
        assert np.isfinite(mixture.influence([[0.0], [0.3]]).values).all()
        assert np.isfinite(mixture.self_influence().values).all()

    def test_infinite_scores_are_ranked(self):
        top = self.mixture([[0.0], [1.0]]).influence([[0.0], [1.0]], top=1)
        assert top.highest.ids.tolist() == [[0], [1]]
        assert top.lowest.ids.tolist() == [[1], [0]]


def test_two_samples_are_enough():
    mixture = SphericalMixture().fit([[0.0], [2.0]])
    assert_allclose(mixture.score_samples([[1.0]]), -math.log(2 * math.pi) / 2)
    assert mixture.influence([[1.0]]).values.tolist() == [[math.inf], [math.inf]]
