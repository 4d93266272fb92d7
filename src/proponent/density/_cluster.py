"""A spherical Gaussian, fitted to some of the samples so that neither size nor place of the data matters."""

import math
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from proponent.density._place import Place
from proponent.scores import FloatArray, Positions


@dataclass(frozen=True, eq=False)
class Cluster:
    r"""The likeliest spherical Gaussian for some samples, $\mathcal{N}(\mu, \sigma^2 I)$.

    Points are taken from `centre`, which costs them nothing: it is a float64 number near the mean. What is
    left of the mean is `offset`. So the figures of a cluster far from the origin are as good as those of one
    at the origin, and rounding of the mean does not stand in the variance.

    Attributes:
        count: How many samples.
        centre: A point near their mean.
        offset: Of the mean from `centre`.
        deviation: $\sigma$; exactly 0 if all samples are the same, and `centre` is then that very point.
        radius: No sample is further from the mean.
    """

    count: int
    centre: FloatArray
    offset: FloatArray
    deviation: float
    radius: float

    @classmethod
    def of(cls, samples: FloatArray, members: Positions, place: Place) -> "Cluster":
        """Fit it to the samples at the positions `members`."""
        n, d = len(members), samples.shape[1]
        first = samples[members[0]]
        # A sample, its difference, and what is compared or squared.
        parts = [members[part] for part in place.parts(n, 8 * 3 * d)]
        total, differ = np.zeros(d), False
        for part in parts:
            total += (samples[part] - first).sum(0)
            differ = differ or bool((samples[part] != first).any())
        if not differ:
            return cls(n, first, np.zeros(d), 0.0, 0.0)
        centre = first + total / n
        total, squares, largest = np.zeros(d), 0.0, 0.0
        for part in parts:
            differences = samples[part] - centre
            total += differences.sum(0)
            each = np.einsum("ij,ij->i", differences, differences)
            squares, largest = squares + float(each.sum()), max(largest, float(each.max()))
        offset = total / n
        beside = float(offset @ offset)  # a rounding error, squared
        # Σ|x - μ|² = Σ|x - c|² - n|μ - c|²
        deviation = math.sqrt((squares - n * beside) / (n * d))
        return cls(n, centre, offset, deviation, math.sqrt(largest) + math.sqrt(beside))

    @property
    def mean(self) -> FloatArray:
        r"""$\mu$, rounded."""
        return self.centre + self.offset

    def whiten(self, points: Float[Tensor, "m d"]) -> Float[Tensor, "m d"]:
        r"""Compute $(x - \mu) / \sigma$ in float64."""
        differences = points.double() - torch.as_tensor(self.centre, device=points.device)
        return (differences - torch.as_tensor(self.offset, device=points.device)) / self.deviation

    def log_densities(self, points: Float[Tensor, "m d"]) -> Float[Tensor, " m"]:
        """Compute the log density in float64; where the deviation is 0, it is infinite at the one point."""
        if self.deviation == 0:
            there = (points.double() == torch.as_tensor(self.centre, device=points.device)).all(1)
            return torch.where(there, torch.inf, -torch.inf).double()
        squares = self.whiten(points).square().sum(1)
        return -squares / 2 - points.shape[1] * (math.log(2 * math.pi) / 2 + math.log(self.deviation))
