"""Steps in a row, one after the other from Python."""

from collections.abc import Callable

import torch
from torch import Tensor

from proponent.randomness import keyed_seed
from proponent.training._samples import Samples
from proponent.training._step import Step

# (first step, positions [k, ...], noise [k, ...] or none) -> the losses [k] or [k, members], before each step
Runner = Callable[[int, Tensor, Tensor | None], Tensor]


def run_steps(step: Step, data: Samples, positions: Tensor, noise: Tensor | None) -> Tensor:
    """Make k steps whose samples are gathered at once; this is what a CUDA graph captures.

    Returns:
        The mean losses of the batches, ``[k]`` or ``[k, members]``.
    """
    losses = [
        step(batch, None if noise is None else noise[i], positions.shape[1:])
        for i, batch in enumerate(data.batches(positions))
    ]
    return torch.stack(losses).mean(-1)


class Eager:
    """Runs step by step, each with torch's own generators set to a key, for layers that draw, like dropout.

    Args:
        step: One step.
        data: All samples, on the device.
        seed: The key's first part.
    """

    def __init__(self, step: Step, data: Samples, seed: int) -> None:
        self.step, self.data, self.seed = step, data, seed

    def __call__(self, first: int, positions: Tensor, noise: Tensor | None) -> Tensor:
        """Make the steps from `first` on."""
        losses = []
        for i in range(len(positions)):
            seed_torch(self.seed, first + i, self.step.device)
            row = slice(i, i + 1)
            losses.append(
                run_steps(self.step, self.data, positions[row], None if noise is None else noise[row])
            )
        return torch.cat(losses)


def seed_torch(seed: int, step: int, device: torch.device) -> None:
    """Set the generator from which layers on a device draw."""
    key = keyed_seed(seed, "training", "layers", step)
    if device.type == "cuda":
        with torch.cuda.device(device):
            torch.cuda.manual_seed(key)
    else:
        torch.default_generator.manual_seed(key)
