"""The first orders of the spherical mixture: as they are written, and how far they are off."""

import math

import density_reference as reference
import numpy as np
import pytest
from spherical_cases import FORMS, make_data, make_queries

from asserts import assert_close
from proponent.density import SphericalMixture


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


def test_an_unknown_form_is_refused():
    with pytest.raises(ValueError, match="`form` must be one of exact, expansion, paper, got 'first'"):
        SphericalMixture(form="first").fit([[0.0], [1.0]])
    fitted = SphericalMixture().fit([[0.0], [1.0]]).set_params(form="second")
    with pytest.raises(ValueError, match="got 'second'"):
        fitted.influence([[0.0]])
