"""Where an estimator computes, in which numbers, and in how much memory."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor

from proponent.memory import default_budget, for_tensors, parse_bytes
from proponent.scores import FloatArray

_CACHED = 1 << 25
PRECISIONS = {"float64": torch.float64, "float32": torch.float32}


@dataclass(frozen=True)
class Place:
    """Where and how to compute.

    Attributes:
        device: On it chunks are made; samples and results may lie elsewhere.
        dtype: Of the numbers.
        budget: The bytes that chunks may take at a time, beside samples, queries and the result. Who holds
            something while others work hands them a share of it.
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

    def share(self, part: float) -> "Place":
        """The same with a part of the budget."""
        return replace(self, budget=int(self.budget * part))

    @property
    def cached(self) -> "Place":
        """The same with no more than what stays in the caches of a CPU, where it is one."""
        return self if self.device.type == "cuda" else replace(self, budget=min(self.budget, _CACHED))

    def rows(self, row_bytes: int) -> int:
        """How many rows of so many bytes the budget holds; one at least."""
        return max(1, self.budget // row_bytes)

    def parts(self, count: int, row_bytes: int) -> Iterator[slice]:
        """Few enough rows at a time for the budget, and one at least.

        >>> place = Place(torch.device("cpu"), torch.float64, budget=100)
        >>> [*place.share(1 / 2).parts(5, row_bytes=24)]
        [slice(0, 2, None), slice(2, 4, None), slice(4, 5, None)]

        Args:
            count: Of the rows.
            row_bytes: What is made for a row.
        """
        return slices(count, self.rows(row_bytes))

    @property
    def itemsize(self) -> int:
        """The bytes of a number."""
        return self.dtype.itemsize

    def empty(self, *shape: int) -> FloatArray:
        """Make an array for results, in the memory of the process."""
        return np.empty(shape, dtype=np.float64 if self.dtype == torch.float64 else np.float32)


def slices(count: int, size: int) -> Iterator[slice]:
    """So many at a time."""
    return (slice(start, min(start + size, count)) for start in range(0, count, size))
