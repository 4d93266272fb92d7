import numpy as np
import pytest

from proponent.attribution import draws_by_chebyshev, draws_by_theorem
from proponent.attribution._draws import plan_for_pairs


def parts(m, V_x, V_z, V_xz):
    """The variances of the two parts of the error, in both orders."""
    return max(V_x / m, V_z / m + V_xz / m**2), max(V_z / m, V_x / m + V_xz / m**2)


@pytest.mark.parametrize(
    "variances", [(1.0, 0.0, 0.0), (0.3, 2.0, 0.7), (2.0, 0.3, 0.7), (0.0, 0.0, 5.0), (1.0, 1.0, 90.0)]
)
def test_the_theorem_grants_the_smallest_number_that_its_proof_allows(variances):
    epsilon, delta = 0.3, 0.05
    m = draws_by_theorem(epsilon, delta, *variances)

    def is_enough(draws):  # 4 V / ε² ≤ δ / 2 for both parts
        return min(4 * part / epsilon**2 for part in parts(draws, *variances)) <= delta / 2 * (1 + 1e-9)

    assert is_enough(m)
    assert m == 1 or not is_enough(m - 1)


def test_the_constant_is_eight():
    assert draws_by_theorem(0.1, 0.5, 1.0, 1.0, 0.0) == 1600  # 8 V / (ε² δ)
    assert draws_by_chebyshev(0.1, 0.5, 1.0, 1.0, 0.0) == 400


def test_chebyshev_at_once_asks_for_the_smallest_number():
    for variances in [(0.3, 2.0, 0.7), (0.0, 0.0, 50.0)]:
        m = draws_by_chebyshev(0.3, 0.05, *variances)
        V_x, V_z, V_xz = variances
        bound = 0.3**2 * 0.05
        assert (V_x + V_z) / m + V_xz / m**2 <= bound
        assert (V_x + V_z) / (m - 1) + V_xz / (m - 1) ** 2 > bound


def test_a_score_without_noise_needs_one_draw():
    assert draws_by_theorem(0.1, 0.1, 0.0, 0.0, 0.0) == draws_by_chebyshev(0.1, 0.1, 0.0, 0.0, 0.0) == 1


def test_the_worst_pair_of_a_pilot_counts():
    variances = np.array([[0.5, 0.1, -0.2], [0.0, 0.0, 0.0], [0.0, 0.0, 3.0]])
    plan = plan_for_pairs(0.5, 0.1, variances, group_draws=2, pilot_draws=16)
    assert (plan.sample_variance, plan.query_variance, plan.both_variance) == (1.0, 0.0, 0.0)
    assert (plan.draws, plan.draws_at_once, plan.pilot_draws) == (320, 40, 16)


@pytest.mark.parametrize("plan", [draws_by_theorem, draws_by_chebyshev])
def test_impossible_demands(plan):
    with pytest.raises(ValueError, match=r"`epsilon` must be positive, in the unit of the scores, got 0"):
        plan(0.0, 0.1, 1.0, 1.0, 1.0)
    with pytest.raises(ValueError, match=r"`delta` must lie between 0 and 1, got 1"):
        plan(0.1, 1.0, 1.0, 1.0, 1.0)
