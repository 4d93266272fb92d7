"""How samples, code, noise and outputs of a VAE must fit each other."""

import math

import torch
from torch import Tensor

from proponent.data import Batch


def one_tensor(batch: Batch) -> Tensor:
    """Give the batch back if it is a single tensor."""
    if not isinstance(batch, Tensor):
        raise TypeError(
            f"`samples` must be one tensor for the ELBO, got a {type(batch).__name__}. Pass the part that "
            "the encoder reads, or write the loss as a function of your own and wrap it with `pp.objective`."
        )
    return batch


def check_code(mean: Tensor, log_variance: Tensor, expected: tuple[int, int]) -> None:
    """Refuse a code that isn't a mean and a log variance for each sample and latent dimension."""
    if mean.shape != expected or log_variance.shape != expected:
        raise ValueError(
            f"`model.encode` must return a mean and a log variance of shape {expected}, [n, latent_dim], "
            f"got {tuple(mean.shape)} and {tuple(log_variance.shape)}."
        )


def checked_noise(noise: Tensor | None, n: int, d: int) -> Tensor:
    """Give the noise back if its shape fits n samples and d latent dimensions."""
    if noise is not None and noise.ndim >= 2 and noise.shape[-1] == d and noise.shape[:-2] in ((), (n,)):
        return noise
    got = "none" if noise is None else f"shape {tuple(noise.shape)}"
    raise ValueError(
        f"`noise` must hold draws [m, {d}] for all samples, or [{n}, m, {d}] for each, got {got}."
    )


def widened(values: Tensor) -> Tensor:
    """At least float32: what is summed over thousands of features in half precision is lost."""
    return values.to(torch.promote_types(values.dtype, torch.float32))


def aligned(outputs: Tensor, x: Tensor, outputs_per_feature: int) -> tuple[Tensor, Tensor]:
    """Bring outputs and samples to the same features: as they are, or flat where that can't mix axes up."""
    features, got = tuple(x.shape[1:]), tuple(outputs.shape[1:])
    expected = (features[0] * outputs_per_feature, *features[1:])
    if got == expected:
        return outputs, x
    one_is_flat = math.prod(got) == math.prod(expected) and 1 in (len(got), len(features))
    if one_is_flat or _long_axes(got) == _long_axes(expected):
        return outputs.flatten(1), x.flatten(1)
    raise ValueError(
        f"`model.decode` must return {expected} for samples of shape {features}, or as many numbers in one "
        f"axis, got {got}. Permute or reshape the samples, or what the decoder returns."
    )


def _long_axes(shape: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(size for size in shape if size > 1)
