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
from proponent.density._curvature import bytes_of_scores, scores
from proponent.density._em import NoMaximumError, Optimum, maximised
from proponent.density._place import slices
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
    origin, place = queries.new_zeros(1, around.at.total), around.place.share(1 / 2)
    here, there = around.log_densities(queries, origin), around.log_densities(around.samples, origin)
    predicted = predictions(around, positions)
    size = min(_MOST, place.rows(place.itemsize * (30 * around.at.total + 2 * len(queries))))
    influences, ends = queries.new_empty(len(positions), len(queries), device="cpu"), []
    for part in slices(len(positions), size):
        refits = refitted(around, positions[part], tol, max_iter)
        changes = (here - around.log_densities(queries, refits.points)).T
        influences[part] = changes.masked_fill(refits.is_singular[:, None], torch.nan)
        moved = movements(around, refits.points, positions[part], there)
        is_jump = ~refits.is_singular & (moved > _FARTHER * predicted[part] + _STILL)
        ends.append((refits, is_jump))
        report(part.stop - part.start)
    return LeftOut(
        influences,
        torch.cat([refits.gradient_norms for refits, _ in ends]).cpu(),
        torch.cat([refits.is_singular for refits, _ in ends]).cpu(),
        torch.cat([is_jump for _, is_jump in ends]).cpu(),
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
    for b in active[goes_on].tolist() if together < max_iter else []:
        try:
            alone = _alone(around, int(left_out[b]), found[b], tol, max_iter - together)
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


def predictions(around: Around, left_out: Int[Tensor, " m"]) -> Float[Tensor, " m"]:
    """How much the log densities of the other samples change to first order: the root of the mean square."""
    samples, n, quarter = around.samples, len(around.samples), around.place.share(1 / 4)
    squares, each = samples.new_zeros(len(left_out)), bytes_of_scores(around.mixture)
    for part in quarter.parts(len(left_out), 2 * each):
        omitted = left_out[part]
        steps = -around.curvature.solve(scores(around.mixture, around.mixture.whitened(samples[omitted]))) / n
        for rows in quarter.cached.parts(n, each + 3 * len(steps) * samples.itemsize):
            changes = scores(around.mixture, around.mixture.whitened(samples[rows])) @ steps.T
            squares[part] += changes.masked_fill_(_are(rows, omitted), 0).square_().sum(0)
    return (squares / n).sqrt()


def movements(
    around: Around, points: Float[Tensor, "B P"], left_out: Int[Tensor, " B"], before: Float[Tensor, "n 1"]
) -> Float[Tensor, " B"]:
    """How much they did change.

    Args:
        around: The fit to all.
        points: The refits.
        left_out: The sample that each does without.
        before: The log densities of all samples under the fit.
    """
    squares, n = points.new_zeros(len(points)), len(before)
    for rows in around.chunks(n, len(points)):
        changes = around.log_densities(around.samples[rows], points) - before[rows]
        squares += changes.masked_fill_(_are(rows, left_out), 0).square_().sum(0)
    return (squares / n).sqrt()


def _are(rows: slice, left_out: Int[Tensor, " B"]) -> Bool[Tensor, "r B"]:
    """Which of some samples are those that were left out."""
    return torch.arange(rows.start, rows.stop, device=left_out.device)[:, None] == left_out
