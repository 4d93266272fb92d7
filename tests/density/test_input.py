import numpy as np
import pytest

import proponent as pp

SAMPLES = np.random.default_rng(0).normal(size=(60, 3))
ESTIMATORS = [
    pp.density.KernelDensity(0.5),
    pp.density.KNNDensity(5),
    pp.density.SphericalMixture(),
    pp.density.GaussianMixture(),
]
every_estimator = pytest.mark.parametrize("estimator", ESTIMATORS, ids=repr)


@every_estimator
def test_numbers_whose_squares_overflow(estimator):
    with pytest.raises(
        ValueError, match=r"must hold numbers up to 1e\+150, as distances are squared, but one is 1e"
    ):
        estimator.fit(np.concatenate([SAMPLES, np.full((1, 3), 1e200)]))
    estimator.fit(SAMPLES)
    for ask in (estimator.influence, estimator.score_samples):
        with pytest.raises(ValueError, match="Scale the features, or leave the point out"):
            ask(np.full((1, 3), -1e160))


@every_estimator
def test_queries_from_which_samples_can_not_be_told_apart(estimator):
    estimator.fit(SAMPLES)
    with pytest.raises(ValueError, match="can't tell samples apart from farther out, but query 1 lies"):
        estimator.influence([[0.0, 0.0, 0.0], [0.0, 1e17, 0.0]])
    assert np.isfinite(estimator.influence([[0.0, 1e8, 0.0]]).values).all()


@pytest.mark.parametrize("estimator", ESTIMATORS[:2], ids=["KDE", "k-NN"])
def test_equal_samples_are_alike_from_anywhere(estimator):
    scores = estimator.fit(np.ones((6, 3))).influence([[1e30, 0.0, 0.0]])
    assert np.ptp(scores.values) == 0


@every_estimator
def test_scores_say_what_they_mean(estimator):
    estimator.fit(SAMPLES)
    assert repr(estimator.influence(SAMPLES[:2])).endswith("positive: with the sample the query is likelier")
    assert repr(estimator.influence(SAMPLES[:2], top=2)).endswith(
        "positive: with the sample the query is likelier"
    )
    assert repr(estimator.self_influence()).endswith(
        "high: without this very sample it would be much less likely"
    )
