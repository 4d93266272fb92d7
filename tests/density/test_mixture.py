"""The influence of a mixture against autograd and closed forms, wherever the data lie."""

import mixture_reference as reference
import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose
from sklearn.base import clone

from asserts import assert_close
from proponent.density import GaussianMixture

SAMPLES = reference.make_components(90)


QUERIES = np.concatenate([reference.make_components(9), [[30.0, -20.0]]])


def truth(mixture, samples, queries):
    """The implicit influence by autograd, at the parameters of a fitted mixture."""
    K, d = mixture.means_.shape
    covariances = reference.dense(mixture.covariances_, mixture.covariance_type, K, d)
    return reference.influence(
        samples, queries, mixture.weights_, mixture.means_, covariances, mixture.covariance_type
    )


@pytest.mark.parametrize("dimension", [1, 2, 3])
@pytest.mark.parametrize("covariance_type", reference.TYPES)
def test_influence_is_that_of_autograd_in_any_parametrisation(covariance_type, dimension):
    samples = reference.make_components(80, dimension, components=2, seed=1)
    queries = reference.make_components(11, dimension, components=2, seed=2)
    mixture = GaussianMixture(2, covariance_type=covariance_type, tol=1e-13).fit(samples)
    assert_close(mixture.influence(queries), truth(mixture, samples, queries), 1e-8)
    assert_close(mixture.self_influence(), np.diag(truth(mixture, samples, samples)), 1e-8)


@pytest.mark.parametrize("covariance_type", reference.TYPES)
def test_one_component_has_a_closed_form(covariance_type):
    samples, queries = SAMPLES, QUERIES
    mixture = GaussianMixture(covariance_type=covariance_type).fit(samples)
    covariance = reference.dense(mixture.covariances_, covariance_type, 1, 2)[0]
    root = np.linalg.cholesky(covariance)
    x, z = (np.linalg.solve(root, (points - samples.mean(0)).T).T for points in (samples, queries))
    lengths = (x**2).sum(1)[:, None], (z**2).sum(1)
    second = {
        "diag": lambda: (x**2 - 1) @ (z**2 - 1).T / 2,
        "spherical": lambda: (lengths[0] - 2) * (lengths[1] - 2) / 4,
    }.get(covariance_type, lambda: ((x @ z.T) ** 2 - lengths[0] - lengths[1] + 2) / 2)()
    expected = (x @ z.T + second) / len(samples)
    assert_allclose(mixture.means_[0], samples.mean(0))
    assert_close(mixture.influence(queries), expected)
    assert_close(truth(mixture, samples, queries), expected, 1e-8)
    own = mixture.influence(samples).values.diagonal()
    assert_close(mixture.self_influence(), own)


def test_in_one_dimension_three_types_are_one():
    samples, queries = SAMPLES[:, 1:], QUERIES[:, 1:]
    full, diagonal, spherical = (
        GaussianMixture(2, covariance_type=name).fit(samples) for name in ("full", "diag", "spherical")
    )
    assert full.covariances_.shape == (2, 1, 1)
    assert diagonal.covariances_.shape == (2, 1)
    assert spherical.covariances_.shape == (2,)
    for other in (diagonal, spherical):
        assert_close(other.influence(queries), full.influence(queries), 1e-7)
        assert_close(other.leave_one_out(queries, [1, 5]), full.leave_one_out(queries, [1, 5]), 1e-7)
        assert_close(other.score_samples(queries), full.score_samples(queries))


def test_the_order_of_components_does_not_matter():
    mixture = GaussianMixture(3, **reference.start_of(GaussianMixture(3).fit(SAMPLES))).fit(SAMPLES)
    turned = {name: value[::-1] for name, value in reference.start_of(mixture).items()}
    again = clone(mixture).set_params(**turned).fit(SAMPLES)
    assert_close(again.weights_, mixture.weights_[::-1], 1e-9)
    assert_close(again.influence(QUERIES), mixture.influence(QUERIES), 1e-9)
    assert_close(again.leave_one_out(QUERIES, [4, 8]), mixture.leave_one_out(QUERIES, [4, 8]), 1e-6)


def test_the_order_of_samples_does_not_matter():
    mixture = GaussianMixture(3, **reference.start_of(GaussianMixture(3).fit(SAMPLES))).fit(SAMPLES)
    order = np.random.default_rng(0).permutation(len(SAMPLES))
    again = clone(mixture).fit(SAMPLES[order])
    assert_close(again.influence(QUERIES), mixture.influence(QUERIES).values[order], 1e-8)
    assert_close(again.self_influence(), mixture.self_influence().values[order], 1e-8)


@pytest.mark.parametrize("covariance_type", ["full", "tied", "spherical"])
def test_the_place_of_the_origin_does_not_matter(covariance_type):
    samples, queries = (np.round(points * 2**20) / 2**20 for points in (SAMPLES, QUERIES))
    near = GaussianMixture(3, covariance_type=covariance_type, tol=1e-12).fit(samples)
    far = clone(near).fit(samples + 1e6)
    assert_close(far.influence(queries + 1e6), near.influence(queries), 1e-8)
    single = clone(near).set_params(precision="float32").fit(samples + 1e6)
    assert single.influence(queries + 1e6).values.dtype == np.float32
    assert_close(single.influence(queries + 1e6), near.influence(queries), 1e-4)


@pytest.mark.parametrize("covariance_type", ["full", "tied", "diag"])
def test_the_scales_of_features_do_not_matter(covariance_type):
    start = reference.start_of(GaussianMixture(3).fit(SAMPLES))
    if covariance_type != "full":
        start.pop("precisions_init")
    scales = np.array([1e-4, 1e3])
    scaled = dict(start, means_init=start["means_init"] * scales)
    if "precisions_init" in start:
        scaled["precisions_init"] = start["precisions_init"] / scales[:, None] / scales
    plain = GaussianMixture(3, covariance_type=covariance_type, tol=1e-12, **start).fit(SAMPLES)
    other = clone(plain).set_params(**scaled).fit(SAMPLES * scales)
    assert other.lower_bound_ == pytest.approx(plain.lower_bound_ - np.log(scales).sum(), rel=1e-9)
    assert_close(other.influence(QUERIES * scales), plain.influence(QUERIES), 1e-6)


def test_copies_of_samples_share_their_influence():
    mixture = GaussianMixture(3, **reference.start_of(GaussianMixture(3).fit(SAMPLES))).fit(SAMPLES)
    twice = clone(mixture).fit(np.concatenate([SAMPLES, SAMPLES]))
    once = mixture.influence(QUERIES).values / 2
    assert_close(twice.influence(QUERIES), np.concatenate([once, once]), 1e-8)


def test_samples_in_single_precision_are_taken():
    mixture = GaussianMixture(3).fit(torch.as_tensor(SAMPLES, dtype=torch.float32))
    assert_close(mixture.influence(QUERIES), GaussianMixture(3).fit(SAMPLES).influence(QUERIES), 1e-3)


@pytest.mark.parametrize("covariance_type", reference.TYPES)
@pytest.mark.parametrize("components", [1, 3])
def test_a_small_budget_gives_the_same(covariance_type, components):
    whole = GaussianMixture(components, covariance_type=covariance_type, tol=1e-13).fit(SAMPLES)
    small = clone(whole).set_params(memory_budget=5000).fit(SAMPLES)
    assert_close(small.influence(QUERIES), whole.influence(QUERIES), 1e-8)
    assert_close(small.self_influence(), whole.self_influence(), 1e-8)
    assert_close(small.score_samples(QUERIES), whole.score_samples(QUERIES))


def test_a_query_far_out_is_scored_in_logarithms():
    mixture = GaussianMixture(3).fit(SAMPLES)
    far = np.array([[1e5, 1e5]])
    assert mixture.score_samples(far)[0] < -1e8
    assert_close(mixture.influence(far), truth(mixture, SAMPLES, far), 1e-6)
    for count, precision, place in ((3, "float64", 1e200), (1, "float64", 1e200), (3, "float32", 1e30)):
        mixture = GaussianMixture(count, precision=precision).fit(SAMPLES)
        with pytest.raises(ValueError, match=f"square of the distance can be held in {precision}, but one"):
            mixture.influence([[place, 0.0]])


def test_a_thousand_features():
    samples = np.random.default_rng(0).normal(size=(60, 1000)) + 9 * (np.arange(60) % 2)[:, None]
    for covariance_type in ("diag", "spherical"):
        mixture = GaussianMixture(1, covariance_type=covariance_type).fit(samples)
        assert_close(mixture.influence(samples[:2]), truth_of_one(samples, covariance_type)[:, :2], 1e-9)
    mixture = GaussianMixture(2, covariance_type="spherical").fit(samples)
    own = truth_of_one(samples[::2], "spherical") + (1 / 0.5 - 1) / 60  # and what it does to the weights
    assert_close(mixture.influence(samples).values[::2, ::2], own, 1e-9)


def truth_of_one(samples, covariance_type):
    """The closed form for one component."""
    d = samples.shape[1]
    variances = samples.var(0) if covariance_type == "diag" else samples.var(0).mean()
    y = (samples - samples.mean(0)) / np.sqrt(variances)
    if covariance_type == "diag":
        return (y @ y.T + (y**2 - 1) @ (y**2 - 1).T / 2) / len(samples)
    lengths = (y**2).sum(1) - d
    return (y @ y.T + np.outer(lengths, lengths) / (2 * d)) / len(samples)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU")
@pytest.mark.parametrize("covariance_type", reference.TYPES)
def test_a_gpu_gives_the_same(covariance_type):
    mixture = GaussianMixture(3, covariance_type=covariance_type, tol=1e-13).fit(SAMPLES)
    other = clone(mixture).set_params(device="cuda").fit(SAMPLES)
    assert_close(other.score_samples(QUERIES), mixture.score_samples(QUERIES))
    assert_close(other.influence(QUERIES), mixture.influence(QUERIES), 1e-8)
    assert_close(other.self_influence(), mixture.self_influence(), 1e-8)
    assert_close(other.leave_one_out(QUERIES), mixture.leave_one_out(QUERIES), 1e-6)
    assert_close(other.set_params(device=None).influence(QUERIES), mixture.influence(QUERIES), 1e-8)
