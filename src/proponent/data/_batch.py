"""Batches: a tensor, or a tuple or dict of tensors, with samples along the first axis."""

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np
import torch
from torch import Tensor

Batch: TypeAlias = Tensor | tuple["Batch", ...] | dict[str, "Batch"]


def as_batch(data: Any, name: str = "samples") -> Batch:
    """Turn arrays, data frames of numbers, tuples and dicts of them into a batch; tensors stay as they are.

    Float64 arrays stay float64: choose the dtype where the array is made.

    Args:
        data: An array-like, or a tuple or dict of them. The parts of a tuple belong to the same samples,
            such as inputs and targets; a list is one array, whose items are the samples.
        name: What messages call it.

    Raises:
        TypeError: Something in it is not numeric.
        ValueError: It holds no sample, or its parts disagree on how many there are.
    """
    batch = _convert(data, name)
    sizes = sorted({part.shape[0] if part.ndim else -1 for part in _leaves(batch)})
    if -1 in sizes:
        raise ValueError(f"`{name}` must have samples along the first axis, got a single number.")
    if len(sizes) != 1:
        raise ValueError(f"Every part of `{name}` must hold the same number of samples, got {sizes}.")
    if sizes[0] == 0:
        raise ValueError(f"`{name}` must hold at least one sample, got none.")
    return batch


def batch_size(batch: Batch) -> int:
    """Count the samples of a batch.

    >>> batch_size((torch.zeros(3, 2), {"mask": torch.zeros(3)}))
    3
    """
    return int(_leaves(batch)[0].shape[0])


def take(batch: Batch, index: Tensor | slice) -> Batch:
    """Select samples by position.

    >>> take({"x": torch.arange(4)}, slice(1, 3))
    {'x': tensor([1, 2])}
    """
    return map_leaves(lambda part: part[index], batch)


def move(batch: Batch, device: torch.device | str | None = None, dtype: torch.dtype | None = None) -> Batch:
    """Bring a batch to a device, and its floating-point parts to a dtype; integers keep theirs."""
    return map_leaves(
        lambda part: part.to(device=device, dtype=dtype if part.is_floating_point() else None),
        batch,
    )


def concatenate(batches: Sequence[Batch]) -> Batch:
    """Join batches of the same structure along the samples."""
    first = batches[0]
    if isinstance(first, Tensor):
        return torch.cat([batch for batch in batches if isinstance(batch, Tensor)])
    if isinstance(first, dict):
        return {key: concatenate([batch[key] for batch in batches]) for key in first}  # type: ignore[index, call-overload]
    return tuple(concatenate(list(parts)) for parts in zip(*batches, strict=True))


def check_finite(batch: Batch, name: str = "samples") -> None:
    """Refuse NaN and infinity.

    Raises:
        ValueError: Names how many samples have one, and the first of them.
    """
    for part in _leaves(batch):
        if not part.is_floating_point():
            continue
        bad = (~torch.isfinite(part)).reshape(part.shape[0], -1).any(1).nonzero()[:, 0]
        if len(bad):
            raise ValueError(
                f"`{name}` must be finite, but {len(bad)} of {part.shape[0]} hold NaN or infinity, "
                f"the first at position {int(bad[0])}. Drop or repair them before going on."
            )


def _convert(data: Any, name: str) -> Batch:
    if isinstance(data, Tensor):
        return data
    if isinstance(data, tuple):
        return tuple(_convert(part, name) for part in data)
    if isinstance(data, dict):
        return {key: _convert(part, name) for key, part in data.items()}
    array = np.asarray(data)
    if array.dtype.kind not in "fiub":
        raise TypeError(
            f"`{name}` must be numbers, got an array of dtype {array.dtype}. Encode text and dates first."
        )
    if not array.flags.writeable or not array.flags.c_contiguous:
        array = array.copy()  # torch refuses negative strides and warns of read-only memory
    return torch.from_numpy(array)


def _leaves(batch: Batch) -> list[Tensor]:
    if isinstance(batch, Tensor):
        return [batch]
    parts = batch.values() if isinstance(batch, dict) else batch
    leaves = [leaf for part in parts for leaf in _leaves(part)]
    if not leaves:
        raise ValueError("A batch must hold at least one tensor, got an empty tuple or dict.")
    return leaves


def map_leaves(function: Callable[[Tensor], Tensor], batch: Batch) -> Batch:
    """Apply a function to every tensor of a batch."""
    if isinstance(batch, Tensor):
        return function(batch)
    if isinstance(batch, dict):
        return {key: map_leaves(function, part) for key, part in batch.items()}
    return tuple(map_leaves(function, part) for part in batch)
