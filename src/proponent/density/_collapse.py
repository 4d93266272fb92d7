r"""When a component has collapsed: the same in a fit as in refits without a sample.

As a covariance becomes singular the likelihood grows without bound, and EM never ends. Of a component's
variances, relative to those of all samples, what counts is the sum of the inverses,

$$\operatorname{tr}(\Sigma_k^{-1} \Sigma),$$

which depends neither on the unit nor on the coordinates, and is linear in natural ones. It is beyond `LIMIT`
where a component is less than $10^{-7}$ as wide as all samples in some direction: then numbers, which differ
by $10^{-16}$, have half of their digits at most for what differs within the component.
"""

import torch
from jaxtyping import Float
from torch import Tensor

from proponent.density._place import Place
from proponent.density._symmetric import Symmetric

LIMIT = 1e14
FEWEST = 1e-8  # samples: a component with fewer has vanished


def spread_of(kind: Symmetric, samples: Float[Tensor, "n d"], place: Place) -> Float[Tensor, "r s"]:
    """The root of the covariance of all samples, of the kind that components have."""
    n, mean = len(samples), samples.mean(0)
    covariance = torch.zeros_like(kind.identity(samples))
    for part in place.cached.parts(n, 4 * samples.itemsize * samples.shape[1]):
        covariance += kind.moments(samples.new_full((part.stop - part.start,), 1 / n), samples[part] - mean)
    return kind.roots(covariance)[0]


def thinness(
    kind: Symmetric, roots: Float[Tensor, "*b r s"], spread: Float[Tensor, "r s"]
) -> Float[Tensor, "*b"]:
    """The sum of the inverses of variances; no number, or infinite, where a root is singular."""
    W = kind.product(kind.inverse_roots(roots), spread)
    return kind.trace(kind.product(W, kind.transposed(W)))


def natural_thinness(
    kind: Symmetric,
    roots: Float[Tensor, "L r s"],
    spread: Float[Tensor, "r s"],
    v: Float[Tensor, "*b L c"],
) -> Float[Tensor, "*b L"]:
    r"""The same of Gaussians whose inverse covariances are $I - M(v)$ in the whitened spaces of others."""
    W = kind.product(kind.inverse_roots(roots), spread)
    seen = kind.product(W, kind.transposed(W))
    return kind.trace(seen) - 2 * (v * kind.coordinates(seen)).sum(-1)  # ½ ⟨M(v), A⟩ = v · v(A)
