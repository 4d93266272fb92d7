"""What a variational autoencoder must offer."""

from typing import Protocol, cast, runtime_checkable

from torch import Tensor, nn


@runtime_checkable
class VAE(Protocol):
    """Any `torch.nn.Module` with these three, such as one of yours.

    Attributes:
        latent_dim: The number of latent dimensions, d.
    """

    latent_dim: int

    def encode(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Give the mean and the log variance of each sample's code, both ``[n, d]``."""

    def decode(self, z: Tensor) -> Tensor:
        """Turn codes ``[n, d]`` into the likelihood's parameters: logits, or means."""


def check_vae(model: nn.Module) -> VAE:
    """Give the model back if it has all that a VAE must have.

    Raises:
        TypeError: Names what is missing.
    """
    missing = [f"`{name}`" for name in ("encode", "decode", "latent_dim") if not hasattr(model, name)]
    if missing:
        raise TypeError(
            "`model` must be a VAE with `encode(x) -> (mean, log_variance)`, `decode(z)` and `latent_dim`, "
            f"but the {type(model).__name__} has no {' and no '.join(missing)}. Add what is missing, or "
            "write the loss as a function of your own and wrap it with `pp.objective`."
        )
    return cast(VAE, model)
