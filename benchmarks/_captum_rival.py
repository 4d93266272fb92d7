"""captum's TracInCP on a VAE, with every help it can be given, for the scores that we compute.

captum runs `model(*batch[:-1])` and `loss_fn(output, batch[-1])`; both roles share the model, but each has
a loss function of its own. So the encoder is the model, the image is also the label, and the decoder runs in
the loss function, which holds the role's draws: no draw is ever copied, the encoder runs once, and captum's
hooks see the decoder too, since they stay on while the loss is computed.

Its fast path takes the first axis for the samples. Decoder layers that accept it therefore get [n, m, d].
`ConvTranspose2d` is not among the layers it knows: those parameters are left out of its scores.
"""

import importlib
import importlib.util
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import MagicMock

import torch
from torch import Tensor, nn
from torch.nn.functional import softplus
from torch.utils.data import DataLoader, Dataset

from _workload import Workload

CARRIED = Path(__file__).parent.parent / ".carry"
PICTURES = {
    "matplotlib": ("axes", "collections", "colors", "figure", "image", "pyplot"),
    "mpl_toolkits": ("axes_grid1",),
    "PIL": ("Image",),
}


def captum_scores(work: Workload, batch_size: int, fast: bool) -> Tensor:
    """Compute ``[n, q]`` inner products of gradients with captum.

    Args:
        work: What to score.
        batch_size: How many training images captum takes at once.
        fast: `sample_wise_grads_per_batch`, or one backward pass a sample.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it warns that it sets requires_grad on the inputs
        queries = DataLoader(_Batches(work.queries, batch_size), batch_size=None)
        return _tracin(work, batch_size, fast).influence(queries).T


def captum_self_influence(work: Workload, batch_size: int, fast: bool) -> Tensor:
    """Compute ``[n]`` squared norms: captum has one gradient for both sides, so this is the biased form."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return _tracin(work, batch_size, fast).self_influence(outer_loop_by_checkpoints=True)


def _tracin(work: Workload, batch_size: int, fast: bool) -> Any:
    return _captum().TracInCP(
        _Encoder(work.vae),
        DataLoader(_Batches(work.samples, batch_size), batch_size=None),
        checkpoints=["as it stands"],
        checkpoints_load_func=lambda model, checkpoint: 1.0,
        loss_fn=_loss(work, work.noise, fast),
        test_loss_fn=_loss(work, work.query_noise, fast),
        batch_size=None,
        sample_wise_grads_per_batch=fast,
    )


class _Encoder(nn.Module):
    """The VAE, as far as its code: captum wants one output tensor."""

    def __init__(self, vae: nn.Module) -> None:
        super().__init__()
        self.vae = vae

    def forward(self, x: Tensor) -> Tensor:
        return torch.cat(self.vae.encode(x), 1)


class _Batches(Dataset):  # type: ignore[type-arg]
    """Batches that are views of one tensor on the device, so that captum's loader copies nothing."""

    def __init__(self, samples: Tensor, batch_size: int) -> None:
        self.parts = samples.split(batch_size)

    def __len__(self) -> int:
        return len(self.parts)

    def __getitem__(self, index: int) -> tuple[Tensor, Tensor]:
        if index >= len(self.parts):
            raise IndexError(index)
        return self.parts[index], self.parts[index]


def _loss(work: Workload, noise: Tensor, fast: bool) -> Callable[[Tensor, Tensor], Tensor]:
    def loss(code: Tensor, x: Tensor) -> Tensor:
        mean, log_variance = code.chunk(2, 1)
        z = mean[:, None] + (log_variance / 2).exp()[:, None] * noise  # [n, m, d]
        logits = _decode(work.vae.decoder, z)  # [n, m, pixels]
        reconstruction = (softplus(logits) - logits * x.flatten(1)[:, None]).sum(2).mean(1)
        kl = (mean.square() + log_variance.exp() - 1 - log_variance).sum(1) / 2
        losses = reconstruction + work.beta * kl
        return losses.sum() if fast else losses

    loss.reduction = "sum" if fast else "none"  # type: ignore[attr-defined]
    return loss


def _decode(decoder: nn.Sequential, z: Tensor) -> Tensor:
    n, m = z.shape[:2]
    for layer in decoder:
        if z.ndim == 3 and not isinstance(layer, nn.Linear | nn.ReLU):
            z = z.flatten(0, 1)
        z = layer(z)
    return z.reshape(n, m, -1)


def _captum() -> Any:
    """Import captum: the one installed, else the one carried beside the repository's files."""
    for package, modules in PICTURES.items():  # captum imports them at once; no score needs them
        if importlib.util.find_spec(package) is None:
            absent = [package, *(f"{package}.{module}" for module in modules)]
            sys.modules.update({name: MagicMock() for name in absent})
    if importlib.util.find_spec("captum") is None:
        sys.path.append(str(CARRIED))
    return importlib.import_module("captum.influence")
