r"""The order and the scale of a mixture's free coordinates.

Near a mixture with weights $\pi$, another one is given by what is added to the logits of the weights,
$\alpha_k$, and by the natural coordinates of each component in the whitened space of the first, $h_k$ and
$v_k$. Each is multiplied by $\sqrt{\pi_k}$; coordinates that the components share are not. A sample whose
component is known then has the information matrix I, so that one unit means the same in every direction.
"""

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from proponent.density._components import Mixture


@dataclass(frozen=True)
class Coordinates:
    """How P numbers make K triples of logit, h and v.

    Attributes:
        scales: The roots of the weights, ``[K]``.
        dimension: d.
        count: How many coordinates a covariance has.
        is_shared: Whether all components have the same v.
    """

    scales: Float[Tensor, " K"]
    dimension: int
    count: int
    is_shared: bool

    @classmethod
    def near(cls, mixture: Mixture) -> "Coordinates":
        """Those in which a mixture lies at 0."""
        kind = mixture.kind
        return cls(mixture.weights.sqrt(), kind.dimension, kind.count, mixture.is_shared)

    @property
    def width(self) -> int:
        """How many coordinates belong to one component alone."""
        return 1 + self.dimension + (0 if self.is_shared else self.count)

    @property
    def total(self) -> int:
        """P."""
        return len(self.scales) * self.width + (self.count if self.is_shared else 0)

    def point(
        self, logits: Float[Tensor, "*b K"], h: Float[Tensor, "*b K d"], v: Float[Tensor, "*b L c"]
    ) -> Float[Tensor, "*b P"]:
        """The coordinates of a mixture."""
        return self._packed(logits, h, v, self.scales)

    def gradient(
        self, logits: Float[Tensor, "*b K"], h: Float[Tensor, "*b K d"], v: Float[Tensor, "*b L c"]
    ) -> Float[Tensor, "*b P"]:
        """The gradient by the coordinates, from that by logits, h and v."""
        return self._packed(logits, h, v, self.scales.reciprocal())

    def split(
        self, point: Float[Tensor, "*b P"]
    ) -> tuple[Float[Tensor, "*b K"], Float[Tensor, "*b K d"], Float[Tensor, "*b L c"]]:
        """What is added to the logits, h and v."""
        K = len(self.scales)
        own = point[..., : K * self.width].reshape(*point.shape[:-1], K, self.width) / self.scales[:, None]
        h, v = own[..., 1 : 1 + self.dimension], own[..., 1 + self.dimension :]
        if self.is_shared:
            v = point[..., None, K * self.width :]
        return own[..., 0], h, v

    def _packed(self, logits: Tensor, h: Tensor, v: Tensor, scales: Tensor) -> Tensor:
        own = [logits[..., None], h] if self.is_shared else [logits[..., None], h, v]
        flat = (torch.cat(own, -1) * scales[:, None]).flatten(-2)
        return torch.cat([flat, v.squeeze(-2)], -1) if self.is_shared else flat
