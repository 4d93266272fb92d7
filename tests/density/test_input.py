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
def test_scores_say_what_they_mean(estimator):
    estimator.fit(SAMPLES)
    assert repr(estimator.influence(SAMPLES[:2])).endswith("positive: with the sample the query is likelier")
    assert repr(estimator.influence(SAMPLES[:2], top=2)).endswith(
        "positive: with the sample the query is likelier"
    )
    assert repr(estimator.self_influence()).endswith(
        "high: without this very sample it would be much less likely"
    )


@pytest.mark.parametrize("top", [True])
def test_a_top_that_is_no_whole_number(top):
    with pytest.raises(ValueError, match=f"`top` must be a whole number, got {top!r}"):
        pp.density.KernelDensity().fit(SAMPLES).influence(SAMPLES, top=top)
