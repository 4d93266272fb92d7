"""The density of the k nearest neighbours, and what each sample did to it."""

import math
from collections.abc import Callable
from numbers import Integral
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from proponent.density._bring import bring
from proponent.density._density import Density, Writer
from proponent.density._nearest import nearest, nearest_by_parts
from proponent.density._place import Place
from proponent.density._two_values import bytes_of_selection, strongest_of_two
from proponent.scores import FloatArray
from proponent.top_scores import Extremes, beside


class KNNDensity(Density):
    r"""Density from the distance to the k-th nearest sample, with every sample's influence exact.

    $$p(z; X) = \frac{k}{n\, V_d\, R_k(z)^d},$$

    where $R_k(z)$ is the distance of z to its k-th nearest sample and $V_d$ the volume of the unit ball. A
    sample asked about counts itself, at distance 0. Without $x_i$ there are n - 1 samples, and the k-th
    nearest of them is the (k+1)-th of all if $x_i$ was among the first k:

    $$S(x_i, z) = \log\frac{n-1}{n} + \begin{cases}
    d \log \dfrac{R_{k+1}(z)}{R_k(z)} & |x_i - z| \le R_k(z) \\
    0 & \text{else} \end{cases}$$

    (equation "knn influence" of the paper, exact). **Ties need no rule of their own.** If samples beyond the
    k-th lie at $R_k$ too, then $R_{k+1} = R_k$, and the logarithm is 0 for all that lie so near, as it must
    be: k samples within $R_k$ are left, whichever is removed. If none does, exactly k samples lie within
    $R_k$, and without one of them the (k+1)-th is the k-th.

    **Copies.** Where k samples or more equal z, $R_k(z) = 0$ and the density is infinite. If they are
    exactly k, removing one leaves a finite density: its influence is infinite. In all other cases the density
    is as infinite before as after, and the influence is that of the counts, $\log\frac{n-1}{n}$, as if the
    two radii went to 0 together.

    >>> density = KNNDensity(k=2).fit([[0.0], [1.0], [3.0], [7.0]])
    >>> density.score_samples([[0.0]])  # 2 of 4 samples within a distance of 1, an interval of length 2
    array([-1.38629436])
    >>> density.influence([[0.0]]).values.T.round(3)  # log 3/4, and log 3/1 more for the two nearest
    array([[ 0.811,  0.811, -0.288, -0.288]])

    Args:
        k: How many neighbours; not more than there are samples, and fewer to ask for influences, as one is
            left out.
        device: Where to compute; the CPU unless given.
        precision: "float64" or "float32", of influences. Distances are computed in float64.
        memory_budget: What chunks may take at a time, such as ``"2GiB"``, beside samples, queries and the
            result; a share of what is free unless given.

    Attributes:
        samples_: The samples that it was fitted to, ``[n, d]``.
        n_features_in_: d.
    """

    _method = "k-NN density"

    def __init__(
        self,
        k: int = 10,
        *,
        device: torch.device | str | None = None,
        precision: str = "float64",
        memory_budget: int | str | None = None,
    ) -> None:
        self.k = k
        self.device = device
        self.precision = precision
        self.memory_budget = memory_budget

    def _estimate(self, place: Place) -> None:
        self._checked_k()

    def _log_densities(self, queries: Float[Tensor, "q d"], place: Place) -> Float[Tensor, " q"]:
        n, d = self.samples_.shape
        k = self._checked_k()
        found = nearest_by_parts(self._bring(self.samples_, place), queries, k, place)
        R = torch.cat([distances[:, -1] for _, (distances, _) in found])
        volume = d / 2 * math.log(math.pi) - math.lgamma(d / 2 + 1)  # log V_d
        log_densities: Tensor = math.log(k / n) - volume - d * R.log()
        return log_densities

    def _check_removal(self) -> None:
        n = len(self.samples_)
        if self._checked_k() == n:
            raise ValueError(
                f"`k` must be less than the {n} samples, as one of them is left out, got {self.k}. "
                "Choose a smaller one."
            )

    def _writer(self, queries: Float[Tensor, "q d"], place: Place) -> Writer:
        k = self._checked_k()
        distances, positions = nearest(self._bring(self.samples_, place), queries, k + 1, place)
        near = (self._elsewhere + self._gains(distances)).to(place.dtype)

        def write(part: slice, out: Float[Tensor, "n _"]) -> None:
            out.fill_(self._elsewhere)
            # Of a tie beyond the k-th place some are left out, but then there is nothing to gain.
            out.scatter_(0, positions[part, :-1].T, near[part].expand(k, -1))

        return write

    def _strongest(
        self, queries: Float[Tensor, "q d"], k: int, place: Place, report: Callable[[int], object]
    ) -> tuple[Extremes, Extremes]:
        samples, sides, half = self._bring(self.samples_, place), [], place.share(1 / 2)
        for part, (distances, positions) in nearest_by_parts(samples, queries, self._checked_k() + 1, half):
            near = (self._elsewhere + self._gains(distances)).to(place.dtype)
            for some in half.parts(len(near), bytes_of_selection(positions.shape[1], k)):
                few = positions[some, :-1]
                sides.append(strongest_of_two(few, near[some], self._elsewhere, len(samples), k))
            report(part.stop - part.start)
        highest, lowest = (beside(side) for side in zip(*sides, strict=True))
        return highest, lowest

    def _self_influences(self, place: Place, report: Callable[[int], object]) -> Float[Tensor, " n"]:
        k = self._checked_k()
        if k == 1:
            raise ValueError(
                "`k` must be at least 2 for self-influence, got 1: the sample nearest to a sample is itself, "
                "at distance 0, where the density is infinite."
            )
        samples = self._bring(self.samples_, place)
        values = torch.empty(len(samples), dtype=place.dtype, device=place.device)
        for part, (distances, _) in nearest_by_parts(samples, samples, k + 1, place):
            values[part] = self._elsewhere + self._gains(distances)
            report(part.stop - part.start)
        return values

    def _facts(self, place: Place) -> dict[str, Any]:
        return {"k": self._checked_k(), "device": str(place.device), "precision": self.precision}

    def _bring(self, points: FloatArray, place: Place) -> Float[Tensor, "q d"]:
        # In single precision points that differ could become equal, and R_k = 0.
        return bring(points, place.device)

    def _checked_k(self) -> int:
        """The k that was asked for, which can change after the fit.

        Raises:
            ValueError: It is not a number of samples.
        """
        n = len(self.samples_)
        if isinstance(self.k, bool) or not isinstance(self.k, Integral) or self.k < 1:
            raise ValueError(f"`k` must be a whole number of at least 1, got {self.k!r}.")
        if self.k > n:
            raise ValueError(f"`k` must be at most the {n} samples, got {self.k}.")
        return int(self.k)

    @property
    def _elsewhere(self) -> float:
        """The influence of samples that are not among the nearest."""
        return math.log1p(-1 / len(self.samples_))

    def _gains(self, distances: Float[Tensor, "q _"]) -> Float[Tensor, " q"]:
        """What a sample among the k nearest has beyond that, from the k + 1 smallest distances."""
        R, beyond = distances[:, -2], distances[:, -1]
        gains = self.n_features_in_ * (beyond.log() - R.log())  # d log(R_{k+1} / R_k)
        return gains.where(beyond > R, 0.0)
