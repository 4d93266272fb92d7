import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from proponent.evaluation import detect, detection_curve


def make_ranking(n=200, ties=False):
    generator = np.random.default_rng(0)
    values = generator.normal(size=n)
    return (values.round() if ties else values), generator.random(n) < 0.2 + 0.2 * (values > 0)


@pytest.mark.parametrize("ties", [False, True])
def test_roc_area_agrees_with_scikit_learn(ties):
    values, foreign = make_ranking(ties=ties)
    assert detect(values, foreign).roc_area == pytest.approx(roc_auc_score(foreign, values), abs=1e-12)


def test_curve_area_is_one_minus_the_mean_rank_over_n():
    values, foreign = make_ranking()
    ranks = np.argsort(np.argsort(-values))
    assert detect(values, foreign).curve_area == pytest.approx(
        1 - ranks[foreign].mean() / len(values), abs=1e-12
    )


@pytest.mark.parametrize(("others", "maximum"), [(60_000, 0.9918), (50_000, 0.9902)])
def test_maximum_is_that_of_the_notes_and_is_reached(others, maximum):
    foreign = np.arange(others + 1000) < 1000
    found = detect(-np.arange(others + 1000.0), foreign)
    assert found.curve_area_maximum == pytest.approx(maximum, abs=5e-5)
    assert found.curve_area == pytest.approx(found.curve_area_maximum, abs=1e-12)
    assert found.roc_area == pytest.approx(1, abs=1e-12)
    assert found.precision == 1


@pytest.mark.parametrize(("area", "roc"), [(0.858, 0.864), (0.887, 0.893)])
def test_paper_areas_translate_to_roc_areas(area, roc):
    # A ranking of 61,000 whose 1,000 foreign samples have the mean rank that the paper's number says.
    n, m = 61_000, 1000
    ranks = np.round((1 - area) * n + np.arange(m) - (m - 1) / 2).astype(int)
    foreign = np.zeros(n, bool)
    foreign[ranks] = True
    found = detect(-np.arange(float(n)), foreign)
    assert found.curve_area == pytest.approx(area, abs=1e-4)
    assert found.roc_area == pytest.approx(roc, abs=5e-4)


def test_ties_are_shared_whatever_the_order():
    foreign = np.array([True, False, False, True])
    for order in ([0, 1, 2, 3], [3, 2, 1, 0], [1, 2, 0, 3]):
        found = detect(np.ones(4), foreign[order])
        assert (found.roc_area, found.found, found.precision) == (0.5, 1.0, 0.5)


def test_measures_only_depend_on_the_order_of_the_scores():
    values, foreign = make_ranking()
    assert detect(values, foreign) == detect(np.exp(3 * values), foreign)


def test_infinite_scores_have_ranks():
    assert detect([np.inf, 0.0, -np.inf], [True, False, False]).roc_area == 1


@pytest.mark.parametrize("sign", [1, -1])
def test_infinite_scores_tie_as_others_do(sign):
    infinite = sign * np.array([np.inf, np.inf, 2.0, 1.0, 0.0])
    foreign = np.array([True, False, True, False, False])
    assert detect(infinite, foreign) == detect(np.clip(infinite, -1e300, 1e300), foreign)
    assert detect(infinite, foreign).roc_area == pytest.approx(0.75 if sign > 0 else 0.25)


def test_curve_starts_at_none_and_ends_at_all():
    values, foreign = make_ranking(ties=True)
    curve = detection_curve(values, foreign)
    assert (curve[0], curve[-1]) == (0, foreign.sum())
    assert (np.diff(curve) >= 0).all()


def test_foreign_must_be_boolean():
    with pytest.raises(TypeError, match="`foreign` must be true or false for each sample, got dtype int64"):
        detect([1.0, 2.0], [0, 1])


def test_shapes_must_agree():
    with pytest.raises(ValueError, match=r"must both be \[n\], got shapes \(2,\) and \(1,\)"):
        detect([1.0, 2.0], [True])


def test_nan_is_refused():
    with pytest.raises(ValueError, match="1 of 2 are NaN"):
        detect([1.0, np.nan], [True, False])


@pytest.mark.parametrize("marked", [True, False])
def test_all_or_none_foreign_is_refused(marked):
    with pytest.raises(ValueError, match="must mark some samples and leave others"):
        detect([1.0, 2.0], [marked, marked])
