"""The paper's two beta-VAEs, and what the library asks of any other."""

from proponent.models._conv import ConvVAE
from proponent.models._mlp import MLPVAE
from proponent.models._vae import VAE, check_vae

__all__ = ["MLPVAE", "VAE", "ConvVAE", "check_vae"]
