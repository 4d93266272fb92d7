"""The components of a Gaussian mixture: their weights, means and covariances, and log densities."""

import math
from dataclasses import dataclass, replace

from jaxtyping import Float
from torch import Tensor

from proponent.density._gaussians import Moments
from proponent.density._place import Place
from proponent.density._symmetric import Symmetric


@dataclass(frozen=True)
class Mixture:
    r"""A Gaussian mixture.

    Attributes:
        kind: Of the covariances.
        weights: ``[K]``.
        means: ``[K, d]``.
        roots: The lower triangular $L_k$ with the covariance $L_k L_k^\top$, ``[K, r, s]``, or
            ``[1, r, s]`` where the components share one.
    """

    kind: Symmetric
    weights: Float[Tensor, " K"]
    means: Float[Tensor, "K d"]
    roots: Float[Tensor, "L r s"]

    @property
    def is_shared(self) -> bool:
        """Whether there are fewer covariances than components."""
        return len(self.roots) < len(self.weights)

    def to(self, place: Place) -> "Mixture":
        """Bring it to a place, in its numbers."""
        weights, means, roots = (
            tensor.to(device=place.device, dtype=place.dtype)
            for tensor in (self.weights, self.means, self.roots)
        )
        return Mixture(self.kind, weights, means, roots)

    def covariances(self) -> Float[Tensor, "L r s"]:
        """The covariances, as their kind holds them."""
        return self.kind.product(self.roots, self.kind.transposed(self.roots))

    def whitened(self, points: Float[Tensor, "m d"]) -> Float[Tensor, "K m d"]:
        r"""Compute $y_k = L_k^{-1} (x - \mu_k)$."""
        return self.kind.apply(self.kind.inverse_roots(self.roots), points - self.means[:, None])

    def log_joint(self, y: Float[Tensor, "K m d"]) -> Float[Tensor, "K m"]:
        r"""Compute $\log \pi_k \mathcal{N}(x; \mu_k, \Sigma_k)$ from whitened points."""
        constants = (
            self.weights.log()
            - self.kind.log_determinant(self.roots)
            - self.kind.dimension / 2 * math.log(2 * math.pi)
        )
        return constants[:, None] - y.square().sum(-1) / 2

    def log_densities(self, points: Float[Tensor, "q d"], place: Place) -> Float[Tensor, " q"]:
        """Compute log p."""
        out = points.new_empty(len(points))
        for part in place.cached.parts(len(points), _bytes_of_joint(self)):
            out[part] = self.log_joint(self.whitened(points[part])).logsumexp(0)
        return out

    def moments(self, samples: Float[Tensor, "n d"], place: Place) -> Moments:
        """Compute what the posterior sees of samples: the E-step of EM."""
        K, d = self.means.shape
        counts, first = self.weights.new_zeros(K), self.weights.new_zeros(K, d)
        squares = self.kind.identity(counts).repeat(K, 1, 1).zero_()
        total = self.weights.new_zeros(())
        for part in place.cached.parts(len(samples), _bytes_of_joint(self)):
            y = self.whitened(samples[part])
            joint = self.log_joint(y)
            likelihood = joint.logsumexp(0)
            r = (joint - likelihood).exp()
            total += likelihood.sum()
            counts += r.sum(-1)
            first += (r[:, None] @ y).squeeze(-2)
            squares += self.kind.moments(r, y)
        n = len(samples)
        second = self.kind.coordinates(squares - counts[:, None, None] * self.kind.identity(counts))
        if self.is_shared:
            second = second.sum(0, keepdim=True)
        return Moments(counts / n, first / n, second / n, total / n)

    def moved(
        self, weights: Float[Tensor, " K"], means: Float[Tensor, "K d"], roots: Float[Tensor, "L r s"]
    ) -> "Mixture":
        """The mixture whose components are given in the whitened spaces of these."""
        moved = self.means + self.kind.apply(self.roots, means[:, None]).squeeze(1)
        return replace(
            self, weights=weights / weights.sum(), means=moved, roots=self.kind.product(self.roots, roots)
        )


def _bytes_of_joint(mixture: Mixture) -> int:
    """What is held of a point while it is seen from all components: offsets, squares, log densities."""
    K, d = mixture.means.shape
    return mixture.means.itemsize * K * (4 * d + 4)
