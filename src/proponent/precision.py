"""Precisions by name: in which arithmetic models are run and gradients are multiplied.

- ``float64``: for references.
- ``float32``: the default. Products in full float32, also on GPUs that would round them.
- ``tf32``: float32 numbers whose products on an NVIDIA GPU keep 10 bits; elsewhere as float32.
- ``bfloat16``: matrix products of bfloat16 numbers through autocast; losses and sums in float32, and
  products of what was summed in tf32.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch

PRECISIONS = ("float64", "float32", "tf32", "bfloat16")


def check_precision(name: str) -> None:
    """Refuse a precision that is not there.

    Raises:
        ValueError: Names those that are.
    """
    if name not in PRECISIONS:
        raise ValueError(f"`precision` must be one of {', '.join(PRECISIONS)}, got {name!r}.")


def parameter_dtype(name: str) -> torch.dtype:
    """The dtype in which parameters and samples are held."""
    return torch.float64 if name == "float64" else torch.float32


@contextmanager
def passes(name: str, device: torch.device) -> Iterator[None]:
    """Run a model in a precision within the block, and leave the process's settings as they were."""
    with products(name), torch.autocast(device.type, torch.bfloat16, enabled=name == "bfloat16"):
        yield


@contextmanager
def products(name: str) -> Iterator[None]:
    """Multiply what a model made in a precision, within the block."""
    before = _settings()
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = name in ("tf32", "bfloat16")
    try:
        yield
    finally:
        for place, setting, value in before:
            setattr(place, setting, value)


def tf32_is_allowed() -> bool:
    """Whether float32 products on a GPU may keep ten bits, as the process is set."""
    matmul = torch.backends.cuda.matmul
    try:
        return bool(matmul.allow_tf32)
    except RuntimeError:  # set by the newer name, which torch then wants to be read by
        return bool(matmul.fp32_precision == "tf32")


def _settings() -> list[tuple[Any, str, Any]]:
    """What decides over tf32, by the older names, or by the newer ones where a process has used them."""
    matmul, cudnn = torch.backends.cuda.matmul, torch.backends.cudnn
    try:
        return [(place, "allow_tf32", place.allow_tf32) for place in (matmul, cudnn)]
    except RuntimeError:
        places: list[Any] = [matmul, cudnn, cudnn.conv, cudnn.rnn]  # type: ignore[attr-defined]
        return [(place, "fp32_precision", place.fp32_precision) for place in places]
