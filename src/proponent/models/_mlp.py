"""The multilayer beta-VAE of the paper's experiments on MNIST."""

import math
from itertools import pairwise

import torch
from torch import Tensor, nn

from proponent.models._initialisation import initialise


class MLPVAE(nn.Module):
    r"""A VAE of two multilayer perceptrons, whose widths follow from the latent dimension d.

    The encoder has widths data, 8d, 4d, 2d and 2d, of which the first half are the code's mean and the
    second its log variance; the decoder d, 2d, 4d, 8d and data. ReLU stands between the layers.

    >>> vae = MLPVAE(data_dim=784, latent_dim=128)
    >>> sum(parameter.numel() for parameter in vae.parameters())
    3019280

    Args:
        data_dim: The number of features of a sample, or the shape of one, such as ``(1, 28, 28)``.
            Samples may come in any shape of as many numbers; `decode` returns them in this one.
        latent_dim: The number of latent dimensions, d.
        learned_variance: Whether the decoder returns a mean and a log variance for each feature, the two
            halves of axis 1, as ``likelihood="gaussian-learned"`` wants them.
        generator: Where the first parameters come from. Without one they are the same every time.

    Raises:
        ValueError: A size is under 1.
    """

    def __init__(
        self,
        data_dim: int | tuple[int, ...],
        latent_dim: int,
        *,
        learned_variance: bool = False,
        generator: torch.Generator | None = None,
    ) -> None:
        super().__init__()
        shape = (data_dim,) if isinstance(data_dim, int) else tuple(data_dim)
        if not shape or min(shape) < 1:
            raise ValueError(f"`data_dim` must be a size, or sizes, of at least 1, got {data_dim}.")
        if latent_dim < 1:
            raise ValueError(f"`latent_dim` must be at least 1, got {latent_dim}.")
        d, features = latent_dim, math.prod(shape)
        self.latent_dim = latent_dim
        self.features = features
        self.output_shape = (shape[0] * 2, *shape[1:]) if learned_variance else shape
        with torch.device("meta"):  # no numbers are drawn before `initialise`
            self.encoder = _perceptron(features, 8 * d, 4 * d, 2 * d, 2 * d)
            self.decoder = _perceptron(d, 2 * d, 4 * d, 8 * d, math.prod(self.output_shape))
        self.to_empty(device="cpu")
        initialise(self, generator)

    def encode(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Give the mean and the log variance of each sample's code, both ``[n, d]``.

        Raises:
            ValueError: The samples don't have the model's number of features.
        """
        x = x.flatten(1)
        if x.shape[1] != self.features:
            raise ValueError(
                f"Samples must have {self.features} features for this MLPVAE, got {x.shape[1]}. "
                f"Make the model with `data_dim={x.shape[1]}`."
            )
        mean, log_variance = self.encoder(x).chunk(2, 1)
        return mean, log_variance

    def decode(self, z: Tensor) -> Tensor:
        """Turn codes ``[n, d]`` into logits ``[n, *data_dim]``."""
        logits: Tensor = self.decoder(z)
        return logits.reshape(-1, *self.output_shape)

    def forward(self, x: Tensor) -> Tensor:
        """Reconstruct samples from the mean of their code, as logits."""
        return self.decode(self.encode(x)[0])


def _perceptron(*widths: int) -> nn.Sequential:
    layers: list[nn.Module] = []
    for width, following in pairwise(widths):
        layers += [nn.Linear(width, following), nn.ReLU()]
    return nn.Sequential(*layers[:-1])
