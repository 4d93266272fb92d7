"""What is left: exact where it can be computed by hand, and true as often as it says."""

import itertools

import numpy as np
import pytest
from scipy.stats import beta, binom

from proponent.review._control import Draws
from proponent.review._left import answers_needed, chances, interval, licence
from proponent.review._likely import likely

NO_DRAWS = Draws(np.zeros(0), np.zeros(0), np.zeros(0, bool))


def equal_chances(count, hits, left=100_000.0):
    """Draws from so many samples that none changes the chance of the next."""
    return Draws(np.full(count, left), np.zeros(count), np.arange(count) < hits)


def without_replacement(count, left):
    """Draws without a hit, and nothing looked at between them."""
    return Draws(left - np.arange(count, dtype=float), np.zeros(count), np.zeros(count, bool))


@pytest.mark.parametrize(("count", "hits"), [(20, 0), (20, 3), (50, 50), (7, 1)])
def test_equal_chances_give_clopper_and_pearson(count, hits):
    low, high = interval(equal_chances(count, hits), 0, 100_000, error=0.1)
    least = beta.ppf(0.05, hits, count - hits + 1) if hits else 0.0
    most = beta.ppf(0.95, hits + 1, count - hits) if hits < count else 1.0
    assert low == pytest.approx(100_000 * least, abs=1)
    assert high == pytest.approx(100_000 * most, abs=1)


def exact_tail(p, hits):
    """The chance of at most so many heads, from all outcomes."""
    outcomes = np.array(list(itertools.product([0, 1], repeat=len(p))))
    weights = np.where(outcomes, p, 1 - p).prod(1)
    return weights[outcomes.sum(1) <= hits].sum()


def test_unequal_chances_are_tested_exactly():
    random = np.random.default_rng(0)
    for _ in range(20):
        count = 6
        left = np.sort(random.integers(20, 60, count))[::-1].astype(float)
        found = np.sort(random.integers(0, 8, count)).astype(float)
        draws = Draws(left, found, random.random(count) < 0.3)
        low, high = interval(draws, 8, 15, error=0.3)
        hits = int(draws.hits.sum())
        tried = chances(draws, 8, np.arange(16))
        in_ = [
            1 - (exact_tail(p, hits - 1) if hits else 0) > 0.15 and exact_tail(p, hits) > 0.15 for p in tried
        ]
        inside = np.flatnonzero(in_)
        if len(inside):
            assert (low, high) == (inside[0], inside[-1])
        else:
            assert low == high


def test_chances_know_what_was_found_in_between():
    draws = Draws(np.array([10.0, 5.0]), np.array([0.0, 2.0]), np.zeros(2, bool))
    np.testing.assert_allclose(chances(draws, 3, np.array([0, 1, 9])), [[0.3, 0.2], [0.4, 0.4], [1.0, 1.0]])


def test_nothing_drawn_says_nothing():
    assert interval(NO_DRAWS, 0, 50) == (0, 50)
    assert licence(NO_DRAWS, 0, 50) == 50


def test_nothing_left_is_nothing():
    draws = equal_chances(5, 2)
    assert interval(draws, 7, 0) == (0, 0)
    assert licence(draws, 7, 0) == 0


def test_a_licence_is_wider_than_an_interval_and_narrows():
    bounds = [licence(without_replacement(c, 1000.0), 0, 1000 - c) for c in (10, 50, 200)]
    assert bounds == sorted(bounds, reverse=True)
    for c, bound in zip((10, 50, 200), bounds, strict=True):
        high = interval(without_replacement(c, 1000.0), 0, 1000 - c)[1]
        assert high < bound < 2 * high


def test_a_licence_allows_for_every_hit():
    few, many = (Draws(np.full(40, 500.0), np.zeros(40), np.arange(40) < hits) for hits in (1, 8))
    assert licence(few, 0, 460) < licence(many, 0, 460)


@pytest.mark.parametrize(("unseen", "bound"), [(500, 10), (4700, 25), (60, 0), (100, 99)])
def test_answers_needed_are_enough_and_hardly_more(unseen, bound):
    needed = answers_needed(unseen, bound)
    assert interval(without_replacement(needed, float(unseen)), 0, unseen - needed)[1] <= bound
    if needed > 2:
        assert interval(without_replacement(needed - 2, float(unseen)), 0, unseen - needed + 2)[1] > bound


def test_no_answers_are_needed_for_what_is_certain():
    assert answers_needed(10, 10) == answers_needed(10, 12) == 0


def test_answers_needed_refuses_less_than_nothing():
    with pytest.raises(ValueError, match="`at_most` must be 0 or more, got -1"):
        answers_needed(10, -1)


def test_likely_follows_the_answers_where_nothing_learns():
    draws = equal_chances(400, 40, 10_000.0)
    posterior = binom.pmf(40, 400, np.arange(10_001) / 10_000)
    median = np.searchsorted(np.cumsum(posterior), posterior.sum() / 2)
    assert likely(draws, 0, 10_000, None) == pytest.approx(median, rel=0.01)


def test_likely_follows_the_guess_until_there_are_answers():
    guesses = [likely(NO_DRAWS, 0, 10_000, guess) for guess in (0.0, 20.0, 200.0)]
    assert guesses == sorted(guesses)
    assert guesses[0] < 2
    many = equal_chances(300, 30, 10_000.0)
    assert likely(many, 0, 10_000, 5.0) > 100


# --- as often as it says -----------------------------------------------------


def simulated(random, n, foreign, skill, looks, share=0.1, dry=None):
    """A queue that finds foreign samples first the better its skill, a control arm, and where it ended."""
    is_foreign = random.permutation(n) < foreign
    order = np.argsort(-(random.normal(size=n) + skill * is_foreign)).tolist()
    control = random.permutation(n).tolist()
    seen, found, keeps, rows = set(), 0, 0, []
    at = {"queue": 0, "control": 0}
    while len(seen) < looks if dry is None else keeps < dry and len(seen) < n:
        arm, source = ("control", control) if random.random() < share else ("queue", order)
        while source[at[arm]] in seen:
            at[arm] += 1
        i = source[at[arm]]
        if arm == "control":
            rows.append((n - len(seen), found, is_foreign[i]))
        seen.add(i)
        found += int(is_foreign[i])
        keeps = 0 if is_foreign[i] else keeps + 1
    left, before, hits = (np.array(values, float) for values in zip(*rows, strict=True)) if rows else NO_ROWS
    return Draws(left, before, hits > 0), found, n - len(seen), foreign - found


NO_ROWS = (np.zeros(0), np.zeros(0), np.zeros(0))
CASES = {
    "many, poorly found": {"n": 600, "foreign": 120, "skill": 0.5, "looks": 200},
    "some, well found": {"n": 600, "foreign": 40, "skill": 3.0, "looks": 150},
    "few": {"n": 300, "foreign": 6, "skill": 1.0, "looks": 100},
    "stopped when it looks done": {"n": 600, "foreign": 120, "skill": 2.0, "looks": 0, "dry": 15},
    "half chance": {"n": 400, "foreign": 60, "skill": 1.0, "looks": 150, "share": 0.5},
}


@pytest.mark.parametrize("case", CASES)
def test_intervals_hold_as_often_as_they_say(case):
    random = np.random.default_rng(5)
    runs = 150
    inside = below = 0
    for _ in range(runs):
        draws, found, unseen, truth = simulated(random, **CASES[case])
        low, high = interval(draws, found, unseen)
        inside += low <= truth <= high
        below += truth <= licence(draws, found, unseen)
    assert inside >= 0.9 * runs - 1.6 * np.sqrt(runs * 0.09)  # one in twenty would fall below at exactly 90%
    assert below >= 0.95 * runs
