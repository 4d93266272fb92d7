r"""Expectation maximisation, continued to where the likelihood is stationary.

A step of EM is close to one along the gradient in the coordinates of `Coordinates`, since the information of
samples whose component is known is I there. Near the optimum Newton's step, by the curvature that influences
need anyway, replaces hundreds of them. It is taken, or a part of it, if the likelihood rises as it must or
the gradient is halved; otherwise EM, which never lowers the likelihood, goes on.
"""

import math
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from proponent.density._collapse import FEWEST, LIMIT, spread_of, thinness
from proponent.density._components import Mixture
from proponent.density._coordinates import Coordinates
from proponent.density._curvature import has_room, hessian
from proponent.density._gaussians import Moments, from_natural, likeliest
from proponent.density._place import Place

_ROUNDING = 1e-12  # by which a likelihood may seem to fall
_SHARES = (1, 1 / 2, 1 / 4, 1 / 8)
_NEAR = 0.1  # a gradient from which Newton's step is worth a try


class NoMaximumError(ValueError):
    """The likelihood has no maximum where EM leads."""


@dataclass(frozen=True)
class Optimum:
    """Where EM ended.

    Attributes:
        mixture: The mixture.
        log_likelihood: The mean over the samples.
        gradient_norm: Of the mean log-likelihood, where 1 is one standard deviation of one sample's.
        n_iter: The steps taken.
        is_stationary: Whether the gradient is within the tolerance.
    """

    mixture: Mixture
    log_likelihood: float
    gradient_norm: float
    n_iter: int
    is_stationary: bool


def maximised(
    mixture: Mixture, samples: Float[Tensor, "n d"], place: Place, tol: float, max_iter: int
) -> Optimum:
    """Climb to a stationary point of the likelihood.

    Args:
        mixture: Where to start.
        samples: What to fit.
        place: Where to compute.
        tol: The norm of the gradient at which to end.
        max_iter: The most steps to take.

    Raises:
        NoMaximumError: A component collapses onto too few samples, or vanishes.
    """
    here, wait, step = _State.at(mixture, samples, place), 0, 0
    rate = 0.0  # at which the gradient shrinks; not known before the first step
    spread = spread_of(mixture.kind, samples, place)
    while here.norm > tol and step < max_iter:
        step += 1
        if wait == 0 and _newton_pays(here, rate, tol, place):
            there = _newton(here, samples, place)
            if there is not None:
                here, rate = there, 1.0  # the next one is worth more still
                continue
            wait = 5 + math.ceil(_newton_cost(mixture))
        wait = max(wait - 1, 0)
        there = _State.at(_em(here, spread, len(samples)), samples, place)
        here, rate = there, there.norm / here.norm
    _check_regular(here.mixture, here.mixture.roots, spread)
    return Optimum(here.mixture, float(here.moments.log_likelihood), here.norm, step, here.norm <= tol)


@dataclass(frozen=True)
class _State:
    """A mixture, what it sees of the samples, the gradient there, and its norm."""

    mixture: Mixture
    moments: Moments
    gradient: Tensor
    norm: float

    @classmethod
    def at(cls, mixture: Mixture, samples: Tensor, place: Place) -> "_State":
        moments = mixture.moments(samples, place)
        gradient = Coordinates.near(mixture).gradient(
            moments.counts - mixture.weights, moments.first, moments.second
        )
        return cls(mixture, moments, gradient, float(gradient.norm()))


def _em(here: _State, spread: Tensor, n: int) -> Mixture:
    """One step of EM.

    Raises:
        NoMaximumError: A component vanishes, or collapses onto too few samples.
    """
    mixture, counts = here.mixture, here.moments.counts
    weakest = int(counts.argmin())
    if not float(counts[weakest]) * n > FEWEST:
        raise NoMaximumError(
            f"Every component must keep some weight, but that of component {weakest} has fallen to "
            f"{float(counts[weakest]):.1g}. Use fewer components, or another `random_state` or `init_params`."
        )
    gaussians = likeliest(mixture.kind, here.moments)
    R, is_positive = mixture.kind.roots(gaussians.covariances)
    R = torch.where(is_positive[:, None, None], R, 0)
    _check_regular(mixture, mixture.kind.product(mixture.roots, R), spread)
    return mixture.moved(counts, gaussians.means, R)


def _newton(here: _State, samples: Tensor, place: Place) -> _State | None:
    """Newton's step, or a part of it, if that leads to something better."""
    mixture = here.mixture
    root, failed = torch.linalg.cholesky_ex(hessian(mixture, samples, here.moments.counts, place))
    if failed:
        return None
    step = torch.cholesky_solve(here.gradient[:, None], root).squeeze(-1)
    for share in _SHARES:
        logits, h, v = Coordinates.near(mixture).split(share * step)
        gaussians, _, is_positive = from_natural(mixture.kind, h, v)
        if not is_positive:
            continue
        R, _ = mixture.kind.roots(gaussians.covariances)
        there = _State.at(mixture.moved(mixture.weights * logits.exp(), gaussians.means, R), samples, place)
        gain = float(there.moments.log_likelihood - here.moments.log_likelihood)
        expected = share * float(here.gradient @ step)
        if gain > max(expected / 4, 10 * _ROUNDING) or (gain > -_ROUNDING and there.norm < here.norm / 2):
            return there
    return None


def _newton_pays(here: _State, rate: float, tol: float, place: Place) -> bool:
    """Whether the steps of EM that remain, at the rate of the last, cost more than a few of Newton's."""
    mixture = here.mixture
    if rate == 0 or here.norm > _NEAR or len(mixture.weights) == 1 or not has_room(mixture, place):
        return False
    remaining = math.log(tol / here.norm) / math.log(rate) if rate < 1 else math.inf
    return remaining > 3 * _newton_cost(mixture)


def _newton_cost(mixture: Mixture) -> float:
    """What a step of Newton's costs, in steps of EM."""
    each = len(mixture.weights) * (mixture.kind.dimension + mixture.kind.count)
    return Coordinates.near(mixture).total ** 2 / each


def _check_regular(mixture: Mixture, roots: Tensor, spread: Tensor) -> None:
    """Refuse a covariance that is singular, next to that of all samples.

    Raises:
        NoMaximumError: Names the component.
    """
    thin = thinness(mixture.kind, roots, spread)
    thinnest = int(thin.argmax())  # of which one that is no number is the highest
    if thin[thinnest] < LIMIT:
        return
    whose = "The covariance that the components share has become singular"
    if not mixture.is_shared:
        weight = float(mixture.weights[thinnest])
        whose = f"Component {thinnest}, of weight {weight:.2g}, has collapsed: its covariance is singular"
    raise NoMaximumError(
        f"{whose}, so the likelihood grows without bound and has no maximum. Use fewer components, a "
        "`covariance_type` with fewer parameters, or another `random_state` or `init_params`; or drop "
        "duplicates among the samples."
    )
