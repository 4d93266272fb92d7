"""What the score benchmarks work on: a paper's model after a short training, images, both roles' draws."""

import copy
from collections.abc import Callable
from dataclasses import dataclass, replace

import torch
from torch import Tensor, nn
from torch.nn.functional import interpolate

from _harness import Settings
from proponent.gradients import GradientCapture, inner_products, paired_products, prepare_queries
from proponent.models import MLPVAE, ConvVAE
from proponent.objectives import Elbo
from proponent.randomness import keyed_generator, keyed_normal, keyed_seed

QUERIES, DRAWS, LATENT = 128, 16, 128  # the paper's


@dataclass(frozen=True)
class Workload:
    """Everything that the scores at one checkpoint depend on.

    Attributes:
        vae: The model, trained for a moment so that it is no longer at a random start.
        beta: The weight of the KL.
        samples: Training images.
        queries: Images that are asked about.
        noise: ``[m, d]`` draws of the role train.
        query_noise: The same for the role query.
    """

    vae: nn.Module
    beta: float
    samples: Tensor
    queries: Tensor
    noise: Tensor
    query_noise: Tensor

    @property
    def objective(self) -> Elbo:
        """The negative ELBO with a Bernoulli likelihood."""
        return Elbo(beta=self.beta, likelihood="bernoulli")

    def first(self, samples: int, queries: int = QUERIES) -> "Workload":
        """The same with fewer samples and queries."""
        return replace(self, samples=self.samples[:samples], queries=self.queries[:queries])

    def double(self) -> "Workload":
        """The same numbers in float64."""
        names = ("samples", "queries", "noise", "query_noise")
        tensors = {name: getattr(self, name).double() for name in names}
        return replace(self, vae=copy.deepcopy(self.vae).double(), **tensors)


def mlp_workload(settings: Settings, samples: int, queries: int = QUERIES) -> Workload:
    """The paper's multilayer perceptron on images of 28 x 28."""
    latent = 4 if settings.smoke else LATENT
    generator = keyed_generator(settings.seed, "model")
    vae = MLPVAE(data_dim=784, latent_dim=latent, generator=generator)
    return _workload(vae, 4.0, (1, 28, 28), settings, samples, queries)


def conv_workload(settings: Settings, samples: int, queries: int = QUERIES) -> Workload:
    """The paper's convolutional model on images of 3 x 64 x 64."""
    latent, size = (4, 16) if settings.smoke else (LATENT, 64)
    generator = keyed_generator(settings.seed, "model")
    vae = ConvVAE(latent_dim=latent, size=size, generator=generator)
    return _workload(vae, 2.0, (3, size, size), settings, samples, queries)


def our_scores(work: Workload, batch_size: int, precision: str = "float32") -> Callable[[], Tensor]:
    """Prepare our side; each call computes ``[n, q]`` anew, from the parameters on."""
    capture = GradientCapture(work.vae, work.objective, precision=precision)
    capture.prepare(work.samples[:batch_size], work.noise)

    def scores() -> Tensor:
        asked = prepare_queries(capture(work.queries, work.query_noise))
        return torch.cat(
            [inner_products(capture(part, work.noise), asked) for part in work.samples.split(batch_size)]
        )

    return scores


def our_self_influence(work: Workload, batch_size: int, precision: str = "float32") -> Callable[[], Tensor]:
    """Prepare our side; each call computes ``[n]`` anew, unbiased, from the two halves of the draws."""
    capture = GradientCapture(work.vae, work.objective, precision=precision)
    halves = work.noise.chunk(2)
    capture.prepare(work.samples[:batch_size], halves[0])

    def scores() -> Tensor:
        return torch.cat(
            [
                paired_products(*(capture(part, half) for half in halves))
                for part in work.samples.split(batch_size)
            ]
        )

    return scores


def _workload(
    vae: nn.Module, beta: float, shape: tuple[int, int, int], settings: Settings, samples: int, queries: int
) -> Workload:
    vae, seed = vae.to(settings.device), settings.seed
    flat = isinstance(vae, MLPVAE)
    images = [
        _images(count, shape, settings, role) for count, role in ((samples, "samples"), (queries, "queries"))
    ]
    noise = [
        keyed_normal((DRAWS, vae.latent_dim), seed, role).to(settings.device) for role in ("train", "query")
    ]
    work = Workload(vae, beta, *((part.flatten(1) if flat else part) for part in images), *noise)
    _train(work, 2 if settings.smoke else 100)
    return work


def _images(count: int, shape: tuple[int, int, int], settings: Settings, role: str) -> Tensor:
    """Soft shapes on a black ground, about a fifth of the pixels lit, as in handwriting."""
    generator = torch.Generator(settings.device).manual_seed(keyed_seed(settings.seed, role))
    channels, *size = shape
    coarse = torch.randn(count, channels, 7, 7, generator=generator, device=settings.device)
    parts = [
        interpolate(part, size, mode="bilinear").sub(0.6).mul(8).sigmoid() for part in coarse.split(1000)
    ]
    return torch.cat(parts)


def _train(work: Workload, steps: int) -> None:
    optimizer = torch.optim.Adam(work.vae.parameters(), lr=1e-3)
    for batch in (work.samples[k * 64 % len(work.samples) :][:64] for k in range(steps)):
        optimizer.zero_grad()
        work.objective(work.vae, batch, work.noise[:1]).mean().backward()
        optimizer.step()
