"""What every density estimator promises, on data that has ties, clusters and a far point."""

import pickle

import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import proponent as pp
from proponent.memory import for_tensors, measure_memory


def make_clusters(count=40, seed=0):
    generator = np.random.default_rng(seed)
    centres = np.array([[0.0, 0.0, 0.0], [12.0, 0.0, 0.0], [0.0, 12.0, 0.0]])
    labels = np.arange(count) % 3
    return centres[labels] + generator.normal(size=(count, 3)), labels


SAMPLES, LABELS = make_clusters()
QUERIES = np.concatenate([make_clusters(6, seed=1)[0], SAMPLES[:1], [[30.0, 30.0, 30.0]]])
ESTIMATORS = {
    "KDE": lambda **place: pp.density.KernelDensity(0.8, **place),
    "k-NN": lambda **place: pp.density.KNNDensity(4, **place),
    "spherical": lambda **place: pp.density.SphericalMixture(3, **place),
    "mixture": lambda **place: pp.density.GaussianMixture(3, **place),
}

every_estimator = pytest.mark.parametrize("make", ESTIMATORS.values(), ids=ESTIMATORS)


@every_estimator
def test_the_verbs_give_scores(make):
    estimator = make().fit(SAMPLES)
    scores, own = estimator.influence(QUERIES), estimator.self_influence()
    assert isinstance(scores, pp.Scores)
    assert scores.values.shape == (40, 8)
    assert own.values.shape == (40,)
    assert scores.unit == own.unit == "nats"
    assert scores.method == own.method != ""
    assert np.isfinite(scores.values).all()


@every_estimator
def test_self_influence_is_the_influence_on_oneself(make):
    estimator = make().fit(SAMPLES)
    assert_allclose(
        estimator.self_influence().values, np.diag(estimator.influence(SAMPLES).values), rtol=1e-9, atol=1e-12
    )


@every_estimator
def test_the_order_of_the_samples_does_not_matter(make):
    order = np.random.default_rng(3).permutation(40)
    first, second = make().fit(SAMPLES), make().fit(SAMPLES[order])
    assert_allclose(
        first.influence(QUERIES).values[order], second.influence(QUERIES).values, rtol=1e-6, atol=1e-9
    )
    assert_allclose(
        first.self_influence().values[order], second.self_influence().values, rtol=1e-6, atol=1e-9
    )


@every_estimator
def test_a_small_budget_gives_the_same_scores(make):
    whole, chunks = make().fit(SAMPLES), make(memory_budget=3000).fit(SAMPLES)
    assert_allclose(chunks.influence(QUERIES).values, whole.influence(QUERIES).values, rtol=1e-12, atol=1e-14)
    assert_allclose(chunks.self_influence().values, whole.self_influence().values, rtol=1e-12, atol=1e-14)
    assert_allclose(chunks.score_samples(QUERIES), whole.score_samples(QUERIES), rtol=1e-12)


@every_estimator
@pytest.mark.parametrize(("budget", "precision"), [(1 << 19, "float64"), (1 << 20, "float32")])
def test_memory_stays_within_the_budget(make, budget, precision):
    (samples, _), (queries, _) = make_clusters(1000), make_clusters(80, seed=1)
    estimator = make(memory_budget=budget, precision=precision).fit(samples)
    copies = 2 * 8 * (1000 + 80) * (3 + 2)  # in float64 and for products, which take two columns more
    asked = {
        lambda: estimator.influence(queries).values: 0,  # in an array
        lambda: estimator.influence(queries, top=5): 2 * 5 * 80 * 16,  # values and positions
        lambda: estimator.influence(queries, top=500): 2 * 500 * 80 * 16,
        lambda: estimator.self_influence().values: 1000 * 8,
    }
    for ask, result in asked.items():
        assert measure_memory(ask).peak <= for_tensors(budget, torch.device("cpu")) + copies + result


@every_estimator
@pytest.mark.parametrize("memory_budget", [None, 1000])
def test_the_strongest_are_those_of_the_whole_matrix(make, memory_budget):
    estimator = make(memory_budget=memory_budget).fit(SAMPLES)
    whole, top = estimator.influence(QUERIES), estimator.influence(QUERIES, top=3)
    assert isinstance(top, pp.TopScores)
    assert_allclose(top.proponents(3).values, whole.proponents(3).values, rtol=1e-12, atol=1e-14)
    assert_allclose(top.opponents(3).values, whole.opponents(3).values, rtol=1e-12, atol=1e-14)
    assert (top.proponents(1).ids == whole.proponents(1).ids).all()


@every_estimator
def test_ids_are_kept(make):
    estimator = make().fit(SAMPLES)
    ids = [f"sample {i}" for i in range(40)]
    scores = estimator.influence(QUERIES, ids=ids, query_ids=list("abcdefgh"))
    assert list(scores.ids) == ids
    assert list(scores.query_ids) == list("abcdefgh")
    assert list(estimator.self_influence(ids=ids).ids) == ids
    with pytest.raises(ValueError, match="`ids` must be 40 ids in one axis"):
        estimator.self_influence(ids=[1, 2])
    with pytest.raises(ValueError, match="`query_ids` must be different"):
        estimator.influence(QUERIES, query_ids=[0] * 8)


@every_estimator
def test_single_precision_is_near(make):
    exact, rounded = make().fit(SAMPLES), make(precision="float32").fit(SAMPLES)
    assert_allclose(rounded.influence(QUERIES).values, exact.influence(QUERIES).values, rtol=2e-3, atol=2e-5)
    assert_allclose(rounded.self_influence().values, exact.self_influence().values, rtol=2e-3, atol=2e-5)
    assert rounded.influence(QUERIES).facts["precision"] == "float32"


@every_estimator
def test_scores_can_be_saved(make, tmp_path):
    scores = make().fit(SAMPLES).influence(QUERIES)
    read = pp.Scores.load(scores.save(tmp_path / "scores.npy"))
    assert (read.values == scores.values).all()
    assert dict(read.facts) == dict(scores.facts)


@every_estimator
def test_estimators_can_be_cloned_and_pickled(make):
    fitted = make(memory_budget="1 MB").fit(SAMPLES)
    again = pickle.loads(pickle.dumps(fitted))
    assert_allclose(again.influence(QUERIES).values, fitted.influence(QUERIES).values, rtol=1e-12)
    assert clone(fitted).get_params()["memory_budget"] == "1 MB"


@every_estimator
@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"precision": "half"}, "`precision` must be one of float64, float32, got 'half'"),
        ({"memory_budget": "lots"}, "`memory_budget` must be a number of bytes"),
        ({"device": "gpu"}, '`device` must be such as "cpu" or "cuda", got .gpu.'),
        ({"device": "meta"}, '`device` must be such as "cpu" or "cuda", got "meta"'),
        ({"device": "cuda"}, '`device` is "cuda", but torch sees no GPU'),
    ],
)
def test_a_place_that_is_not_there(make, change, message):
    if change.get("device") == "cuda" and torch.cuda.is_available():
        pytest.skip("there is a GPU")
    with pytest.raises(ValueError, match=message):
        make(**change).fit(SAMPLES)


@every_estimator
def test_before_it_is_fitted(make):
    with pytest.raises(NotFittedError):
        make().influence(QUERIES)
    with pytest.raises(NotFittedError):
        make().self_influence()


@every_estimator
@pytest.mark.parametrize(
    ("queries", "message"),
    [
        (np.full((2, 3), np.nan), "contains NaN"),
        (np.full((2, 3), np.inf), "contains infinity"),
        (np.zeros((2, 4)), "X has 4 features, but .* is expecting 3 features"),
        (np.zeros((0, 3)), "0 sample"),
        (np.zeros(3), "Expected 2D array, got 1D array"),
        (np.zeros((2, 3, 1)), "Found array with dim 3"),
        ([["a", "b", "c"]], "could not convert string"),
    ],
)
def test_queries_that_can_not_be_used(make, queries, message):
    estimator = make().fit(SAMPLES)
    for ask in (estimator.influence, estimator.score_samples):
        with pytest.raises(ValueError, match=message):
            ask(queries)


@every_estimator
@pytest.mark.parametrize("top", [0, 41])
def test_a_top_that_is_not_there(make, top):
    with pytest.raises(ValueError, match=f"`top` must be between 1 and the 40 samples, got {top}"):
        make().fit(SAMPLES).influence(QUERIES, top=top)


@pytest.mark.parametrize("estimator", [pp.density.KernelDensity(), pp.density.KNNDensity(1)])
def test_where_nothing_would_be_left(estimator):
    estimator.fit(SAMPLES[:1])
    assert estimator.score_samples(QUERIES).shape == (8,)
    for ask in (estimator.self_influence, lambda: estimator.influence(QUERIES)):
        with pytest.raises(ValueError, match=r"at least 2 samples|less than the 1 samples, as one"):
            ask()


@pytest.mark.parametrize(
    ("estimator", "message"),
    [
        (pp.density.KNNDensity(4), "`k` must be at most the 1 samples, got 4"),
        (pp.density.SphericalMixture(), "cluster 0 has 1 sample"),
        (pp.density.SphericalMixture(3), "`n_clusters` must be at most the 1 samples, got 3"),
        (pp.density.GaussianMixture(), "must have at least 2 samples for a mixture, got 1 sample"),
    ],
)
def test_where_one_sample_is_no_estimate(estimator, message):
    with pytest.raises(ValueError, match=message):
        estimator.fit(SAMPLES[:1])
