import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.exceptions import NotFittedError
from sklearn.mixture import BayesianGaussianMixture
from sklearn.mixture import GaussianMixture as SklearnMixture
from sklearn.neighbors import KernelDensity as SklearnKernels
from sklearn.neighbors import NearestNeighbors

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
