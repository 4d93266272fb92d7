"""Refits of a mixture without one sample each, beside its influence."""

import json
import re

import mixture_reference as reference
import numpy as np
import pytest

from asserts import assert_close
from proponent.density import GaussianMixture

SAMPLES = reference.make_components(90)


QUERIES = np.concatenate([reference.make_components(9), [[30.0, -20.0]]])


# One sample decides where the left component lies.
TORN = np.array([-1.1, -1.1, -0.9, -0.6, -0.3, -0.2, 0.4, 1.2, 3.2, 3.5, 3.9, 4.0, 5.7, 5.7])[:, None]


@pytest.mark.parametrize("covariance_type", reference.TYPES)
def test_influence_correlates_with_refits(covariance_type):
    samples = reference.make_components(400, apart=6.0)
    mixture = GaussianMixture(3, covariance_type=covariance_type).fit(samples)
    linear = mixture.influence(QUERIES).values[:60]
    refitted = mixture.leave_one_out(QUERIES, np.arange(60), progress=False)
    assert np.corrcoef(linear.ravel(), refitted.values.ravel())[0, 1] > 0.999
    assert refitted.facts["not_converged"] == refitted.facts["jumped"] == refitted.facts["collapsed"] == []
    assert refitted.facts["refit_gradient_norm"] <= 1e-10


def test_the_optimum_may_jump():
    mixture = GaussianMixture(2).fit(TORN)
    refits = mixture.leave_one_out([[0.0]])
    assert refits.facts["jumped"] == [6]
    assert refits.facts["not_converged"] == refits.facts["collapsed"] == []
    rest = np.delete(np.arange(14), 6)
    linear = mixture.influence([[0.0]]).values
    assert refits.values[6, 0] > 10 * linear[6, 0]
    assert np.abs(refits.values - linear)[rest].max() < 0.2
    without = GaussianMixture(2, **reference.start_of(mixture)).fit(TORN[rest])
    back = GaussianMixture(2, **reference.start_of(without)).fit(TORN)
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
