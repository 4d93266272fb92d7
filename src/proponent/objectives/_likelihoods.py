r"""How badly the decoder's output explains a sample: $-\log P(x \mid z)$ in nats, averaged over draws.

Each likelihood compares outputs ``[n, m, *features]`` with samples ``[n, *features]`` by broadcasting, so
that samples are never copied for the draws, and returns ``[n]``. It passes over the outputs, the largest
tensors of a VAE, as few times as PyTorch's own kernels allow. Axis 1 of one output, which is axis 2 here,
holds its channels, or all its features.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor

from proponent.kernels import has_kernels
from proponent.objectives._shapes import widened


class Likelihood(ABC):
    """What the ELBO asks of a likelihood.

    Attributes:
        outputs_per_feature: How many numbers the decoder returns for each feature of a sample.
        unit_interval: Whether it explains nothing outside of [0, 1].
    """

    outputs_per_feature = 1
    unit_interval = False

    @abstractmethod
    def __call__(self, outputs: Float[Tensor, "n m ..."], x: Float[Tensor, "n ..."]) -> Float[Tensor, " n"]:
        """Compare ``[n, m, *features]`` with ``[n, *features]``."""


class Bernoulli(Likelihood):
    r"""$\sum_p \log(1 + e^{l_p}) - l_p x_p$ for logits $l$: the cross entropy of every feature.

    >>> import torch                      # a logit of 0 says nothing: log 2 nats a feature
    >>> Bernoulli()(torch.zeros(1, 1, 4), torch.tensor([[0.0, 0.2, 0.5, 1.0]])) / math.log(2)
    tensor([4.])
    """

    unit_interval = True

    def __call__(self, outputs: Float[Tensor, "n m ..."], x: Float[Tensor, "n ..."]) -> Float[Tensor, " n"]:
        """Σ softplus(l) − (Σ_draws l) x: the product with x is taken once, not for every draw."""
        # Past 40, where log1p(exp(-l)) is under half a unit in the last place of float64, softplus is l.
        if has_kernels(outputs) and outputs.dtype != torch.float64:
            from proponent.kernels._bernoulli import fused_bernoulli

            return fused_bernoulli(outputs, x)
        outputs = widened(outputs)
        surprise = _sum(F.softplus(outputs, threshold=40.0)) - _sum(outputs.sum(1) * x)
        return surprise / outputs.shape[1]


@dataclass(frozen=True)
class Gaussian(Likelihood):
    r"""$\sum_p \frac{(l_p - x_p)^2}{2 s^2} + \frac12 \log 2 \pi s^2$ for means $l$ and a fixed scale $s$.

    >>> import torch                              # at its mean, with the density 1: 0 nats
    >>> Gaussian(scale=1 / math.sqrt(2 * math.pi))(torch.ones(1, 1, 3), torch.ones(1, 3)).abs() < 1e-6
    tensor([True])
    """

    scale: float

    def __call__(self, outputs: Float[Tensor, "n m ..."], x: Float[Tensor, "n ..."]) -> Float[Tensor, " n"]:
        """Squared error over twice the variance, and the constant."""
        constant = x[0].numel() * math.log(2 * math.pi * self.scale**2) / 2
        return _squared_error(widened(outputs), x) / (2 * self.scale**2) + constant


class GaussianLearned(Likelihood):
    r"""$\frac12 \sum_p (l_p - x_p)^2 e^{-v_p} + v_p + \log 2 \pi$ for means $l$ and log variances $v$.

    The decoder returns both, means first, as the two halves of its axis 1.

    >>> import torch                                                # a standard normal at 0
    >>> GaussianLearned()(torch.zeros(1, 1, 2), torch.zeros(1, 1)) / math.log(2 * math.pi)
    tensor([0.5000])
    """

    outputs_per_feature = 2

    def __call__(
        self, outputs: Float[Tensor, "n m doubled ..."], x: Float[Tensor, "n ..."]
    ) -> Float[Tensor, " n"]:
        """Squared error over the predicted variance, its logarithm, and the constant."""
        mean, log_variance = widened(outputs).chunk(2, 2)
        residual = mean - x[:, None]
        surprise = _sum(residual.square() * (-log_variance).exp() + log_variance)
        return (surprise / outputs.shape[1] + x[0].numel() * math.log(2 * math.pi)) / 2


class SquaredError(Likelihood):
    r"""$\sum_p (\sigma(l_p) - x_p)^2$ for logits $l$: what the paper's CIFAR models were trained on.

    Up to a constant it is a Gaussian of variance 1/2 around the sigmoid; the constant is left out, as in
    the paper.

    >>> import torch
    >>> SquaredError()(torch.zeros(1, 1, 4), torch.ones(1, 4))
    tensor([1.])
    """

    unit_interval = True

    def __call__(self, outputs: Float[Tensor, "n m ..."], x: Float[Tensor, "n ..."]) -> Float[Tensor, " n"]:
        """Squared error of the sigmoid."""
        return _squared_error(widened(outputs).sigmoid(), x)


LIKELIHOODS: dict[str, Callable[[float], Likelihood]] = {
    "bernoulli": lambda scale: Bernoulli(),
    "gaussian": lambda scale: Gaussian(scale),
    "gaussian-learned": lambda scale: GaussianLearned(),
    "squared-error": lambda scale: SquaredError(),
}


def _squared_error(outputs: Tensor, x: Tensor) -> Tensor:
    # One fused kernel forward and one backward; `expand` is a view.
    errors = F.mse_loss(outputs, x[:, None].expand_as(outputs), reduction="none")
    return _sum(errors) / outputs.shape[1]


def _sum(values: Tensor) -> Tensor:
    return values.sum(tuple(range(1, values.ndim)))
