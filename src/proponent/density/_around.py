r"""Many mixtures around one, as linear functions of its features.

In the coordinates of a fit (`Coordinates`) the log density of a component of mixture b is linear in the
features of a point,

$$a_k(x; \theta_b) = a_k(x; 0) + h_{bk}^\top y_k + v_{bk}^\top \psi(y_k) - A(h_{bk}, v_{bk}),$$

so that what B mixtures say of some points is one matrix product, and what they see of them another.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from proponent.density._collapse import FEWEST, LIMIT, natural_thinness, spread_of
from proponent.density._components import Mixture
from proponent.density._coordinates import Coordinates
from proponent.density._curvature import Curvature
from proponent.density._gaussians import Gaussians, Moments, expectations, from_natural, likeliest, natural
from proponent.density._place import Place


@dataclass(frozen=True)
class Seen:
    """What mixtures see of their samples.

    Attributes:
        log_likelihood: The mean, ``[B]``.
        gradient: Of it, ``[B, P]``.
        norm: Of the gradient, ``[B]``.
        target: Where a step of EM leads, ``[B, P]``.
        is_regular: Whether no component collapses or vanishes there, ``[B]``.
    """

    log_likelihood: Float[Tensor, " B"]
    gradient: Float[Tensor, "B P"]
    norm: Float[Tensor, " B"]
    target: Float[Tensor, "B P"]
    is_regular: Bool[Tensor, " B"]

    def of(self, chosen: Tensor) -> "Seen":
        """Some of them."""
        return Seen(*(part[chosen] for part in self._parts()))

    def where(self, chosen: Tensor, others: "Seen") -> "Seen":
        """These where chosen, others elsewhere."""
        pairs = zip(self._parts(), others._parts(), strict=True)
        return Seen(*(torch.where(chosen[(..., *[None] * (a.ndim - 1))], a, b) for a, b in pairs))

    def _parts(self) -> tuple[Tensor, ...]:
        return self.log_likelihood, self.gradient, self.norm, self.target, self.is_regular


@dataclass(frozen=True)
class Around:
    """A fit, and what lies around it.

    Attributes:
        mixture: The fit.
        curvature: Of its likelihood.
        samples: What it is fitted to.
        place: Where to compute.
    """

    mixture: Mixture
    curvature: Curvature
    samples: Float[Tensor, "n d"]
    place: Place

    @property
    def at(self) -> Coordinates:
        """The coordinates in which the fit lies at 0."""
        return Coordinates.near(self.mixture)

    @cached_property
    def spread(self) -> Float[Tensor, "r s"]:
        """The root of the covariance of all samples."""
        return spread_of(self.mixture.kind, self.samples, self.place)

    def mixture_at(self, point: Float[Tensor, " P"]) -> Mixture:
        """The mixture that has these coordinates."""
        lines = _Lines.at(self, point[None])
        roots, _ = self.mixture.kind.roots(lines.gaussians.covariances[0])
        return self.mixture.moved(lines.weights[0], lines.gaussians.means[0], roots)

    def point_of(self, mixture: Mixture) -> Float[Tensor, " P"]:
        """The coordinates of a mixture."""
        here, kind = self.mixture, self.mixture.kind
        W = kind.inverse_roots(here.roots)
        means = kind.apply(W, (mixture.means - here.means)[:, None]).squeeze(1)
        R = kind.product(W, mixture.roots)
        h, v, _ = natural(Gaussians(kind, means, kind.product(R, kind.transposed(R))))
        return self.at.point((mixture.weights / here.weights).log(), h, v)

    def log_densities(self, x: Float[Tensor, "m d"], points: Float[Tensor, "B P"]) -> Float[Tensor, "m B"]:
        """Compute log p of mixtures around here."""
        lines = _Lines.at(self, points)
        out = x.new_empty(len(x), len(points))
        for part in self.chunks(len(x), len(points)):
            out[part] = lines.log_joint(*self._features(x[part])).logsumexp(0)
        return out

    def seen(self, points: Float[Tensor, "B P"], left_out: Int[Tensor, " B"]) -> Seen:
        """Compute what mixtures see of all samples but one each."""
        kind, at, n = self.mixture.kind, self.at, len(self.samples) - 1
        lines = _Lines.at(self, points)
        K, B = lines.offsets.shape
        total, counts = points.new_zeros(B), points.new_zeros(K, B)
        sums = points.new_zeros(lines.slopes.shape)
        for part in self.chunks(len(self.samples), B):
            U, base = self._features(self.samples[part])
            r = lines.log_joint(U, base)
            highest = r.amax(0)
            r.sub_(highest).exp_()
            sizes = r.sum(0)
            r /= sizes
            likelihood = highest + sizes.log_()
            own = ((left_out >= part.start) & (left_out < part.stop)).nonzero().squeeze(-1)
            r[:, left_out[own] - part.start, own] = 0
            likelihood[left_out[own] - part.start, own] = 0
            total += likelihood.sum(0)
            counts += r.sum(1)
            sums += U.mT @ r
        counts = counts.T / n
        sums = sums.permute(2, 0, 1) / n
        first, second = sums[..., : kind.dimension], sums[..., kind.dimension :]
        y, psi = expectations(lines.gaussians)
        gradients = first - counts[..., None] * y, second - counts[..., None] * psi
        if at.is_shared:
            second, gradients = second.sum(1, keepdim=True), (gradients[0], gradients[1].sum(1, keepdim=True))
        gradient = at.gradient(counts - lines.weights, *gradients)
        h, v, is_positive = natural(likeliest(kind, Moments(counts, first, second, total / n)))
        thin = natural_thinness(kind, self.mixture.roots, self.spread, v).amax(1)
        is_regular = is_positive & (thin < LIMIT) & (counts.amin(1) * n > FEWEST)
        target = at.point((counts / self.mixture.weights).log(), h, v)
        return Seen(total / n, gradient, gradient.norm(dim=1), target, is_regular & target.isfinite().all(1))

    def _features(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """The features of points, ``[K, m, f]``, and what the fit says of them, ``[K, m]``."""
        y = self.mixture.whitened(x)
        return torch.cat([y, self.mixture.kind.features(y)], -1), self.mixture.log_joint(y)

    def chunks(self, count: int, mixtures: int) -> Iterator[slice]:
        """Few enough points at a time for so many mixtures."""
        kind = self.mixture.kind
        features = 1 + kind.dimension + kind.count
        numbers = len(self.mixture.weights) * (4 * features + 3 * mixtures)
        return self.place.share(1 / 2).cached.parts(count, numbers * self.place.itemsize)


@dataclass(frozen=True)
class _Lines:
    """The log densities of the components of B mixtures, as linear functions of features.

    Attributes:
        slopes: ``[K, f, B]``.
        offsets: ``[K, B]``.
        weights: Of the components, ``[B, K]``.
        gaussians: The components.
    """

    slopes: Tensor
    offsets: Tensor
    weights: Tensor
    gaussians: Gaussians

    @classmethod
    def at(cls, around: Around, points: Tensor) -> "_Lines":
        mixture = around.mixture
        logits, h, v = around.at.split(points)
        gaussians, A, is_positive = from_natural(mixture.kind, h, v)
        logits = (mixture.weights.log() + logits).log_softmax(-1)
        offsets = (logits - mixture.weights.log() - A).masked_fill(~is_positive[:, None], torch.nan)
        slopes = torch.cat([h, v.expand(-1, h.shape[1], -1)], -1)
        return cls(slopes.permute(1, 2, 0).contiguous(), offsets.T.contiguous(), logits.exp(), gaussians)

    def log_joint(self, features: Tensor, base: Tensor) -> Tensor:
        """The log densities times the weights, ``[K, m, B]``."""
        return torch.baddbmm(base[..., None] + self.offsets[:, None], features, self.slopes)
