"""Refits of a mixture without one sample each, warm from the fit to all, many at a time.

A step of a refit is that of EM, or, as long as it halves the gradient and does not lower the likelihood, the
gradient times the inverse curvature of the fit to all samples. Both climb, so both end at a maximum. The few
that need many steps, as their own curvature is another one, go on alone.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from proponent.density._around import Around
from proponent.density._curvature import scores
from proponent.density._em import NoMaximumError, Optimum, maximised
from proponent.scores import IdArray

_ROUNDING = 1e-12  # by which a likelihood may seem to fall
_REST = 10  # steps of EM after one of Newton's that failed
_FARTHER = 3.0  # than predicted
_STILL = 1e-6  # nats that count as none
_MOST = 256  # refits at a time
_TOGETHER = 60  # steps


@dataclass(frozen=True)
class Refits:
    """Where refits ended.

    Attributes:
        points: Their coordinates, ``[B, P]``.
        gradient_norms: ``[B]``.
        is_singular: Which collapsed, so that there is no maximum, ``[B]``.
        steps: How many the longest took.
    """

    points: Float[Tensor, "B P"]
    gradient_norms: Float[Tensor, " B"]
    is_singular: Bool[Tensor, " B"]
    steps: int


@dataclass(frozen=True)
class LeftOut:
    """What refits did to queries.

    Attributes:
        influences: The score of each sample that was left out, ``[m, q]``; NaN where its refit collapsed.
        gradient_norms: Where the refits ended, ``[m]``.
        is_singular: Which collapsed, ``[m]``.
        is_jump: Which ended far from where they were to be expected, ``[m]``.
        steps: How many the longest took.
    """

    influences: Float[Tensor, "m q"]
    gradient_norms: Float[Tensor, " m"]
    is_singular: Bool[Tensor, " m"]
    is_jump: Bool[Tensor, " m"]
    steps: int

    def facts(self, positions: IdArray, tol: float) -> dict[str, Any]:
        """What fits in JSON.

        Args:
            positions: Of the samples.
            tol: The norm of the gradient at which a refit had converged.
        """
        regular = ~self.is_singular
        return {
            "refits": len(positions),
            "refit_steps": self.steps,
            "refit_gradient_norm": float(self.gradient_norms[regular].max()) if regular.any() else None,
            "collapsed": positions[self.is_singular.numpy()].tolist(),
            "not_converged": positions[(regular & ~(self.gradient_norms <= tol)).numpy()].tolist(),
            "jumped": positions[self.is_jump.numpy()].tolist(),
        }


def positions_among(samples: npt.ArrayLike | None, n: int) -> IdArray:
    """Check the positions of samples to leave out; all n unless given.

    Raises:
        ValueError: They are no positions, or one occurs twice.
    """
    if samples is None:
        return np.arange(n)
    positions = np.asarray(samples)
    if positions.ndim != 1 or positions.dtype.kind not in "iu" or not len(positions):
        raise ValueError(
            "`samples` must be positions in one axis, at least one, got an array of shape "
            f"{positions.shape} and type {positions.dtype}."
        )
    if positions.min() < 0 or positions.max() >= n:
        raise ValueError(
            f"`samples` must be between 0 and {n - 1}, got {positions.min()} to {positions.max()}."
        )
    if len(np.unique(positions)) < len(positions):
        raise ValueError("`samples` must be different, but one occurs twice or more.")
    return positions


def left_out(
    around: Around,
    positions: Int[Tensor, " m"],
    queries: Float[Tensor, "q d"],
    tol: float,
    max_iter: int,
    report: Callable[[int], object],
) -> LeftOut:
    """Refit without each of some samples, as many at a time as the budget allows.

    Args:
        around: The fit to all.
        positions: Of the samples.
        queries: Whose log densities are compared.
        tol: The norm of the gradient at which a refit ends.
        max_iter: The most steps to take.
        report: Told how many are done.
    """
    here = around.log_densities(queries, queries.new_zeros(1, around.at.total))
    numbers = 30 * around.at.total + 2 * len(queries)
    size = min(_MOST, max(1, around.place.budget // (around.place.itemsize * numbers)))
    influences, ends = queries.new_empty(len(positions), len(queries), device="cpu"), []
    for start in range(0, len(positions), size):
        some = positions[start : start + size]
        refits = refitted(around, some, tol, max_iter)
        changes = (here - around.log_densities(queries, refits.points)).T
        influences[start : start + size] = changes.masked_fill(refits.is_singular[:, None], torch.nan)
        ends.append((refits, jumps(around, refits, some)))
        report(len(some))
    return LeftOut(
        influences,
        torch.cat([refits.gradient_norms for refits, _ in ends]).cpu(),
        torch.cat([refits.is_singular for refits, _ in ends]).cpu(),
        torch.cat([jumps for _, jumps in ends]).cpu(),
        max(refits.steps for refits, _ in ends),
    )


def refitted(around: Around, left_out: Int[Tensor, " B"], tol: float, max_iter: int) -> Refits:
    """Refit without one sample each.

    Args:
        around: The fit to all.
        left_out: The position of the sample that each does without.
        tol: The norm of the gradient at which a refit ends.
        max_iter: The most steps to take.
    """
    B = len(left_out)
    found, together = around.mixture.weights.new_zeros(B, around.at.total), min(max_iter, _TOGETHER)
    norms, singular = found.new_zeros(B), torch.zeros(B, dtype=torch.bool, device=found.device)
    active, rest = torch.arange(B, device=found.device), torch.zeros(B, device=found.device)
    points = found.clone()
    here = around.seen(points, left_out)
    for step in range(together + 1):
        found[active], norms[active], singular[active] = points, here.norm, ~here.is_regular
        goes_on = (here.norm > tol) & here.is_regular
        if step == together or not goes_on.any():
            break
        active, points, here, rest = active[goes_on], points[goes_on], here.of(goes_on), rest[goes_on]
        tries = rest == 0
        newton = points + around.curvature.solve(here.gradient)
        proposed = torch.where(tries[:, None], newton, here.target)
        there = around.seen(proposed, left_out[active])
        is_better = there.is_regular & (there.norm < here.norm / 2)
        is_better &= there.log_likelihood > here.log_likelihood - _ROUNDING
        goes = ~tries | is_better
        points, here = torch.where(goes[:, None], proposed, points), there.where(goes, here)
        rest = torch.where(goes, (rest - 1).clamp_min(0), _REST)
    for b in active[goes_on].tolist():
        try:
            alone = _alone(around, int(left_out[b]), found[b], tol, max_iter)
        except NoMaximumError:
            singular[b] = True
        else:
            found[b], norms[b] = around.point_of(alone.mixture), alone.gradient_norm
            step = max(step, together + alone.n_iter)
    return Refits(found, norms, singular, step)


def _alone(around: Around, left_out: int, point: Tensor, tol: float, max_iter: int) -> Optimum:
    """Go on with a single refit, by a curvature of its own."""
    samples = torch.cat([around.samples[:left_out], around.samples[left_out + 1 :]])
    return maximised(around.mixture_at(point), samples, around.place, tol, max_iter)


def jumps(around: Around, refits: Refits, left_out: Int[Tensor, " B"]) -> Bool[Tensor, " B"]:
    """Which refits changed the log densities of their samples far more than was to be expected."""
    samples, n = around.samples, len(around.samples)
    expected = -around.curvature.solve(scores(around.mixture, around.mixture.whitened(samples[left_out]))) / n
    here = around.log_densities(samples, torch.zeros_like(expected[:1]))
    squares = expected.new_zeros(2, len(left_out))
    for part in around.chunks(n, len(left_out)):
        x, rows = samples[part], torch.arange(part.start, part.stop, device=left_out.device)
        is_left = rows[:, None] == left_out
        G = scores(around.mixture, around.mixture.whitened(x))
        changes = around.log_densities(x, refits.points) - here[part], G @ expected.T
        for total, change in zip(squares, changes, strict=True):
            total += change.masked_fill(is_left, 0).square().sum(0)
    actual, linear = (squares / n).sqrt()
    found: Tensor = ~refits.is_singular & (actual > _FARTHER * linear + _STILL)
    return found
