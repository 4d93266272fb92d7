r"""The encoder's distribution, $Q(z \mid x) = \mathcal N(\mu, \operatorname{diag} \sigma^2)$."""

import torch
from jaxtyping import Float
from torch import Tensor

Code = Float[Tensor, "n d"]
Codes = Float[Tensor, "n m d"]
Draws = Float[Tensor, "m d"] | Float[Tensor, "n m d"]


def kl_to_prior(mean: Code, log_variance: Code) -> Float[Tensor, " n"]:
    r"""$D(Q \| P) = \frac12 \sum_k \mu_k^2 + \sigma_k^2 - 1 - \log \sigma_k^2$, for the prior $N(0, I)$.

    >>> kl_to_prior(torch.zeros(1, 3), torch.zeros(1, 3))
    tensor([0.])
    >>> kl_to_prior(torch.full((1, 3), 2.0), torch.zeros(1, 3))
    tensor([6.])
    """
    return (mean.square() + log_variance.exp() - 1 - log_variance).sum(1) / 2


def reparameterise(mean: Code, log_variance: Code, noise: Draws) -> Codes:
    r"""Codes $z = \mu + \sigma \varepsilon$, m for each sample."""
    return torch.addcmul(mean[:, None], (log_variance / 2).exp()[:, None], noise)


def log_density(z: Codes, mean: Code, log_variance: Code) -> Float[Tensor, "n m"]:
    r"""$\log Q(z \mid x)$ without the constant $-\frac d2 \log 2\pi$, which the prior has too."""
    distance = (z - mean[:, None]).square() * (-log_variance).exp()[:, None]
    return -(distance + log_variance[:, None]).sum(2) / 2


def log_prior(z: Codes) -> Float[Tensor, "n m"]:
    r"""$\log P_{\text{latent}}(z)$ without the same constant."""
    return -z.square().sum(2) / 2
