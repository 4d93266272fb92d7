"""The convolutional beta-VAE of the paper's experiments on CIFAR."""

import torch
from torch import Tensor, nn

from proponent.models._initialisation import initialise


class ConvVAE(nn.Module):
    r"""A convolutional VAE for images.

    The encoder halves the image four times, by kernels of 4 at stride 2 (channels-32-32-64-64), covers
    what is left with one kernel (64-256), and ends in a linear layer; the decoder mirrors it. ReLU stands
    between the layers. At the paper's size of 64 every kernel is 4.

    >>> vae = ConvVAE(latent_dim=64)
    >>> sum(parameter.numel() for parameter in vae.parameters())
    806915

    Args:
        latent_dim: The number of latent dimensions, d.
        channels: The number of channels of an image.
        size: The height and width of an image: one number, or two. Each is a multiple of 16.
        learned_variance: Whether the decoder returns a mean and a log variance for each number, the two
            halves of the channels, as ``likelihood="gaussian-learned"`` wants them.
        generator: Where the first parameters come from. Without one they are the same every time.

    Raises:
        ValueError: A size is under 1, or the image can't be halved four times.
    """

    def __init__(
        self,
        latent_dim: int,
        channels: int = 3,
        size: int | tuple[int, int] = 64,
        *,
        learned_variance: bool = False,
        generator: torch.Generator | None = None,
    ) -> None:
        super().__init__()
        height, width = (size, size) if isinstance(size, int) else size
        if latent_dim < 1 or channels < 1:
            raise ValueError(
                f"`latent_dim` and `channels` must be at least 1, got {latent_dim} and {channels}."
            )
        if height < 16 or width < 16 or height % 16 or width % 16:
            raise ValueError(
                f"`size` must be a multiple of 16, as the image is halved four times, got {size}. "
                "Resize or pad the images."
            )
        self.latent_dim = latent_dim
        self.image_shape = (channels, height, width)
        rest = (height // 16, width // 16)
        outputs = channels * 2 if learned_variance else channels
        with torch.device("meta"):  # no numbers are drawn before `initialise`
            self.encoder = nn.Sequential(
                nn.Conv2d(channels, 32, 4, stride=2, padding=1),
                nn.ReLU(),
                nn.Conv2d(32, 32, 4, stride=2, padding=1),
                nn.ReLU(),
                nn.Conv2d(32, 64, 4, stride=2, padding=1),
                nn.ReLU(),
                nn.Conv2d(64, 64, 4, stride=2, padding=1),
                nn.ReLU(),
                nn.Conv2d(64, 256, rest),
                nn.ReLU(),
                nn.Flatten(),
                nn.Linear(256, 2 * latent_dim),
            )
            self.decoder = nn.Sequential(
                nn.Linear(latent_dim, 256),
                nn.ReLU(),
                nn.Unflatten(1, (256, 1, 1)),
                nn.ConvTranspose2d(256, 64, rest),
                nn.ReLU(),
                nn.ConvTranspose2d(64, 64, 4, stride=2, padding=1),
                nn.ReLU(),
                nn.ConvTranspose2d(64, 32, 4, stride=2, padding=1),
                nn.ReLU(),
                nn.ConvTranspose2d(32, 32, 4, stride=2, padding=1),
                nn.ReLU(),
                nn.ConvTranspose2d(32, outputs, 4, stride=2, padding=1),
            )
        self.to_empty(device="cpu")
        initialise(self, generator)

    def encode(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Give the mean and the log variance of each image's code, both ``[n, d]``.

        Raises:
            ValueError: The images don't have the model's shape.
        """
        if x.shape[1:] != self.image_shape:
            raise ValueError(
                f"Samples must be images of shape {self.image_shape} for this ConvVAE, "
                f"got {tuple(x.shape[1:])}. Resize them, or make the model with their `channels` and `size`."
            )
        mean, log_variance = self.encoder(x).chunk(2, 1)
        return mean, log_variance

    def decode(self, z: Tensor) -> Tensor:
        """Turn codes ``[n, d]`` into logits ``[n, channels, height, width]``."""
        logits: Tensor = self.decoder(z)
        return logits

    def forward(self, x: Tensor) -> Tensor:
        """Reconstruct images from the mean of their code, as logits."""
        return self.decode(self.encode(x)[0])
