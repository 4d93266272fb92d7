"""Which samples and which noise each step of training sees, from the seed alone.

Samples are shuffled anew for every epoch and dealt out without replacement; what is left over at the end of
an epoch and fills no batch is dropped, as in the paper. Nothing depends on the steps before: any block of
steps can be drawn by itself, so a training that was stopped goes on as if it had not been, and one that is
over can be replayed. Numbers come from the device's own generator, so a CPU and a GPU see other draws.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from proponent.randomness import keyed_seed

_LONGEST_BLOCK = 256
_NUMBERS_IN_BLOCK = 2**23


@dataclass(frozen=True)
class Stream:
    """The batches and the noise of one training.

    >>> stream = Stream(seed=0, sample_count=10, batch_size=3, noise_shape=(1, 2))
    >>> indices, noise = stream.block(0)
    >>> indices.shape, noise.shape, indices[:3].flatten().unique().numel()
    (torch.Size([256, 3]), torch.Size([256, 1, 2]), 9)

    Attributes:
        seed: Everything follows from it.
        sample_count: How many samples there are to deal out.
        batch_size: How many a step sees; at most as many as there are.
        noise_shape: The shape of a step's noise, draws included, or none.
        device: Where the numbers are drawn: its type is part of what they are.
        dtype: Of the noise; it is drawn in float64 and rounded, so precisions see the same draws.
    """

    seed: int
    sample_count: int
    batch_size: int
    noise_shape: tuple[int, ...] | None = None
    device: torch.device = torch.device("cpu")  # noqa: RUF009 (immutable)
    dtype: torch.dtype = torch.float32

    @property
    def block_length(self) -> int:
        """How many steps are drawn at once: a power of 2 that keeps the noise of a block moderate."""
        numbers = math.prod(self.noise_shape or (1,))
        return 1 << max(0, min(_LONGEST_BLOCK, _NUMBERS_IN_BLOCK // numbers).bit_length() - 1)

    def block(self, number: int) -> tuple[Tensor, Tensor | None]:
        """Draw a block of k steps: positions ``[k, batch_size]`` and noise ``[k, *noise_shape]``."""
        return self._positions(number), self._noise(number)

    def step(self, step: int) -> tuple[Tensor, Tensor | None]:
        """The positions and the noise that step `step`, counted from 0, sees."""
        number, row = divmod(step, self.block_length)
        positions, noise = self.block(number)
        return positions[row], None if noise is None else noise[row]

    def describe(self) -> dict[str, Any]:
        """What a replay needs, fit for JSON."""
        return {
            "seed": self.seed,
            "sample_count": self.sample_count,
            "batch_size": self.batch_size,
            "noise_shape": None if self.noise_shape is None else list(self.noise_shape),
            "device": self.device.type,
            "dtype": str(self.dtype).removeprefix("torch."),
        }

    @classmethod
    def from_description(cls, record: Mapping[str, Any]) -> "Stream":
        """Take up what `describe` gave."""
        shape = record["noise_shape"]
        return cls(
            record["seed"],
            record["sample_count"],
            record["batch_size"],
            None if shape is None else tuple(shape),
            torch.device(record["device"]),
            getattr(torch, record["dtype"]),
        )

    def _positions(self, number: int) -> Tensor:
        length, per_chunk = self.block_length, self._epochs_per_chunk * self._batches_per_epoch
        first, end = number * length, (number + 1) * length
        chunks = range(first // per_chunk, (end - 1) // per_chunk + 1)
        rows = torch.cat([self._chunk(chunk) for chunk in chunks])
        skipped = first - chunks[0] * per_chunk
        return rows[skipped : skipped + length]

    def _chunk(self, number: int) -> Tensor:
        """The batches ``[epochs * batches, batch_size]`` of some epochs, each a permutation cut in pieces."""
        generator = self._generator("order", number)
        shape = (self._epochs_per_chunk, self.sample_count)
        keys = torch.rand(shape, generator=generator, device=self.device, dtype=torch.float64)
        order = keys.argsort(stable=True)[:, : self._batches_per_epoch * self.batch_size]
        return order.reshape(-1, self.batch_size)

    def _noise(self, number: int) -> Tensor | None:
        if self.noise_shape is None:
            return None
        generator = self._generator("noise", number)
        shape = (self.block_length, *self.noise_shape)
        noise = torch.randn(shape, generator=generator, device=self.device, dtype=torch.float64)
        return noise.to(self.dtype)

    @property
    def _batches_per_epoch(self) -> int:
        return self.sample_count // self.batch_size

    @property
    def _epochs_per_chunk(self) -> int:
        return -(-self.block_length // self._batches_per_epoch)

    def _generator(self, what: str, number: int) -> torch.Generator:
        seed = keyed_seed(self.seed, "training", what, number)
        return torch.Generator(self.device).manual_seed(seed)
