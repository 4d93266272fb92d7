r"""The curvature of a mixture's mean log-likelihood, and the scores that go with it.

With the log densities $a_k$ of the components, the posterior $r_k$ and the gradient $J_k$ of $\alpha_k + a_k$
in the coordinates of `Coordinates`,

$$\nabla \log p = \sum_k r_k J_k - \nabla \log \textstyle\sum_k e^{\alpha_k}, \qquad
H = I - \frac{1}{n} \sum_i \Big( \sum_k r_{ik} J_{ik} J_{ik}^\top - \bar J_i \bar J_i^\top \Big)$$

with $\bar J_i = \sum_k r_{ik} J_{ik}$: the information of samples whose component is known, which is $I$,
less what is lost as it is not (Louis, 1982). Away from an optimum the entries of the I for a component are
its share of the samples over its weight. One direction adds the same to all logits and changes nothing; H
gets a curvature of 1 there.

The eigenvalues of H lie in (0, 1] at a strict maximum, and EM converges to it at the rate of 1 less the
smallest.
"""

from dataclasses import dataclass, replace

import torch
from jaxtyping import Float
from torch import Tensor

from proponent.density._components import Mixture
from proponent.density._coordinates import Coordinates
from proponent.density._place import Place
from proponent.memory import free_memory, in_words

_SMALLEST = 1e-10  # relative to a curvature of 1
_KRYLOV = 40


@dataclass(frozen=True)
class Curvature:
    """The curvature at an optimum.

    Attributes:
        root: The lower triangular root of H, ``[P, P]``; none where H is the identity.
        smallest: The smallest eigenvalue of H.
    """

    root: Float[Tensor, "P P"] | None
    smallest: float

    def on(self, device: torch.device) -> "Curvature":
        """The same on a device."""
        return self if self.root is None else replace(self, root=self.root.to(device))

    def solve(self, scores: Float[Tensor, "m P"]) -> Float[Tensor, "m P"]:
        """Compute H⁻¹ G, row by row."""
        if self.root is None:
            return scores
        return torch.cholesky_solve(scores.T, self.root).T

    def lengths(self, scores: Float[Tensor, "m P"]) -> Float[Tensor, " m"]:
        """Compute Gᵀ H⁻¹ G, row by row."""
        if self.root is not None:
            scores = torch.linalg.solve_triangular(self.root, scores.T, upper=False).T
        return scores.square().sum(-1)


def curvature(mixture: Mixture, samples: Float[Tensor, "n d"], place: Place) -> Curvature:
    """Compute the curvature at an optimum.

    Args:
        mixture: The optimum.
        samples: What it is fitted to.
        place: Where.

    Raises:
        ValueError: It is no strict maximum, or there are too many parameters for the machine.
    """
    if len(mixture.weights) == 1:
        return Curvature(None, 1.0)  # all components are known
    if not has_room(mixture, place):
        raise ValueError(
            f"The mixture has {Coordinates.near(mixture).total} parameters, and the influence needs their "
            f"Hessian and its root, {in_words(_bytes(mixture))}, but the machine has "
            f"{in_words(free_memory(place.device))} free. Use fewer components, or a `covariance_type` with "
            'fewer parameters, such as "diag".'
        )
    H = hessian(mixture, samples, mixture.moments(samples, place).counts, place)
    root, failed = torch.linalg.cholesky_ex(H)
    smallest = 0.0 if failed else _smallest(root)
    if smallest < _SMALLEST:
        raise ValueError(
            "The mixture must be at a strict maximum of the likelihood, but it is curved upwards or not at "
            "all in some direction. Two components may be the same, or one may do nothing. Use fewer "
            "components, or another `random_state` or `init_params`."
        )
    return Curvature(root, smallest)


def has_room(mixture: Mixture, place: Place) -> bool:
    """Whether the machine has room for H and its root."""
    return _bytes(mixture) <= free_memory(place.device)


def scores(mixture: Mixture, y: Float[Tensor, "K m d"]) -> Float[Tensor, "m P"]:
    r"""Compute the gradients G of $\log p$ at whitened points, in the mixture's coordinates."""
    at = Coordinates.near(mixture)
    G = _parts(mixture, y)[0]
    G[:, : len(at.scales) * at.width : at.width] -= at.scales  # G = J̄ − (√π, 0)
    return G


def bytes_of_scores(mixture: Mixture) -> int:
    """What is held of a point while `scores` are computed: features, gradients, and their copies."""
    kind = mixture.kind
    return mixture.means.itemsize * 6 * len(mixture.weights) * (1 + kind.dimension + kind.count)


def hessian(
    mixture: Mixture, samples: Float[Tensor, "n d"], counts: Float[Tensor, " K"], place: Place
) -> Float[Tensor, "P P"]:
    """Compute H.

    Args:
        mixture: Where.
        samples: What it is fitted to.
        counts: The share of the samples that each component answers for.
        place: Has the budget for chunks; H itself comes on top.
    """
    at = Coordinates.near(mixture)
    K, w, P = len(counts), at.width, at.total
    own = K * w
    H = counts.new_zeros(P, P)
    blocks = H[:own, :own].view(K, w, K, w)  # splits axes, so it needs no copy
    for part in place.cached.parts(len(samples), 2 * bytes_of_scores(mixture)):
        J_mean, r, J, J_shared = _parts(mixture, mixture.whitened(samples[part]))
        H.addmm_(J_mean.T, J_mean)
        rJ = r[..., None] * J
        within = J.mT @ rJ  # Σ_i r_ik J_ik J_ikᵀ
        for k in range(K):
            blocks[k, :, k] -= within[k]
        if at.is_shared:
            across = (rJ.mT @ J_shared).flatten(0, 1)
            H[:own, own:] -= across
            H[own:, :own] -= across.T
            H[own:, own:] -= (r[..., None] * J_shared).flatten(0, 1).T @ J_shared.flatten(0, 1)
    H /= len(samples)
    known = H.new_ones(P)
    known[:own].view(K, w)[:, 1:] *= (counts / mixture.weights)[:, None]
    H.diagonal().add_(known)
    return H


def _parts(mixture: Mixture, y: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """The mean of J over components, the posterior, J's part for one component, and for all."""
    at = Coordinates.near(mixture)
    r = mixture.log_joint(y).softmax(0)
    psi = mixture.kind.features(y)
    own = [torch.ones_like(y[..., :1]), y] if at.is_shared else [torch.ones_like(y[..., :1]), y, psi]
    J = torch.cat(own, -1) / at.scales[:, None, None]
    J_mean = (r[..., None] * J).transpose(0, 1).flatten(1)
    if at.is_shared:
        J_mean = torch.cat([J_mean, (r[..., None] * psi).sum(0)], -1)
    return J_mean, r, J, psi


def _smallest(root: Tensor) -> float:
    """The smallest eigenvalue of L Lᵀ, by Lanczos' method on its inverse."""
    P = len(root)
    vector = torch.arange(P, dtype=root.dtype, device=root.device).cos()  # along no axis, and always the same
    basis, images = [vector / vector.norm()], []
    for _ in range(min(P, _KRYLOV)):
        images.append(torch.cholesky_solve(basis[-1][:, None], root).squeeze(-1))
        Q, vector = torch.stack(basis), images[-1]
        for _ in range(2):  # the second time against rounding
            vector = vector - Q.T @ (Q @ vector)
        if vector.norm() < _SMALLEST * images[-1].norm():
            break
        basis.append(vector / vector.norm())
    T = torch.stack(images) @ torch.stack(basis[: len(images)]).T
    return 1 / float(torch.linalg.eigvalsh((T + T.T) / 2)[-1])


def _bytes(mixture: Mixture) -> int:
    """What H, its root, and a copy on the way to it take."""
    return 3 * 8 * Coordinates.near(mixture).total ** 2
