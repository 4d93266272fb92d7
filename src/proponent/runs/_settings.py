"""What a run can be asked to be, and from the tables of a run to its model and its objective."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch
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


@dataclass(frozen=True)
class Settings:
    """What a training is asked to be; what is none is chosen, as `run.toml` then says.

    Attributes:
        model: ``"mlp"`` or ``"conv"``.
        latent_dim: Latent dimensions.
        beta: The weight of the divergence; 1 is the ELBO itself.
        likelihood: Of the data.
        scale: The standard deviation of a Gaussian likelihood.
        steps: Training steps.
        checkpoints: How many to keep, evenly spaced.
        optimizer: ``"adam"`` or ``"sgd"``.
        learning_rate: The rate of every step.
        batch_size: Samples a step sees.
        draws: Draws of noise a step averages over.
        seed: First parameters, batches and noise follow from it.
        precision: Of the arithmetic.
        device: Such as ``"cpu"`` or ``"cuda"``.
    """

    model: str | None = None
    latent_dim: int | None = None
    beta: float | None = None
    likelihood: str | None = None
    scale: float | None = None
    steps: int | None = None
    checkpoints: int | None = None
    optimizer: str | None = None
    learning_rate: float | None = None
    batch_size: int | None = None
    draws: int | None = None
    seed: int | None = None
    precision: str | None = None
    device: str | None = None


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
    from proponent.randomness import keyed_generator

    return model_from(model, likelihood, sample_shape, keyed_generator(seed, "first parameters"))


def model_from(
    model: Mapping[str, Any], likelihood: str, sample_shape: Sequence[int], generator: "torch.Generator"
) -> "nn.Module":
    """Build a model of the same kind from other first parameters.

    Args:
        model: The table `model`.
        likelihood: That of the objective.
        sample_shape: The shape of one sample.
        generator: Where the first parameters come from.

    Raises:
        ValueError: There is no such model, or it can't take such samples.
    """
    from proponent.models import MLPVAE, ConvVAE

    learned = likelihood == Likelihood.GAUSSIAN_LEARNED
    if model["name"] == Model.MLP:
        return MLPVAE(tuple(sample_shape), model["latent_dim"], learned_variance=learned, generator=generator)
    if model["name"] == Model.CONV:
        if len(sample_shape) != 3:
            raise ValueError(
                "The data must be pictures [n, channels, height, width] for `--model conv`, got samples of "
                f"shape {tuple(sample_shape)}. Use `--model mlp`."
            )
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
