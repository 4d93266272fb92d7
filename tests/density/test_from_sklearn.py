import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.exceptions import NotFittedError
from sklearn.mixture import BayesianGaussianMixture
from sklearn.mixture import GaussianMixture as SklearnMixture
from sklearn.model_selection import GridSearchCV, RandomizedSearchCV
from sklearn.neighbors import KernelDensity as SklearnKernels
from sklearn.neighbors import NearestNeighbors
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from proponent.density import GaussianMixture, KernelDensity, KNNDensity, from_sklearn

GENERATOR = np.random.default_rng(0)
SAMPLES = np.concatenate([GENERATOR.normal(size=(30, 2)), GENERATOR.normal(size=(20, 2)) + 9.0])
QUERIES = GENERATOR.normal(size=(5, 2)) * 4


@pytest.mark.parametrize("weights", [None, np.arange(1.0, 51.0)])
@pytest.mark.parametrize("bandwidth", [0.7, "scott"])
def test_kernels_keep_their_density(weights, bandwidth):
    fitted = SklearnKernels(bandwidth=bandwidth).fit(SAMPLES, sample_weight=weights)
    taken = from_sklearn(fitted)
    assert isinstance(taken, KernelDensity)
    assert_allclose(taken.score_samples(QUERIES), fitted.score_samples(QUERIES), rtol=1e-10)
    ours = KernelDensity(bandwidth).fit(SAMPLES, sample_weight=weights)
    assert_allclose(taken.influence(QUERIES).values, ours.influence(QUERIES).values, rtol=1e-12)


@pytest.mark.parametrize("algorithm", ["kd_tree", "ball_tree", "brute"])
def test_neighbours_keep_their_k(algorithm):
    taken = from_sklearn(NearestNeighbors(n_neighbors=7, algorithm=algorithm).fit(SAMPLES), SAMPLES)
    assert isinstance(taken, KNNDensity)
    expected = KNNDensity(7).fit(SAMPLES)
    assert_allclose(taken.influence(QUERIES).values, expected.influence(QUERIES).values, rtol=1e-12)


@pytest.mark.parametrize("covariance_type", ["full", "tied", "diag", "spherical"])
def test_a_mixture_moves_to_the_optimum_nearby(covariance_type):
    fitted = SklearnMixture(2, covariance_type=covariance_type, random_state=0).fit(SAMPLES)
    taken = from_sklearn(fitted, SAMPLES)
    assert isinstance(taken, GaussianMixture)
    assert_allclose(taken.means_, fitted.means_, atol=1e-4)
    assert_allclose(taken.covariances_, fitted.covariances_, atol=1e-4)
    assert taken.gradient_norm_ < 1e-8


def test_the_place_is_handed_on():
    taken = from_sklearn(
        NearestNeighbors(n_neighbors=3).fit(SAMPLES), precision="float32", memory_budget="1MB"
    )
    assert taken.get_params() == {
        "k": 3,
        "device": None,
        "precision": "float32",
        "memory_budget": "1MB",
    }


@pytest.mark.parametrize(
    ("estimator", "samples", "error", "message"),
    [
        (
            SklearnKernels(kernel="tophat").fit(SAMPLES),
            None,
            ValueError,
            'kernel .* must be "gaussian", got "t',
        ),
        (
            SklearnKernels(metric="manhattan").fit(SAMPLES),
            None,
            ValueError,
            'metric .* must be "euclidean", got "manhattan"',
        ),
        (
            SklearnKernels(metric="minkowski", metric_params={"p": 3}).fit(SAMPLES),
            None,
            ValueError,
            "got \"minkowski\" with {'p': 3}",
        ),
        (
            NearestNeighbors(metric="cosine").fit(SAMPLES),
            None,
            ValueError,
            'metric .* must be "euclidean", got "cosine"',
        ),
        (
            SklearnKernels().fit(SAMPLES),
            SAMPLES[:9],
            ValueError,
            "`samples` must be those that `estimator` was fitted to, 50 of 2 features, but they differ",
        ),
        (SklearnMixture().fit(SAMPLES), None, ValueError, "it has not kept them. Hand them over"),
        (
            BayesianGaussianMixture().fit(SAMPLES),
            SAMPLES,
            TypeError,
            "must be scikit-learn's KernelDensity, NearestNeighbors or GaussianMixture, got Bayes",
        ),
        (SklearnKernels(), None, NotFittedError, "not fitted"),
        (NearestNeighbors(), None, NotFittedError, "not fitted"),
        (SklearnMixture(), SAMPLES, NotFittedError, "not fitted"),
        (
            NearestNeighbors().fit(sparse.csr_matrix(np.eye(9))),
            None,
            ValueError,
            "must hold dense samples, got a sparse matrix",
        ),
    ],
)
def test_what_can_not_be_taken_over(estimator, samples, error, message):
    with pytest.raises(error, match=message):
        from_sklearn(estimator, samples)


@pytest.mark.parametrize("covariance_type", ["full", "tied", "diag", "spherical"])
@pytest.mark.parametrize("columns", [2, 4])
def test_samples_of_a_mixture_must_have_its_features(covariance_type, columns):
    wide = np.column_stack([SAMPLES, SAMPLES[:, :1] ** 2])
    fitted = SklearnMixture(2, covariance_type=covariance_type, random_state=0).fit(wide)
    with pytest.raises(ValueError, match=f"`samples` must have 3 features, got {columns}"):
        from_sklearn(fitted, np.ones((50, columns)))


def test_samples_that_are_no_table_are_refused_as_by_fit():
    with pytest.raises(ValueError, match="Expected 2D array, got 1D array"):
        from_sklearn(SklearnMixture().fit(SAMPLES), SAMPLES[:, 0])


def test_a_pipeline_says_where_its_estimator_is():
    pipeline = make_pipeline(StandardScaler(), SklearnKernels(bandwidth=0.4)).fit(SAMPLES)
    with pytest.raises(TypeError, match=r"got Pipeline. Hand over its last step, `pipeline\[-1\]`"):
        from_sklearn(pipeline)
    taken = from_sklearn(pipeline[-1])
    assert_allclose(taken.score_samples(pipeline[:-1].transform(QUERIES)), pipeline.score_samples(QUERIES))


@pytest.mark.parametrize("search", [GridSearchCV, RandomizedSearchCV])
def test_a_search_says_where_its_estimator_is(search):
    options = {"n_iter": 2, "random_state": 0} if search is RandomizedSearchCV else {}
    found = search(SklearnKernels(), {"bandwidth": [0.3, 0.6]}, **options).fit(SAMPLES)
    with pytest.raises(TypeError, match=f"got {search.__name__}. Hand over what it found, its `best_estim"):
        from_sklearn(found)
    assert from_sklearn(found.best_estimator_).bandwidth == found.best_params_["bandwidth"]
