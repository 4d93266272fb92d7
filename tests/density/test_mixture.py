import json
import re

import mixture_reference as reference
import numpy as np
import pytest
import sklearn.mixture
import torch
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from asserts import assert_close
from proponent.density._mixture import GaussianMixture

SAMPLES = reference.make_components(90)
QUERIES = np.concatenate([reference.make_components(9), [[30.0, -20.0]]])
# One sample decides where the left component lies.
TORN = np.array([-1.1, -1.1, -0.9, -0.6, -0.3, -0.2, 0.4, 1.2, 3.2, 3.5, 3.9, 4.0, 5.7, 5.7])[:, None]


def truth(mixture, samples, queries):
    """The implicit influence by autograd, at the parameters of a fitted mixture."""
    K, d = mixture.means_.shape
    covariances = reference.dense(mixture.covariances_, mixture.covariance_type, K, d)
    return reference.influence(
        samples, queries, mixture.weights_, mixture.means_, covariances, mixture.covariance_type
    )


def start_of(mixture):
    """Where a fitted mixture lies, as a start."""
    return {
        "weights_init": mixture.weights_,
        "means_init": mixture.means_,
        "precisions_init": np.linalg.inv(mixture.covariances_),
    }


@pytest.mark.parametrize("dimension", [1, 2, 3])
@pytest.mark.parametrize("covariance_type", reference.TYPES)
def test_influence_is_that_of_autograd_in_any_parametrisation(covariance_type, dimension):
    samples = reference.make_components(80, dimension, components=2, seed=1)
    queries = reference.make_components(11, dimension, components=2, seed=2)
    mixture = GaussianMixture(2, covariance_type=covariance_type, tol=1e-13).fit(samples)
    assert_close(mixture.influence(queries), truth(mixture, samples, queries), 1e-8)
    assert_close(mixture.self_influence(), np.diag(truth(mixture, samples, samples)), 1e-8)


@pytest.mark.parametrize("covariance_type", reference.TYPES)
def test_influence_correlates_with_refits(covariance_type):
    samples = reference.make_components(400, apart=6.0)
    mixture = GaussianMixture(3, covariance_type=covariance_type).fit(samples)
    linear = mixture.influence(QUERIES).values[:60]
    refitted = mixture.leave_one_out(QUERIES, np.arange(60), progress=False)
    assert np.corrcoef(linear.ravel(), refitted.values.ravel())[0, 1] > 0.999
    assert refitted.facts["not_converged"] == refitted.facts["jumped"] == refitted.facts["collapsed"] == []
    assert refitted.facts["refit_gradient_norm"] <= 1e-10


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


@pytest.mark.parametrize("covariance_type", reference.TYPES)
def test_it_fits_as_scikit_learn_does(covariance_type):
    options = {"covariance_type": covariance_type, "random_state": 0}
    theirs = sklearn.mixture.GaussianMixture(3, reg_covar=0, tol=1e-15, max_iter=2000, **options).fit(SAMPLES)
    ours = GaussianMixture(3, **options).fit(SAMPLES)
    assert ours.covariances_.shape == theirs.covariances_.shape
    assert_allclose(ours.score_samples(QUERIES), theirs.score_samples(QUERIES), rtol=1e-5)
    assert ours.score(QUERIES) == pytest.approx(ours.score_samples(QUERIES).mean())
    assert ours.lower_bound_ == pytest.approx(theirs.lower_bound_, abs=1e-12)
    assert ours.lower_bound_ == pytest.approx(ours.score(SAMPLES))
    assert ours.converged_
    assert ours.gradient_norm_ <= 1e-10
    assert ours.weights_.sum() == pytest.approx(1)


@pytest.mark.parametrize("covariance_type", reference.TYPES)
def test_it_goes_on_from_what_is_given(covariance_type):
    theirs = sklearn.mixture.GaussianMixture(3, covariance_type=covariance_type, random_state=0).fit(SAMPLES)
    ours = GaussianMixture(
        3,
        covariance_type=covariance_type,
        weights_init=theirs.weights_,
        means_init=theirs.means_,
        precisions_init=theirs.precisions_,
    ).fit(SAMPLES)
    changes = ours.score_samples(SAMPLES) - theirs.score_samples(SAMPLES)
    assert ours.moved_ == pytest.approx((changes**2).mean() ** 0.5)
    assert ours.moved_ == ours.influence(QUERIES).facts["moved"]
    assert 0 < ours.moved_ < 0.5


def test_it_stays_where_it_ended():
    ours = GaussianMixture(3).fit(SAMPLES)
    again = clone(ours).set_params(**start_of(ours)).fit(SAMPLES)
    assert_close(again.influence(QUERIES), ours.influence(QUERIES), 1e-7)


def test_one_or_two_of_the_starting_values_are_scikit_learns():
    centres = SAMPLES[:3] + 0.1
    theirs = sklearn.mixture.GaussianMixture(3, means_init=centres, random_state=0, tol=1e-10, max_iter=2000)
    ours = GaussianMixture(3, means_init=centres).fit(SAMPLES)
    assert_allclose(ours.score_samples(QUERIES), theirs.fit(SAMPLES).score_samples(QUERIES), rtol=1e-3)


def test_the_order_of_components_does_not_matter():
    mixture = GaussianMixture(3, **start_of(GaussianMixture(3).fit(SAMPLES))).fit(SAMPLES)
    turned = {name: value[::-1] for name, value in start_of(mixture).items()}
    again = clone(mixture).set_params(**turned).fit(SAMPLES)
    assert_close(again.weights_, mixture.weights_[::-1], 1e-9)
    assert_close(again.influence(QUERIES), mixture.influence(QUERIES), 1e-9)
    assert_close(again.leave_one_out(QUERIES, [4, 8]), mixture.leave_one_out(QUERIES, [4, 8]), 1e-6)


def test_the_order_of_samples_does_not_matter():
    mixture = GaussianMixture(3, **start_of(GaussianMixture(3).fit(SAMPLES))).fit(SAMPLES)
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
    start = start_of(GaussianMixture(3).fit(SAMPLES))
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
    mixture = GaussianMixture(3, **start_of(GaussianMixture(3).fit(SAMPLES))).fit(SAMPLES)
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


def test_the_optimum_may_jump():
    mixture = GaussianMixture(2).fit(TORN)
    refits = mixture.leave_one_out([[0.0]])
    assert refits.facts["jumped"] == [6]
    assert refits.facts["not_converged"] == refits.facts["collapsed"] == []
    rest = np.delete(np.arange(14), 6)
    linear = mixture.influence([[0.0]]).values
    assert refits.values[6, 0] > 10 * linear[6, 0]
    assert np.abs(refits.values - linear)[rest].max() < 0.2
    without = GaussianMixture(2, **start_of(mixture)).fit(TORN[rest])
    back = GaussianMixture(2, **start_of(without)).fit(TORN)
    assert back.lower_bound_ != pytest.approx(mixture.lower_bound_, abs=1e-3)


def test_refits_name_their_samples():
    mixture = GaussianMixture(3).fit(SAMPLES)
    scores = mixture.leave_one_out(QUERIES, [7, 3])
    assert scores.ids.tolist() == [7, 3]
    assert scores.method == "Gaussian mixture, refitted"
    assert scores.facts["refits"] == 2
    json.dumps(dict(scores.facts))
    json.dumps(dict(mixture.influence(QUERIES).facts))
    whole = mixture.leave_one_out(QUERIES)
    assert whole.values.shape == (90, 10)
    assert_close(whole.values[[7, 3]], scores.values, 1e-6)


@pytest.mark.parametrize(
    ("samples", "message"),
    [
        ([], "must be positions in one axis, at least one, got an array of shape (0,)"),
        ([[1]], "must be positions in one axis, at least one, got an array of shape (1, 1)"),
        ([0.5], "and type float64"),
        ([True], "and type bool"),
        ([90], "`samples` must be between 0 and 89, got 90 to 90"),
        ([-1, 2], "`samples` must be between 0 and 89, got -1 to 2"),
        ([2, 2], "`samples` must be different, but one occurs twice"),
    ],
)
def test_positions_that_are_not_there(samples, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        GaussianMixture(3).fit(SAMPLES).leave_one_out(QUERIES, samples)


def test_a_fit_that_does_not_converge_warns_and_has_no_influence():
    mixture = GaussianMixture(3, max_iter=1)
    with pytest.warns(
        ConvergenceWarning, match="EM did not converge within `max_iter`=1 steps: the gradient's"
    ):
        mixture.fit(SAMPLES)
    assert not mixture.converged_
    assert np.isfinite(mixture.score_samples(QUERIES)).all()
    for ask in (
        mixture.self_influence,
        lambda: mixture.influence(QUERIES),
        lambda: mixture.leave_one_out(QUERIES),
    ):
        with pytest.raises(
            ValueError, match="must be at a maximum of the likelihood for its influence, but the"
        ):
            ask()


def test_components_that_are_the_same_have_no_influence():
    start = {"weights_init": [0.5, 0.5], "means_init": np.zeros((2, 2)), "precisions_init": [np.eye(2)] * 2}
    mixture = GaussianMixture(2, **start).fit(SAMPLES)
    with pytest.raises(ValueError, match="must be at a strict maximum of the likelihood"):
        mixture.influence(QUERIES)


EYES = np.stack([np.eye(2)] * 3)


@pytest.mark.parametrize(
    ("change", "samples", "message"),
    [
        (
            {"covariance_type": "round"},
            SAMPLES,
            "`covariance_type` must be one of full, tied, diag, spherical",
        ),
        ({"n_components": 0}, SAMPLES, "`n_components` must be a whole number of at least 1, got 0"),
        ({"n_components": True}, SAMPLES, "`n_components` must be a whole number of at least 1, got True"),
        ({"n_components": 91}, SAMPLES, "`n_components` must be at most the 90 samples, got 91"),
        ({"tol": 0}, SAMPLES, "`tol` must be a number above 0, got 0"),
        ({"max_iter": 0}, SAMPLES, "`max_iter` must be a whole number of at least 1, got 0"),
        ({"init_params": "guess"}, SAMPLES, "scikit-learn finds none: The 'init_params' parameter"),
        ({}, SAMPLES[:1], "`X` must have at least 2 samples for a mixture, got 1 sample"),
        ({}, np.full((5, 2), np.nan), "contains NaN"),
        ({}, np.zeros((0, 2)), "0 sample"),
        (
            {"n_components": 1},
            np.eye(3)[:2],
            'must have more samples than features for `covariance_type="full"',
        ),
        ({"n_components": 1}, np.eye(4)[:, :2] * [1, 0], "feature 1 is constant. Drop it"),
        ({"covariance_type": "diag"}, SAMPLES * [0, 1], "but feature 0 is constant. Drop it"),
        ({"covariance_type": "diag"}, SAMPLES * 0, "but 2 features are constant: 0, 1. Drop them"),
        (
            {"covariance_type": "spherical"},
            SAMPLES * 0,
            "must have samples that differ, but all 90 are the same",
        ),
        ({"covariance_type": "tied"}, SAMPLES[:, [0, 1, 0]], "must have linearly independent features"),
        ({}, np.concatenate([SAMPLES, np.full((40, 2), 50.0)]), "has collapsed: its covariance is singular"),
        ({"means_init": np.zeros((2, 2))}, SAMPLES, "scikit-learn finds none: The parameter 'means'"),
        (
            {"weights_init": [0.5, 0.6, 0.1], "means_init": EYES[0], "precisions_init": EYES},
            SAMPLES,
            "`weights_init` must be 3 positive numbers that sum to 1, got [0.5, 0.6, 0.1]",
        ),
        (
            {"weights_init": [0.5, 0.4, 0.1], "means_init": EYES[0], "precisions_init": EYES},
            SAMPLES,
            "`means_init` must be finite numbers of the shape (3, 2), got numbers of the shape (2, 2)",
        ),
        (
            {"weights_init": [0.5, 0.4, 0.1], "means_init": EYES[:, 0], "precisions_init": EYES[0]},
            SAMPLES,
            '`precisions_init` must have the shape (3, 2, 2) for `covariance_type="full"`, got (2, 2)',
        ),
        (
            {"weights_init": [0.5, 0.4, 0.1], "means_init": EYES[:, 0], "precisions_init": -EYES},
            SAMPLES,
            "`precisions_init` must be positive definite, but at least one of them is not",
        ),
    ],
)
def test_what_can_not_be_fitted(change, samples, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        GaussianMixture(**{"n_components": 3, **change}).fit(samples)


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
