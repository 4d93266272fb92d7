"""How many draws a score needs: the paper's theorem with the constant of its proof."""

import math
from dataclasses import dataclass

from proponent.scores import FloatArray


@dataclass(frozen=True)
class DrawPlan:
    """How many draws keep a score within `epsilon` of its expectation with probability 1 - `delta`.

    Attributes:
        draws: The number, from the theorem and the pilot's variances.
        epsilon: The error allowed, in the unit of the scores.
        delta: The probability with which it may be exceeded, for a single score.
        draws_at_once: The draws that Chebyshev's inequality asks for when it is applied to the whole error
            at once: the same guarantee from the same variances, for fewer draws.
        sample_variance: The variance that one draw for the sample adds, in the pilot's pair that needs
            the most draws.
        query_variance: Likewise for the query.
        both_variance: Likewise for what both add together.
        pilot_draws: The draws with which the variances were measured.
    """

    draws: int
    epsilon: float
    delta: float
    draws_at_once: int
    sample_variance: float
    query_variance: float
    both_variance: float
    pilot_draws: int


def draws_by_theorem(
    epsilon: float, delta: float, sample_variance: float, query_variance: float, both_variance: float
) -> int:
    r"""The smallest m that the paper's theorem on the number of draws grants.

    Its proof divides the error into two parts, each of which may reach $\epsilon/2$ with probability
    $\delta/2$, and bounds each by Chebyshev's inequality, $4 V / (m \epsilon^2) \le \delta / 2$. So

    $$m \ge \frac{8 V}{\epsilon^2 \delta},$$

    with the larger V of the two. The constant, which the theorem's $\Theta(1 / (\epsilon^2 \delta))$
    leaves open, is 8. The paper's parts are the two losses of a retrained model; the two of a score are

    $$\langle \bar g_x - G_x, M G_z \rangle \quad\text{and}\quad
      \langle \bar g_x, M (\bar g_z - G_z) \rangle,$$

    with variances $V_x / m$ and $V_z / m + V_{xz} / m^2$, or the same with x and z exchanged: the order
    that needs fewer draws counts. (G is the gradient's expectation, $\bar g$ its mean over m draws.)

    >>> draws_by_theorem(epsilon=0.5, delta=0.1, sample_variance=1.0, query_variance=0.0, both_variance=0.0)
    320

    Args:
        epsilon: The error allowed.
        delta: The probability with which it may be exceeded.
        sample_variance: $V_x$, of $\langle g_x, M G_z \rangle$ for one draw.
        query_variance: $V_z$, of $\langle G_x, M g_z \rangle$ for one draw.
        both_variance: $V_{xz}$, of $\langle g_x - G_x, M (g_z - G_z) \rangle$ for one draw of each.

    Raises:
        ValueError: `epsilon` isn't positive, or `delta` isn't between 0 and 1.
    """
    _check(epsilon, delta)
    V_x, V_z, V_xz = sample_variance, query_variance, both_variance
    bound = epsilon**2 * delta / 8
    orders = [max(V_x / bound, _root(bound, V_z, V_xz)), max(V_z / bound, _root(bound, V_x, V_xz))]
    return _whole(min(orders))


def draws_by_chebyshev(
    epsilon: float, delta: float, sample_variance: float, query_variance: float, both_variance: float
) -> int:
    r"""The smallest m with $(V_x + V_z) / m + V_{xz} / m^2 \le \epsilon^2 \delta$.

    >>> draws_by_chebyshev(epsilon=0.5, delta=0.1, sample_variance=1.0, query_variance=0.0, both_variance=0.0)
    40
    """
    _check(epsilon, delta)
    return _whole(_root(epsilon**2 * delta, sample_variance + query_variance, both_variance))


def plan_for_pairs(
    epsilon: float, delta: float, variances: FloatArray, group_draws: int, pilot_draws: int
) -> DrawPlan:
    """Plan for the pair of a pilot that needs the most draws.

    Args:
        epsilon: The error allowed.
        delta: The probability with which it may be exceeded.
        variances: ``[3, pairs]``, what the sample's draws, the query's, and both together add to the score
            of one group; estimates, so they can be negative.
        group_draws: The draws of a group.
        pilot_draws: All draws of the pilot.
    """
    scale = [[group_draws], [group_draws], [group_draws**2]]  # from a group's mean to one draw
    pairs = [(float(x), float(z), float(both)) for x, z, both in (variances.clip(min=0) * scale).T]
    worst = max(pairs, key=lambda pair: draws_by_theorem(epsilon, delta, *pair))
    return DrawPlan(
        draws=draws_by_theorem(epsilon, delta, *worst),
        epsilon=epsilon,
        delta=delta,
        draws_at_once=max(draws_by_chebyshev(epsilon, delta, *pair) for pair in pairs),
        sample_variance=worst[0],
        query_variance=worst[1],
        both_variance=worst[2],
        pilot_draws=pilot_draws,
    )


def _root(bound: float, V: float, W: float) -> float:
    """The m at which V / m + W / m² = bound."""
    return (V + math.sqrt(V**2 + 4 * bound * W)) / (2 * bound)


def _whole(draws: float) -> int:
    return max(1, math.ceil(draws * (1 - 1e-12)))  # a whole number stays itself


def _check(epsilon: float, delta: float) -> None:
    if epsilon <= 0:
        raise ValueError(f"`epsilon` must be positive, in the unit of the scores, got {epsilon}.")
    if not 0 < delta < 1:
        raise ValueError(f"`delta` must lie between 0 and 1, got {delta}.")
