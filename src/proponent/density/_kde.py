"""Kernel density estimation, with every sample's influence exact."""

import math
from collections.abc import Callable
from numbers import Real
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import torch
from jaxtyping import Float
from torch import Tensor

from proponent.density._bring import bring
from proponent.density._density import Density, Writer
from proponent.density._input import plain
from proponent.density._kernel_influence import fill_influence, self_influence
from proponent.density._log_sum import log_sums_at, log_sums_without_self
from proponent.density._pairs import Kernels, check_reach, reach_of
from proponent.density._place import Place
from proponent.scores import FloatArray

# scikit-learn's rules, by the numbers of samples and dimensions.
_RULES: dict[str, Callable[[int, int], float]] = {
    "scott": lambda n, d: float(n ** (-1 / (d + 4))),
    "silverman": lambda n, d: float((n * (d + 2) / 4) ** (-1 / (d + 4))),
}


class KernelDensity(Density):
    r"""A Gaussian kernel on every sample; what it estimates is what scikit-learn's `KernelDensity` does.

    $$p(z; X) = \frac{1}{W} \sum_i w_i \, \mathcal{N}(z; x_i, h^2 I), \qquad W = \sum_i w_i,$$

    with weights $w_i$ of 1 unless given. Leaving a sample out takes its kernel away and shares its weight out
    among the others, at the same bandwidth h. With $r_i$, the sample's share of the sum at z,

    $$S(x_i, z) = \log \frac{W - w_i}{W} - \log (1 - r_i), \qquad
        r_i = \frac{w_i \, \mathcal{N}(z; x_i, h^2 I)}{\sum_j w_j \, \mathcal{N}(z; x_j, h^2 I)}$$

    (equation "kde influence" of the paper, with weights). A sample that is near z is a proponent, one that is
    far an opponent, by $\log((n - 1) / n)$ at most where weights are equal. All is computed from
    logarithms: a query's density may be too small for any number, and a sample may have all but nothing of
    the sum, so that without it the density falls by thousands of nats. The influence is infinite only where
    no other sample has any weight.

    >>> density = KernelDensity(bandwidth=1.0).fit([[0.0], [1.0], [50.0]])
    >>> density.influence([[0.0]]).values.T  # log 2/3, and log(1 + e^(1/2)), log(1 + e^(-1/2)) more
    array([[ 0.5686...,  0.0686..., -0.4054...]])
    >>> density.self_influence().values.round(2)  # without the third, nothing is within 49 deviations of it
    array([5.70000e-01, 5.70000e-01, 1.20009e+03])

    Args:
        bandwidth: h, a positive number; or "scott" or "silverman", the rules for it by numbers of samples and
            dimensions, which take the data to have a deviation of about 1.
        device: Where to compute; the CPU unless given.
        precision: "float64" or "float32", of products and influences. In float32 logarithms of densities are
            right to 1e-2 at the worst, and 1e-4 as a rule.
        memory_budget: What chunks may take at a time, such as ``"2GiB"``, beside samples, queries and the
            result; a share of what is free unless given.

    Attributes:
        bandwidth_: h.
        samples_: The samples that it was fitted to, ``[n, d]``.
        n_features_in_: d.
    """

    bandwidth_: float

    _fractions: FloatArray | None
    _centre: FloatArray
    _reach: float
    _method: ClassVar[str] = "kernel density"

    def __init__(
        self,
        bandwidth: float | int | str = 1.0,
        *,
        device: torch.device | str | None = None,
        precision: str = "float64",
        memory_budget: int | str | None = None,
    ) -> None:
        self.bandwidth = bandwidth
        self.device = device
        self.precision = precision
        self.memory_budget = memory_budget

    def fit(
        self, X: npt.ArrayLike, y: Any = None, sample_weight: npt.ArrayLike | None = None
    ) -> "KernelDensity":
        """Fit to samples, ``[n, d]``.

        Args:
            X: The samples.
            y: There are no labels; it is here as scikit-learn's pipelines hand it over.
            sample_weight: How much each counts, ``[n]``; their scale does not matter.

        Raises:
            ValueError: The samples or weights can't be used, or the bandwidth can't be used with them.
        """
        self._take(X)
        self._fractions = None if sample_weight is None else _fractions(sample_weight, len(self.samples_))
        self._estimate(self._place())
        return self

    def _estimate(self, place: Place) -> None:
        self.bandwidth_ = _bandwidth(self.bandwidth, *self.samples_.shape)
        self._centre = self.samples_.mean(0)
        self._reach = reach_of(
            torch.from_numpy(self.samples_), torch.from_numpy(self._centre), self.bandwidth_
        )
        check_reach(self._reach, self.bandwidth_, place.dtype)

    def _log_densities(self, queries: Float[Tensor, "q d"], place: Place) -> Float[Tensor, " q"]:
        n, d = len(self.samples_), self.n_features_in_
        normaliser = d * (math.log(self.bandwidth_) + math.log(2 * math.pi) / 2)
        if self._fractions is None:
            normaliser += math.log(n)
        return log_sums_at(self._kernels(place), queries) * math.log(2) - normaliser

    def _check_removal(self) -> None:
        if len(self.samples_) < 2:
            raise ValueError(
                "`influence` needs at least 2 samples, as leaving one out must leave another, but the "
                "estimate was fitted to 1 sample."
            )

    def _writer(self, queries: Float[Tensor, "q d"], place: Place) -> Writer:
        kernels, remaining = self._kernels(place), self._remaining(place)
        return lambda part, out: fill_influence(kernels, queries[part], remaining, out)

    def _self_influences(self, place: Place, report: Callable[[int], object]) -> Float[Tensor, " n"]:
        kernels = self._kernels(place)
        others = log_sums_without_self(kernels, report)
        return self_influence(kernels, others, self._remaining(place)).to(place.dtype)

    def _facts(self, place: Place) -> dict[str, Any]:
        return {
            "bandwidth": self.bandwidth_,
            "weighted": self._fractions is not None,
            "device": str(place.device),
            "precision": self.precision,
        }

    def _bring(self, points: FloatArray, place: Place) -> Float[Tensor, "q d"]:
        """Hand over points in float64: they are rounded when they have been centred."""
        return bring(points, place.device)

    def _kernels(self, place: Place) -> Kernels:
        weights = None if self._fractions is None else bring(self._fractions, place.device).log2()
        points, centre = bring(self.samples_, place.device), bring(self._centre, place.device)
        return Kernels(points, weights, self.bandwidth_, centre, self._reach, place)

    def _remaining(self, place: Place) -> Float[Tensor, " m"]:
        """The logarithm of the weight that is left without each sample, or without any, as a share of all."""
        if self._fractions is None:
            left = np.array([math.log1p(-1 / len(self.samples_))])
        else:
            left = _log_remaining(self._fractions)
        return bring(left, place.device)


def _bandwidth(asked: Any, n: int, d: int) -> float:
    """Read the parameter.

    Raises:
        ValueError: It is neither a positive number nor a rule.
    """
    if isinstance(asked, str) and asked in _RULES:
        return _RULES[asked](n, d)
    h = float(asked) if isinstance(asked, Real) and not isinstance(asked, bool) else math.nan
    if not np.finfo(float).tiny <= h < math.inf:
        raise ValueError(f'`bandwidth` must be a positive number, "scott" or "silverman", got {asked!r}.')
    return h


def _fractions(sample_weight: Any, n: int) -> FloatArray:
    """The samples' shares of all weight.

    Raises:
        ValueError: They aren't n weights, or not weights.
    """
    weights = np.asarray(plain(sample_weight), dtype=np.float64)
    if weights.shape != (n,):
        raise ValueError(
            f"`sample_weight` must be one weight for each of the {n} samples, got shape {weights.shape}."
        )
    bad = np.flatnonzero(~((weights >= 0) & (weights < np.inf)))
    if len(bad):
        raise ValueError(
            f"`sample_weight` must be finite and not negative, but sample {bad[0]} has {weights[bad[0]]:g}."
        )
    if not weights.any():
        raise ValueError("`sample_weight` must have a positive weight, but all of them are zero.")
    weights = weights / weights.max()
    return np.asarray(weights / weights.sum())


def _log_remaining(fractions: FloatArray) -> FloatArray:
    """log(1 − ω), of which at most one ω is so near 1 that its difference from it must be the others' sum."""
    heavy = int(fractions.argmax())
    rest = np.delete(fractions, heavy).sum()
    left = np.log1p(-np.minimum(fractions, 0.5))
    if fractions[heavy] > 0.5:
        left[heavy] = math.log(rest) if rest > 0 else -math.inf
    return left
