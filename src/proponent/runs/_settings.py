"""From the tables of a run to its model and its objective."""

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from torch import nn

    from proponent.objectives import Elbo


class Model(StrEnum):
    """The models that a command builds."""

    MLP = "mlp"
    CONV = "conv"


class Likelihood(StrEnum):
    """The likelihoods of the ELBO."""

    BERNOULLI = "bernoulli"
    GAUSSIAN = "gaussian"
    GAUSSIAN_LEARNED = "gaussian-learned"
    SQUARED_ERROR = "squared-error"


class Optimizer(StrEnum):
    """The optimisers that a command trains with."""

    ADAM = "adam"
    SGD = "sgd"


class Precision(StrEnum):
    """The precisions that a command computes in."""

    FLOAT32 = "float32"
    FLOAT64 = "float64"
    TF32 = "tf32"
    BFLOAT16 = "bfloat16"


class Weights(StrEnum):
    """What a checkpoint's part of a score is weighted by."""

    PHYSICAL = "physical"
    UNIT = "unit"


class Metric(StrEnum):
    """The metrics in which gradients are compared."""

    TRAINED = "trained"
    IDENTITY = "identity"
    ADAM = "adam"


def build_model(
    model: Mapping[str, Any], likelihood: str, sample_shape: Sequence[int], seed: int
) -> "nn.Module":
    """Build the model of a run at its first parameters.

    Args:
        model: The table `model`: name and latent dimension.
        likelihood: That of the objective; a learned variance doubles the decoder's outputs.
        sample_shape: The shape of one sample.
        seed: What the first parameters come from.

    Raises:
        ValueError: There is no such model, or it can't take such samples.
    """
    from proponent.models import MLPVAE, ConvVAE
    from proponent.randomness import keyed_generator

    learned = likelihood == Likelihood.GAUSSIAN_LEARNED
    generator = keyed_generator(seed, "first parameters")
    if model["name"] == Model.MLP:
        return MLPVAE(tuple(sample_shape), model["latent_dim"], learned_variance=learned, generator=generator)
    if model["name"] == Model.CONV:
        channels, height, width = sample_shape
        return ConvVAE(
            model["latent_dim"], channels, (height, width), learned_variance=learned, generator=generator
        )
    raise ValueError(f"`model` must be one of {', '.join(Model)}, got {model['name']!r}.")


def build_objective(table: Mapping[str, Any]) -> "Elbo":
    """Build the objective of a run.

    Args:
        table: The table `objective`.
    """
    from proponent.objectives import Elbo

    return Elbo(
        beta=float(table["beta"]), likelihood=table["likelihood"], scale=float(table.get("scale", 1.0))
    )


def default_device(device: str | None) -> str:
    """The device by name; a GPU where there is one unless given."""
    import torch

    return device or ("cuda" if torch.cuda.is_available() else "cpu")
