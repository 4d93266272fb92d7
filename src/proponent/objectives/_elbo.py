"""The loss of a beta-VAE."""

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import torch
from torch import Tensor, nn

from proponent.data import Batch, check_finite
from proponent.kernels import has_kernels
from proponent.models import VAE, check_vae
from proponent.objectives._gaussian_code import kl_to_prior, log_density, log_prior, reparameterise
from proponent.objectives._likelihoods import LIKELIHOODS, Likelihood
from proponent.objectives._objective import Objective
from proponent.objectives._shapes import aligned, check_code, checked_noise, one_tensor, widened

_PARTS = ("all", "reconstruction", "kl")
_ESTIMATORS = ("pathwise", "score-function")


@dataclass(frozen=True, kw_only=True)
class Elbo(Objective):
    r"""The negative evidence lower bound, weighted by beta (the paper's equation for $L_\beta$), in nats.

    $$\ell_\beta(x; \theta) = \beta \, D\big(Q_\psi(\cdot \mid x) \,\|\, \mathcal N(0, I)\big)
      - \frac1m \sum_{j=1}^m \log P_\phi\big(x \mid \mu + \sigma \varepsilon_j\big),$$

    with the encoder's $Q_\psi(\cdot \mid x) = \mathcal N(\mu, \operatorname{diag} \sigma^2)$ and the draws
    $\varepsilon_j$ in the noise. The divergence is summed over the latent dimensions and known in closed
    form; the likelihood is summed over the features.

    | likelihood | $-\log P_\phi(x \mid z)$ of one feature | the decoder returns |
    |---|---|---|
    | ``bernoulli`` | $\log(1 + e^l) - l x$ | a logit $l$ |
    | ``gaussian`` | $(l - x)^2 / 2 s^2 + \frac12 \log 2 \pi s^2$ | a mean $l$ |
    | ``gaussian-learned`` | $\frac12 \big((l - x)^2 e^{-v} + v + \log 2 \pi\big)$ | a mean $l$ and a log variance $v$, the two halves of its axis 1 |
    | ``squared-error`` | $(\operatorname{sigmoid}(l) - x)^2$ | a logit $l$ |

    **Estimators.** ``pathwise`` differentiates through $\mu + \sigma \varepsilon$, as the paper's published
    runs did. ``score-function`` has the same value, and the gradients that the paper's text derives,
    $U = -\nabla_\phi \log P_\phi(x \mid z)$ for the decoder and, for the encoder,

    $$V = \nabla_\psi \log Q_\psi(z \mid x) \left(\beta \log \frac{Q_\psi(z \mid x)}{P_{\text{latent}}(z)}
      - \log P_\phi(x \mid z)\right), \quad z = \mu + \sigma \varepsilon \text{ held fixed}.$$

    Both have the same expectation, but the variance of $V$ is thousands of times larger: it is there for the
    record and for tests.

    A model that returns zeros puts N(0, 1) on the code, so that the divergence is 0, and a logit of 0 on
    every feature, which costs log 2:

    >>> vae = torch.nn.Identity()
    >>> vae.latent_dim = 2
    >>> vae.encode = lambda x: (torch.zeros(len(x), 2), torch.zeros(len(x), 2))
    >>> vae.decode = lambda z: torch.zeros(len(z), 5)
    >>> Elbo(beta=4.0)(vae, torch.ones(3, 5), torch.zeros(1, 2)) / math.log(2)
    tensor([5., 5., 5.])

    Args:
        beta: The weight of the divergence.
        likelihood: One of the table's.
        scale: The standard deviation $s$ of ``gaussian``.
        part: ``"all"``; or ``"reconstruction"`` or ``"kl"``, the two terms, which add up to the whole (the
            second holds beta).
        estimator: ``"pathwise"`` or ``"score-function"``.

    Raises:
        ValueError: An argument is none of those named, `beta` is negative, `scale` isn't positive, or `scale`
            is given for a likelihood that has none.
    """  # noqa: E501 (a table's rows don't break)

    beta: float = 1.0
    likelihood: str = "bernoulli"
    scale: float = 1.0
    part: str = "all"
    estimator: str = "pathwise"

    def __post_init__(self) -> None:
        _check_choice("likelihood", self.likelihood, tuple(LIKELIHOODS))
        _check_choice("part", self.part, _PARTS)
        _check_choice("estimator", self.estimator, _ESTIMATORS)
        if not 0 <= self.beta < math.inf:
            raise ValueError(f"`beta` must be a number of at least 0, got {self.beta}.")
        if not 0 < self.scale < math.inf:
            raise ValueError(f"`scale` must be a positive number, got {self.scale}.")
        if self.scale != 1.0 and self.likelihood != "gaussian":
            raise ValueError(
                f'`scale` belongs to `likelihood="gaussian"`, got scale={self.scale} for '
                f'"{self.likelihood}", which would ignore it. Leave it out.'
            )

    def __call__(self, model: nn.Module, batch: Batch, noise: Tensor | None) -> Tensor:
        """Compute the losses ``[n]``.

        Args:
            model: A VAE: `encode`, `decode` and `latent_dim`.
            batch: Samples ``[n, ...]``, which the encoder gets as they are.
            noise: Standard normal draws ``[m, d]`` that all samples share, or ``[n, m, d]``.

        Raises:
            TypeError: The model is no VAE, or the batch not one tensor.
            ValueError: The shapes of code, noise, outputs and samples don't fit each other.
        """
        return self.at_beta(model, batch, noise, self.beta)

    def at_beta(self, model: nn.Module, batch: Batch, noise: Tensor | None, beta: Tensor | float) -> Tensor:
        """Compute the losses under another beta, which may be a tensor, such as one for each model."""
        vae, x = check_vae(model), one_tensor(batch)
        mean, log_variance = vae.encode(x)
        check_code(mean, log_variance, (len(x), vae.latent_dim))
        decoded_in = mean.dtype
        mean, log_variance = widened(mean), widened(log_variance)
        if not self._needs_noise:
            return beta * kl_to_prior(mean, log_variance)
        noise = checked_noise(noise, len(x), vae.latent_dim)
        if self.estimator == "score-function":
            z = reparameterise(mean, log_variance, noise)
            return self._score_function(vae, x, z.detach(), mean, log_variance, beta)
        z, kl = _code_and_kl(mean, log_variance, noise)
        losses = self._reconstruction(vae, x, z.to(decoded_in))
        return losses if self.part == "reconstruction" else losses + beta * kl

    def noise_shape(self, model: nn.Module) -> tuple[int, ...] | None:
        """One number for each latent dimension; none for a divergence in closed form.

        Raises:
            TypeError: The model is no VAE.
        """
        latent_dim = check_vae(model).latent_dim
        return (latent_dim,) if self._needs_noise else None

    @property
    def per_sample_noise(self) -> bool:
        """The losses take draws of each sample's own, too."""
        return True

    def describe(self) -> Mapping[str, Any]:
        """Name the objective and all its arguments."""
        return {"objective": "Elbo"} | asdict(self)

    @property
    def unit(self) -> str:
        """Nats; but a squared error is no log likelihood."""
        has_squares = self.likelihood == "squared-error" and self.part != "kl"
        return "units of the loss" if has_squares else "nats"

    def check_batch(self, batch: Batch) -> None:
        """Refuse samples that the likelihood doesn't explain; ``part="kl"`` has none to ask.

        Raises:
            TypeError: It isn't one tensor, or holds integers.
            ValueError: It has no axis of features, holds NaN or infinity, or numbers outside of [0, 1] for a
                likelihood that lives there.
        """
        x = one_tensor(batch)
        if not x.is_floating_point():
            raise TypeError(
                f"`samples` must be floating-point numbers, got {x.dtype}. For images in bytes use "
                "`images.float() / 255`."
            )
        if x.ndim < 2:
            raise ValueError(
                f"`samples` must have an axis of features after that of the samples, got shape "
                f"{tuple(x.shape)}. For a single feature use `samples[:, None]`."
            )
        check_finite(x)
        low, high = (float(bound) for bound in x.aminmax())
        if self.part != "kl" and self._likelihood.unit_interval and (low < 0 or high > 1):
            raise ValueError(
                f'`samples` must lie in [0, 1] for `likelihood="{self.likelihood}"`, got numbers from '
                f'{low:g} to {high:g}. Rescale them, or choose `likelihood="gaussian"`.'
            )

    @property
    def _likelihood(self) -> Likelihood:
        return LIKELIHOODS[self.likelihood](self.scale)

    @property
    def _needs_noise(self) -> bool:
        return self.part != "kl" or self.estimator == "score-function"

    def _reconstruction(self, vae: VAE, x: Tensor, z: Tensor) -> Tensor:
        """−1/m Σ_j log P(x | z_j) for codes ``[n, m, d]``; sample-major, so that nothing is transposed."""
        likelihood = self._likelihood
        outputs = vae.decode(z.flatten(0, 1))
        outputs, x = aligned(outputs, x, likelihood.outputs_per_feature)
        return likelihood(outputs.reshape(*z.shape[:2], *outputs.shape[1:]), x)

    def _score_function(
        self, vae: VAE, x: Tensor, z: Tensor, mean: Tensor, log_variance: Tensor, beta: Tensor | float
    ) -> Tensor:
        """A surrogate: its value is the loss, its gradient U for the decoder and V for the encoder."""
        n, m = z.shape[:2]
        log_q = log_density(z, mean, log_variance)
        losses, signal = mean.new_zeros(n), torch.zeros_like(log_q)
        if self.part != "kl":
            each = self._reconstruction(vae, x.repeat_interleave(m, 0), z.flatten(0, 1)[:, None])
            each = each.reshape(n, m)
            losses, signal = losses + each.mean(1), signal + each
        if self.part != "reconstruction":
            losses = losses + (beta * kl_to_prior(mean, log_variance)).detach()
            signal = signal + beta * (log_q - log_prior(z))
        return losses + ((log_q - log_q.detach()) * signal.detach()).mean(1)


def _code_and_kl(mean: Tensor, log_variance: Tensor, noise: Tensor) -> tuple[Tensor, Tensor]:
    if has_kernels(mean) and mean.dtype == torch.float32:
        from proponent.kernels._gaussian_code import fused_code

        return fused_code(mean, log_variance, noise)
    return reparameterise(mean, log_variance, noise), kl_to_prior(mean, log_variance)


def _check_choice(name: str, value: str, choices: tuple[str, ...]) -> None:
    if value not in choices:
        named = ", ".join(f'"{choice}"' for choice in choices)
        raise ValueError(f'`{name}` must be one of {named}, got "{value}".')
