"""The spherical mixture against refits without each sample, wherever the data lie."""

import math
import pickle

import density_reference as reference
import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose
from spherical_cases import COUNTS, FORMS, make_data, make_queries

from asserts import assert_close, assert_same_bits
from proponent.density import SphericalMixture


@pytest.mark.parametrize("d", [1, 2, 16, 64])
def test_equals_refits_without_each_sample(d):
    samples, labels = make_data(d)
    queries = make_queries(samples)
    mixture = SphericalMixture(labels=labels).fit(samples)
    assert_close(
        mixture.influence(queries).values, reference.spherical_influence(samples, labels, queries), 1e-10
    )
    assert_close(mixture.self_influence().values, reference.spherical_self_influence(samples, labels), 1e-10)
    assert_close(
        mixture.score_samples(queries), reference.spherical_log_densities(samples, labels, queries), 1e-12
    )


def test_parameters_are_those_of_the_clusters():
    samples, labels = make_data()
    mixture = SphericalMixture(labels=labels).fit(samples)
    assert list(mixture.labels_) == list(labels)
    assert list(mixture.clusters_) == [0, 1, 2]
    assert list(mixture.counts_) == list(COUNTS)
    for k in range(3):
        cluster = samples[labels == k]
        assert_allclose(mixture.means_[k], cluster.mean(0), rtol=1e-13)
        assert_allclose(mixture.variances_[k], cluster.var(0).mean(), rtol=1e-12)
    assert_allclose(mixture.weights_, np.array(COUNTS) / 74)


def test_a_shift_does_not_matter():
    samples, labels = make_data()
    queries = make_queries(samples)
    samples, queries = np.round(samples * 2**16) / 2**16, np.round(queries * 2**16) / 2**16
    there = 2.0**20 * np.array([1, -1, 0.5])  # so that sums are exact
    mixture = SphericalMixture(labels=labels)
    here = mixture.fit(samples)
    expected = [here.influence(queries).values, here.self_influence().values, here.score_samples(queries)]
    far = mixture.fit(samples + there)
    found = [far.influence(queries + there).values, far.self_influence().values]
    for one, other in zip(found, expected, strict=False):
        assert_close(one, other, 1e-13)
    assert_allclose(far.score_samples(queries + there), expected[2], rtol=1e-13)


@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_the_scale_of_the_data_does_not_matter_to_single_precision(offset):
    samples, labels = make_data()
    exact = SphericalMixture(labels=labels).fit(samples).self_influence().values
    for scale in (1e-30, 1e30):
        data = scale * (samples + offset)
        rounded = SphericalMixture(labels=labels, precision="float32").fit(data).self_influence().values
        assert rounded.dtype == np.float32
        assert_close(rounded, exact, 1e-6)


def test_a_shift_does_not_matter_to_single_precision():
    samples, labels = make_data()
    queries = make_queries(samples)
    exact = SphericalMixture(labels=labels).fit(samples).influence(queries).values
    rounded = SphericalMixture(labels=labels, precision="float32").fit(samples + 1e6)
    assert_close(rounded.influence(queries + 1e6).values, exact, 1e-5)


def test_precision_of_products():
    samples, labels = make_data(16)
    queries = make_queries(samples)
    exact = SphericalMixture(labels=labels).fit(samples).influence(queries).values
    single = SphericalMixture(labels=labels, precision="float32").fit(samples)
    assert single.influence(queries).values.dtype == np.float32
    assert_close(single.influence(queries).values, exact, 1e-5)
    assert single.influence(queries).facts["precision"] == "float32"


def test_single_precision_input_is_taken_as_it_is():
    samples, labels = make_data()
    data = samples.astype(np.float32)
    mixture = SphericalMixture(labels=labels)
    own = mixture.fit(data).self_influence().values
    assert_same_bits(own, mixture.fit(data.astype(np.float64)).self_influence().values)
    assert_close(own, reference.spherical_self_influence(data.astype(np.float64), labels), 1e-10)


def test_tensors():
    samples, labels = make_data()
    queries = make_queries(samples)
    arrays = SphericalMixture(labels=labels).fit(samples)
    tensors = SphericalMixture(labels=torch.tensor(labels)).fit(torch.tensor(samples))
    assert_same_bits(tensors.influence(torch.tensor(queries)).values, arrays.influence(queries).values)
    assert tensors.clusters_.tolist() == [0, 1, 2]


def test_a_thousand_dimensions():
    samples, labels = make_data(1000, (6, 5))
    queries = make_queries(samples)
    mixture = SphericalMixture(labels=labels).fit(samples)
    assert_close(
        mixture.influence(queries).values, reference.spherical_influence(samples, labels, queries), 1e-10
    )


@pytest.mark.parametrize("memory_budget", [1, 5000, None])
def test_chunks_do_not_matter(memory_budget):
    samples, labels = make_data()
    queries = make_queries(samples)
    whole = SphericalMixture(labels=labels).fit(samples)
    parts = SphericalMixture(labels=labels, memory_budget=memory_budget).fit(samples)
    assert_close(parts.influence(queries).values, whole.influence(queries).values, 1e-13)
    assert_close(parts.self_influence().values, whole.self_influence().values, 1e-13)
    assert_close(parts.score_samples(queries), whole.score_samples(queries), 1e-13)


def test_the_order_of_the_samples_does_not_matter():
    samples, labels = make_data()
    queries = make_queries(samples)
    order = np.random.default_rng(2).permutation(len(samples))
    first = SphericalMixture(labels=labels).fit(samples)
    second = SphericalMixture(labels=labels[order]).fit(samples[order])
    assert_close(second.influence(queries).values, first.influence(queries).values[order], 1e-12)
    assert_close(second.self_influence().values, first.self_influence().values[order], 1e-12)


def test_a_query_that_is_a_sample_is_scored_as_the_sample_itself():
    samples, labels = make_data()
    for form in FORMS:
        mixture = SphericalMixture(labels=labels, form=form).fit(samples)
        assert_close(np.diag(mixture.influence(samples).values), mixture.self_influence().values, 1e-12)


def test_a_query_belongs_to_the_cluster_of_the_nearest_sample():
    wide, narrow = np.array([[-10.0], [0.0], [10.0]]), np.array([[14.0], [14.5], [15.0]])
    samples, labels = np.concatenate([wide, narrow]), np.repeat([0, 1], 3)
    mixture = SphericalMixture(labels=labels).fit(samples)
    values = mixture.influence([[11.0]]).values[:, 0]  # nearer to the mean of the other cluster
    assert_allclose(values[3:], math.log(5 / 6), rtol=1e-14)
    assert (np.abs(values[:3] - math.log(5 / 6)) > 0.1).all()
    assert_close(values, reference.spherical_influence(samples, labels, np.array([[11.0]]))[:, 0])


def test_a_query_far_outside():
    samples, labels = make_data()
    queries = np.array([[1e8, 1e8, 1e8], [-1e5, 0.0, 0.0]])
    mixture = SphericalMixture(labels=labels).fit(samples)
    assert (mixture.score_samples(queries) < -1e8).all()
    assert_close(
        mixture.influence(queries).values, reference.spherical_influence(samples, labels, queries), 1e-10
    )


def test_facts_say_what_was_computed():
    samples, labels = make_data()
    scores = SphericalMixture(labels=labels, form="expansion").fit(samples).influence(samples[:1])
    assert scores.method == "spherical mixture"
    assert scores.facts["form"] == "expansion"
    assert scores.facts["clusters"] == 3
    assert scores.facts["device"] == "cpu"


def test_survives_pickling():
    samples, labels = make_data()
    mixture = SphericalMixture(labels=labels).fit(samples)
    again = pickle.loads(pickle.dumps(mixture))
    assert_same_bits(again.self_influence().values, mixture.self_influence().values)
