"""The k-NN density against refits without each sample, with every edge of ties and copies."""

import math

import density_reference as reference
import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose
from sklearn.exceptions import NotFittedError

from asserts import assert_close, assert_same_bits
from proponent.density._knn import KNNDensity


def normal(*shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape)


def with_samples(samples, count=12, seed=1):
    """Queries among the samples, some of which are samples."""
    return np.concatenate([normal(count, samples.shape[1], seed=seed) + samples.mean(0), samples[:3]])


def assert_equals_refits(samples, queries, k, tolerance=1e-10, **place):
    density = KNNDensity(k, **place).fit(samples)
    assert_close(density.influence(queries).values, reference.knn_influence(samples, queries, k), tolerance)
    assert_close(density.score_samples(queries), reference.knn_log_densities(samples, queries, k), tolerance)
    if k > 1:
        assert_close(density.self_influence().values, reference.knn_self_influence(samples, k), tolerance)


@pytest.mark.parametrize("k", [2, 10, 59])
@pytest.mark.parametrize("d", [1, 2, 16, 64])
def test_equals_refits_without_each_sample(d, k):
    samples = normal(60, d)
    assert_equals_refits(samples, with_samples(samples), k)


def test_a_thousand_dimensions():
    samples = normal(30, 1000)
    assert_equals_refits(samples, with_samples(samples, count=3), 5)


@pytest.mark.parametrize("offset", [1e6, -1e6])
@pytest.mark.parametrize("precision", ["float64", "float32"])
def test_far_from_the_origin_nothing_is_lost(offset, precision):
    samples = offset + normal(40, 3)
    tolerance = 1e-10 if precision == "float64" else 1e-6
    assert_equals_refits(samples, with_samples(samples), 4, tolerance, precision=precision)


@pytest.mark.parametrize("scale", [1e-200, 1e200])
def test_the_unit_of_the_data_does_not_matter(scale):
    samples = normal(40, 3)
    queries = normal(5, 3, seed=1)
    ours, theirs = KNNDensity(4).fit(samples), KNNDensity(4).fit(samples * scale)
    assert_close(theirs.influence(queries * scale).values, ours.influence(queries).values, 1e-12)
    assert_close(theirs.self_influence().values, ours.self_influence().values, 1e-12)
    shift = 3 * math.log(scale)
    assert_close(theirs.score_samples(queries * scale) + shift, ours.score_samples(queries), 1e-11)


def test_one_neighbour():
    samples = normal(40, 3)
    density = KNNDensity(1).fit(samples)
    queries = normal(5, 3, seed=1)
    assert_close(density.influence(queries).values, reference.knn_influence(samples, queries, 1), 1e-10)
    on_samples = density.influence(samples[:4]).values  # each is alone at its place
    assert (np.isposinf(on_samples) == np.eye(40, 4, dtype=bool)).all()
    assert_allclose(on_samples[~np.eye(40, 4, dtype=bool)], math.log(39 / 40), rtol=1e-14)
    assert np.isposinf(density.score_samples(samples[:4])).all()
    with pytest.raises(ValueError, match="`k` must be at least 2 for self-influence, got 1"):
        density.self_influence()


class TestTies:
    """On integer points many samples are as far as the k-th."""

    SAMPLES = np.random.default_rng(4).integers(-2, 3, size=(50, 2)).astype(float) + 10
    QUERIES = np.array([[10.5, 10.0], [10.5, 10.5], [9.25, 11.0], [17.0, 10.0]])  # at none of them

    @pytest.mark.parametrize("k", [1, 2, 3, 7, 20, 49])
    def test_influences_are_those_of_refits(self, k):
        density = KNNDensity(k).fit(self.SAMPLES)
        expected = reference.knn_influence(self.SAMPLES, self.QUERIES, k)
        assert_close(density.influence(self.QUERIES).values, expected, 1e-10)

    def test_beyond_the_kth_place_nothing_is_gained(self):
        ring = np.array([[1.0, 0], [0, 1], [-1, 0], [0, -1], [3, 0], [0, 3]])
        values = [KNNDensity(k).fit(ring).influence([[0.0, 0.0]]).values[:, 0] for k in (3, 4, 5)]
        assert_allclose(values[0], math.log(5 / 6), rtol=1e-14)
        assert_allclose(values[1][:4], math.log(5 / 6) + 2 * math.log(3), rtol=1e-14)
        assert_allclose(values[1][4:], math.log(5 / 6), rtol=1e-14)
        assert_allclose(values[2], math.log(5 / 6), rtol=1e-14)


class TestCopies:
    """Samples that occur several times: radii of 0."""

    SAMPLES = np.array([[0.0, 0.0]] * 3 + [[1.0, 0.0], [0.0, 2.0], [5.0, 5.0]])
    ELSEWHERE = math.log(5 / 6)

    def of_the_first(self, k, **place):
        density = KNNDensity(k, **place).fit(self.SAMPLES)
        values = density.influence([[0.0, 0.0]]).values[:, 0]
        assert_same_bits(density.self_influence().values[:3], values[:3])
        return density, values

    def test_more_than_k(self):
        density, values = self.of_the_first(2)
        assert_allclose(values, self.ELSEWHERE, rtol=1e-14)
        assert density.score_samples([[0.0, 0.0]]) == [math.inf]

    @pytest.mark.parametrize("precision", ["float64", "float32"])
    def test_exactly_k(self, precision):
        density, values = self.of_the_first(3, precision=precision)
        assert (values[:3] == math.inf).all()
        assert_allclose(values[3:], self.ELSEWHERE, rtol=1e-6)
        assert density.score_samples([[0.0, 0.0]]) == [math.inf]

    def test_fewer_than_k(self):
        density, values = self.of_the_first(4)
        assert_allclose(values[:4], self.ELSEWHERE + 2 * math.log(2 / 1), rtol=1e-14)
        assert_allclose(values[4:], self.ELSEWHERE, rtol=1e-14)
        assert np.isfinite(density.score_samples([[0.0, 0.0]])).all()

    def test_infinite_scores_are_ranked(self):
        top = KNNDensity(3).fit(self.SAMPLES).influence([[0.0, 0.0]], top=4)
        assert top.highest.ids.tolist() == [[0, 1, 2, 3]]
        assert top.highest.values[0, :3].tolist() == [math.inf] * 3

    def test_nothing_but_copies(self):
        density = KNNDensity(2).fit(np.full((4000, 3), 0.1))
        assert_allclose(density.self_influence().values, math.log(3999 / 4000), rtol=1e-10)
        assert_allclose(density.influence([[0.1] * 3, [0.0] * 3]).values, math.log(3999 / 4000), rtol=1e-10)

    def test_points_that_differ_in_double_precision_alone_are_no_copies(self):
        samples = 1 + 1e-12 * np.arange(40.0)[:, None]
        for precision in ("float64", "float32"):
            assert_equals_refits(samples, samples[:9], 3, 1e-6, precision=precision)


class TestSmallFits:
    def test_one_sample(self):
        density = KNNDensity(1).fit([[3.0]])
        assert_allclose(density.score_samples([[5.0]]), math.log(1 / 4), rtol=1e-14)
        for ask in (lambda: density.influence([[5.0]]), density.self_influence):
            with pytest.raises(
                ValueError, match="`k` must be less than the 1 samples, as one of them is left"
            ):
                ask()

    def test_two_samples(self):
        values = KNNDensity(1).fit([[0.0], [3.0]]).influence([[1.0], [3.0]]).values
        assert_allclose(
            values[:, 0], [0.0, math.log(1 / 2)], rtol=1e-14, atol=1e-15
        )  # half of them, twice as far
        assert values[1, 1] == math.inf
        assert_allclose(values[0, 1], math.log(1 / 2), rtol=1e-14)

    def test_as_many_neighbours_as_samples(self):
        samples = normal(6, 2)
        density = KNNDensity(6).fit(samples)
        assert_close(density.score_samples(samples), reference.knn_log_densities(samples, samples, 6))
        with pytest.raises(
            ValueError, match=r"`k` must be less than the 6 samples, as one .* got 6\. Choose a smaller"
        ):
            density.influence(samples)
        with pytest.raises(ValueError, match="`k` must be less than the 6 samples"):
            density.self_influence()

    def test_more_neighbours_than_samples(self):
        with pytest.raises(ValueError, match="`k` must be at most the 6 samples, got 7"):
            KNNDensity(7).fit(normal(6, 2))

    def test_k_is_looked_at_again_when_it_was_changed(self):
        fitted = KNNDensity(2).fit(normal(6, 2)).set_params(k=3)
        assert fitted.influence([[0.0, 0.0]]).facts["k"] == 3
        fitted.set_params(k=9)
        for ask in (fitted.influence, fitted.score_samples):
            with pytest.raises(ValueError, match="`k` must be at most the 6 samples, got 9"):
                ask([[0.0, 0.0]])


def test_before_it_is_fitted():
    with pytest.raises(NotFittedError, match="This KNNDensity instance is not fitted yet"):
        KNNDensity(2).self_influence()


@pytest.mark.parametrize("k", [0, -1, 2.0, 2.5, True, "3", None])
def test_k_must_be_a_whole_number(k):
    with pytest.raises(ValueError, match=f"`k` must be a whole number of at least 1, got {k!r}"):
        KNNDensity().set_params(k=k).fit(normal(6, 2))


def test_k_of_numpy_is_a_whole_number():
    assert KNNDensity().set_params(k=np.int64(3)).fit(normal(6, 2)).self_influence().facts["k"] == 3


class TestInput:
    SAMPLES, QUERIES = normal(50, 4), normal(6, 4, seed=1)

    def test_single_precision_is_taken_as_it_is(self):
        samples, queries = self.SAMPLES.astype(np.float32), self.QUERIES.astype(np.float32)
        scores = KNNDensity(4).fit(samples).influence(queries)
        assert scores.values.dtype == np.float64
        exact = reference.knn_influence(samples.astype(float), queries.astype(float), 4)
        assert_close(scores.values, exact, 1e-10)

    @pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
    def test_tensors(self, dtype):
        samples, queries = (
            torch.tensor(x, dtype=dtype, requires_grad=True) for x in (self.SAMPLES, self.QUERIES)
        )
        ours = KNNDensity(4).fit(samples)
        theirs = KNNDensity(4).fit(samples.detach().numpy())
        assert_same_bits(ours.influence(queries).values, theirs.influence(queries.detach().numpy()).values)
        assert_same_bits(ours.self_influence().values, theirs.self_influence().values)

    def test_single_precision_by_name_rounds_the_scores_alone(self):
        exact, rounded = (KNNDensity(4, precision=p).fit(self.SAMPLES) for p in ("float64", "float32"))
        for verb in (
            lambda density: density.influence(self.QUERIES),
            lambda density: density.self_influence(),
        ):
            assert verb(rounded).values.dtype == np.float32
            assert_allclose(verb(rounded).values, verb(exact).values, rtol=1e-6)
        assert_same_bits(rounded.score_samples(self.QUERIES), exact.score_samples(self.QUERIES))

    @pytest.mark.parametrize(
        ("samples", "message"),
        [
            (np.full((9, 2), np.nan), "contains NaN"),
            (np.full((9, 2), np.inf), "contains infinity"),
            (np.zeros((0, 2)), "0 sample"),
            (np.zeros((9, 0)), "0 feature"),
            (np.zeros(9), "Expected 2D array, got 1D array"),
            (torch.zeros(9), "Expected 2D array, got 1D array"),
            (np.zeros((9, 2)) * 1j, "Complex data not supported"),
        ],
    )
    def test_samples_that_can_not_be_used(self, samples, message):
        with pytest.raises(ValueError, match=message):
            KNNDensity(2).fit(samples)

    def test_queries_of_other_columns_are_refused(self):
        with pytest.raises(ValueError, match="X has 3 features, but KNNDensity is expecting 4"):
            KNNDensity(2).fit(self.SAMPLES).influence(self.QUERIES[:, :3])

    def test_points_too_far_apart_are_refused(self):
        with pytest.raises(ValueError, match=r"must lie within 1.8e308 of each other"):
            KNNDensity(1).fit([[-1.5e308], [1.5e308]]).score_samples([[0.0]])


@pytest.mark.parametrize("precision", ["float64", "float32"])
@pytest.mark.parametrize("top", [1, 3, 5, 30, 49, 50])
@pytest.mark.parametrize("k", [1, 4, 30, 49])
def test_the_strongest_are_those_of_the_whole_matrix(k, top, precision):
    samples = TestTies.SAMPLES
    queries = np.concatenate([TestTies.QUERIES, normal(6, 2) + 10, samples[:4]])
    density = KNNDensity(k, precision=precision).fit(samples)
    whole, strongest = density.influence(queries), density.influence(queries, top=top)
    for verb in ("proponents", "opponents"):
        expected, found = getattr(whole, verb)(top), getattr(strongest, verb)(top)
        assert_same_bits(found.ids, expected.ids)
        assert_same_bits(found.values, expected.values)


@pytest.mark.parametrize("memory_budget", [1, 5000, "100 kB"])
def test_small_budgets_give_the_same(memory_budget):
    samples = np.concatenate([normal(700, 4), np.repeat(normal(30, 4, seed=2), 2, axis=0)])
    queries = with_samples(samples)
    whole, parts = (KNNDensity(5, memory_budget=budget).fit(samples) for budget in (None, memory_budget))
    assert_same_bits(parts.influence(queries).values, whole.influence(queries).values)
    assert_same_bits(parts.score_samples(queries), whole.score_samples(queries))
    own = whole.self_influence().values
    few = KNNDensity(5, memory_budget=memory_budget).fit(samples[:100])
    assert_same_bits(few.self_influence().values, KNNDensity(5).fit(samples[:100]).self_influence().values)
    assert_same_bits(np.diag(whole.influence(samples).values), own)
    strongest = parts.influence(queries, top=7)
    assert_same_bits(strongest.proponents(7).values, whole.influence(queries).proponents(7).values)


def test_the_order_of_the_samples_does_not_matter():
    samples = np.concatenate([normal(300, 4), np.repeat(normal(5, 4, seed=2), 6, axis=0)])
    queries = with_samples(samples)
    order = np.random.default_rng(2).permutation(len(samples))
    first, second = KNNDensity(5).fit(samples), KNNDensity(5).fit(samples[order])
    assert_same_bits(second.influence(queries).values, first.influence(queries).values[order])
    assert_same_bits(second.self_influence().values, first.self_influence().values[order])


def test_clusters_far_tighter_than_they_lie_apart():
    """Float64 products can't tell the members of one from each other."""
    centres = np.repeat(normal(6, 3), 50, axis=0)
    samples = centres + 1e-9 * normal(300, 3, seed=1)
    assert_equals_refits(samples, samples[::40] + 1e-10, 7)


def test_a_cluster_of_exactly_k_stands_out():
    """As the paper says: without a sample the next neighbour is in another cluster."""
    samples = np.concatenate([normal(25, 2), 20 + normal(10, 2, seed=1), -20 + normal(40, 2, seed=2)])
    own = KNNDensity(10).fit(samples).self_influence()
    assert set(own.proponents(10).ids.tolist()) == set(range(25, 35))


def test_facts_say_what_was_computed():
    scores = KNNDensity(3).fit(normal(9, 2)).self_influence()
    assert scores.method == "k-NN density"
    assert dict(scores.facts) == {"k": 3, "device": "cpu", "precision": "float64"}
