r"""Gaussians near the standard one: by moments, by natural coordinates, and the way between.

The density of $\mathcal{N}(m, C)$, against that of $\mathcal{N}(0, I)$, is

$$\log \frac{\mathcal{N}(y; m, C)}{\mathcal{N}(y; 0, I)} = h^\top y + v^\top \psi(y) - A(h, v),$$

with the Hermite polynomials $\psi$ of `Symmetric`, $C^{-1} = I - M(v)$ for the matrix $M(v)$ that has the
coordinates $v$, and $m = C h$. As $y$ and $\psi$ are orthonormal under $\mathcal{N}(0, I)$, the gradient of
this by $(h, v)$ at 0 is $(y, \psi(y))$ and its second derivative $-I$, whatever the point.
"""

from dataclasses import dataclass

from jaxtyping import Bool, Float
from torch import Tensor

from proponent.density._symmetric import Symmetric


@dataclass(frozen=True)
class Gaussians:
    """K Gaussians, in every one of a batch.

    Attributes:
        kind: Of the covariances.
        means: ``[*b, K, d]``.
        covariances: ``[*b, K, r, s]``, or ``[*b, 1, r, s]`` where the K share one.
    """

    kind: Symmetric
    means: Float[Tensor, "*b K d"]
    covariances: Float[Tensor, "*b L r s"]


@dataclass(frozen=True)
class Moments:
    r"""What a mixture's posterior r sees of its samples: the means of $r$, $r y$ and $r \psi(y)$ over them.

    Attributes:
        counts: The share of the samples that each component answers for, ``[*b, K]``.
        first: ``[*b, K, d]``.
        second: ``[*b, K, c]``, or ``[*b, 1, c]``, summed, where the components share a covariance.
        log_likelihood: The mean log-likelihood of the samples, ``[*b]``.
    """

    counts: Float[Tensor, "*b K"]
    first: Float[Tensor, "*b K d"]
    second: Float[Tensor, "*b L c"]
    log_likelihood: Float[Tensor, "*b"]


def likeliest(kind: Symmetric, moments: Moments) -> Gaussians:
    """The Gaussians of the greatest likelihood: the M-step of EM."""
    means = moments.first / moments.counts[..., None]
    squares = kind.squares(means)
    totals = moments.counts
    if moments.second.shape[-2] < means.shape[-2]:
        totals = moments.counts.sum(-1, keepdim=True)
        shares = moments.counts / totals
        squares = (shares[..., None, None] * squares).sum(-3, keepdim=True)
    spreads = kind.matrices(moments.second / totals[..., None])
    return Gaussians(kind, means, kind.identity(means) + spreads - squares)  # C = I + M(s₂/N) − m mᵀ


def expectations(gaussians: Gaussians) -> tuple[Float[Tensor, "*b K d"], Float[Tensor, "*b K c"]]:
    r"""The expectations of $y$ and $\psi(y)$, which are the gradient of $A$."""
    kind, m = gaussians.kind, gaussians.means
    return m, kind.coordinates(gaussians.covariances - kind.identity(m) + kind.squares(m))


def natural(
    gaussians: Gaussians,
) -> tuple[Float[Tensor, "*b K d"], Float[Tensor, "*b L c"], Bool[Tensor, "*b"]]:
    """The coordinates h and v, and which of the batch have them: a singular covariance has none."""
    kind, m = gaussians.kind, gaussians.means
    R, is_positive = kind.roots(gaussians.covariances)
    P = _inverse(kind, R)
    return (
        kind.apply(P, m[..., None, :]).squeeze(-2),
        kind.coordinates(kind.identity(m) - P),
        is_positive.all(-1),
    )


def from_natural(
    kind: Symmetric, h: Float[Tensor, "*b K d"], v: Float[Tensor, "*b L c"]
) -> tuple[Gaussians, Float[Tensor, "*b K"], Bool[Tensor, "*b"]]:
    """The Gaussians that have these coordinates, A, and which of the batch are Gaussians at all."""
    eye = kind.identity(h)
    P = eye - kind.matrices(v)
    R, is_positive = kind.roots(P)
    C = _inverse(kind, R)
    m = kind.apply(C, h[..., None, :]).squeeze(-2)
    A = (
        (h * m).sum(-1) / 2 - kind.log_determinant(R) - kind.trace(eye - P) / 2
    )  # ½ hᵀCh − ½ log|P| − ½ tr(I − P)
    return Gaussians(kind, m, C), A, is_positive.all(-1)


def _inverse(kind: Symmetric, roots: Float[Tensor, "*b r s"]) -> Float[Tensor, "*b r s"]:
    """The inverse of L Lᵀ."""
    W = kind.inverse_roots(roots)
    return kind.product(kind.transposed(W), W)
