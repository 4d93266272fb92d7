"""The spherical mixture against refits without each sample, its forms, and every edge of its clusters."""

import math
import pickle

import density_reference as reference
import numpy as np
import pandas as pd
import pytest
import torch
from numpy.testing import assert_allclose

from asserts import assert_close, assert_same_bits
from proponent.density import SphericalMixture

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


def formula(form, samples, labels, queries):
    """The first orders as the paper and its notes write them, a pair at a time."""
    n, d = samples.shape
    owners = labels[reference.nearest(samples, queries)]
    scores = np.full((n, len(queries)), -1 / n if form == "paper" else math.log((n - 1) / n))
    for i, j in np.ndindex(n, len(queries)):
        if labels[i] != owners[j]:
            continue
        cluster = samples[labels == labels[i]]
        n0, mean, variance = len(cluster), cluster.mean(0), cluster.var(0).mean()
        x, z = samples[i], queries[j]
        square = ((z - mean) ** 2).sum() / variance
        if form == "expansion":
            square *= ((x - mean) ** 2).sum() / d
        scores[i, j] = (d + 2) / (2 * n0) + (square - ((z - x) ** 2).sum()) / (2 * n0 * variance) - 1 / n
    return scores


@pytest.mark.parametrize("form", ["expansion", "paper"])
def test_first_orders_are_the_formulas(form):
    samples, labels = make_data()
    queries = make_queries(samples)
    mixture = SphericalMixture(labels=labels, form=form).fit(samples)
    assert_close(mixture.influence(queries).values, formula(form, samples, labels, queries), 1e-12)
    own = np.diag(formula(form, samples, labels, samples))
    assert_close(mixture.self_influence().values, own, 1e-12)


def test_the_expansion_is_right_to_first_order_and_the_printed_one_is_not():
    errors = {}
    for n in (400, 800, 1600):
        samples = make_data(5, (n,))[0]
        queries = make_queries(samples[:50])
        exact = SphericalMixture().fit(samples).influence(queries).values
        for form in ("expansion", "paper"):
            other = SphericalMixture(form=form).fit(samples).influence(queries).values
            errors[form, n] = np.abs(other - exact).mean()
    assert errors["expansion", 1600] < errors["expansion", 400] / 12  # the second order falls by 16
    assert errors["paper", 1600] > errors["paper", 400] / 6  # the first by 4


@pytest.mark.parametrize("deviation", [0.5, 1.0, 2.0])
def test_at_the_size_of_the_paper_the_printed_form_is_off_by_the_influence_itself(deviation):
    points = deviation * np.random.default_rng(0).normal(size=(5100, 50))
    samples, queries = points[:5000], points[5000:]
    scores = {form: SphericalMixture(form=form).fit(samples).influence(queries).values for form in FORMS}
    assert np.abs(scores["expansion"] - scores["exact"]).max() < 1e-5
    assert np.abs(scores["paper"] - scores["exact"]).max() > 5e-3


@pytest.mark.parametrize("form", FORMS)
def test_the_unit_of_the_data_matters_to_the_printed_form_alone(form):
    samples, labels = make_data()
    mixture = SphericalMixture(labels=labels, form=form)
    ours = mixture.fit(samples).self_influence().values
    theirs = mixture.fit(4 * samples).self_influence().values
    if form == "paper":
        assert np.abs(ours - theirs).max() > 0.1
    else:
        assert_close(theirs, ours, 1e-13)


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


def test_an_unknown_form_is_refused():
    with pytest.raises(ValueError, match="`form` must be one of exact, expansion, paper, got 'first'"):
        SphericalMixture(form="first").fit([[0.0], [1.0]])
    fitted = SphericalMixture().fit([[0.0], [1.0]]).set_params(form="second")
    with pytest.raises(ValueError, match="got 'second'"):
        fitted.influence([[0.0]])


def test_two_samples_are_enough():
    mixture = SphericalMixture().fit([[0.0], [2.0]])
    assert_allclose(mixture.score_samples([[1.0]]), -math.log(2 * math.pi) / 2)
    assert mixture.influence([[1.0]]).values.tolist() == [[math.inf], [math.inf]]


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


def _plain(labels):
    return labels.tolist() if isinstance(labels, torch.Tensor) else list(labels)
