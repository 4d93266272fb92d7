import numpy as np
import pytest

from proponent.paper._orders import rank_correlation, rising_pairs

GENERATOR = np.random.default_rng(0)


def test_rising_pairs_are_counted_one_by_one():
    a, b = GENERATOR.normal(size=(2, 30))
    pairs = [(i, j) for i in range(30) for j in range(i)]
    assert rising_pairs(a, b) == sum((a[i] - a[j]) * (b[i] - b[j]) > 0 for i, j in pairs)


def test_what_differs_by_rounding_does_not_rise():
    a = np.array([0.0, 1.0, 2.0])
    assert rising_pairs(a, a) == 3
    assert rising_pairs(a, 1e8 + 1e-6 * a) == 0
    assert rising_pairs(a, -a) == 0


def test_rank_correlation_sees_the_order_alone():
    a = GENERATOR.normal(size=50)
    assert rank_correlation(a, np.exp(a)) == pytest.approx(1)
    assert rank_correlation(a, -(a**3)) == pytest.approx(-1)


def test_ties_share_their_mean_rank():
    # Ranks 1.5, 1.5, 3 and 1, 2, 3: their correlation is √3 / 2.
    assert rank_correlation(np.array([0.0, 0.0, 1.0]), np.array([0.0, 1.0, 2.0])) == pytest.approx(3**0.5 / 2)


def test_nothing_goes_with_what_is_constant():
    assert rank_correlation(np.ones(3), np.arange(3.0)) == 0
