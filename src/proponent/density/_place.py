"""Where an estimator computes, in which numbers, and in how much memory."""

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from proponent.memory import default_budget, for_tensors, parse_bytes
from proponent.scores import FloatArray

PRECISIONS = {"float64": torch.float64, "float32": torch.float32}


@dataclass(frozen=True)
class Place:
    """Where and how to compute.

    Attributes:
        device: On it chunks are made; samples and results may lie elsewhere.
        dtype: Of the numbers.
        budget: The bytes that chunks may take at a time, beside samples, queries and the result.
    """

    device: torch.device
    dtype: torch.dtype
    budget: int

    @classmethod
    def asked_for(
        cls, device: torch.device | str | None, precision: str, memory_budget: int | str | None
    ) -> "Place":
        """Read the three parameters that every estimator has.

        Raises:
            ValueError: One of them is not what it must be.
        """
        if precision not in PRECISIONS:
            raise ValueError(f"`precision` must be one of {', '.join(PRECISIONS)}, got {precision!r}.")
        try:
            place = torch.device("cpu" if device is None else device)
        except RuntimeError as error:
            raise ValueError(f'`device` must be such as "cpu" or "cuda", got {device!r}.') from error
        if place.type not in ("cpu", "cuda"):
            raise ValueError(f'`device` must be such as "cpu" or "cuda", got "{place}".')
        if place.type == "cuda" and not torch.cuda.is_available():
            raise ValueError(f'`device` is "{device}", but torch sees no GPU. Leave it out to use the CPU.')
        budget = default_budget(place) if memory_budget is None else parse_bytes(memory_budget)
        return cls(place, PRECISIONS[precision], for_tensors(budget, place))

    def tensor(self, array: FloatArray) -> Tensor:
        """Bring an array here."""
        return torch.as_tensor(array, dtype=self.dtype, device=self.device)

    @property
    def itemsize(self) -> int:
        """The bytes of a number."""
        return self.dtype.itemsize

    def empty(self, *shape: int) -> FloatArray:
        """Make an array for results, in the memory of the process."""
        return np.empty(shape, dtype=np.float64 if self.dtype == torch.float64 else np.float32)
