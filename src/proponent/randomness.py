"""Random numbers that belong to a key, not to a moment.

Every draw in the library is keyed by what it is for, such as (seed, checkpoint, role). It is therefore
the same whatever the batch size, the order of the work, the device, or a restart.
"""

import hashlib

import torch
from torch import Tensor


def keyed_seed(*key: int | str) -> int:
    """Map a key to a 63-bit seed, the same on every machine.

    >>> keyed_seed(0, "train") == keyed_seed(0, "train"), keyed_seed(0, "train") == keyed_seed(0, "query")
    (True, False)
    """
    return int.from_bytes(hashlib.sha256(repr(key).encode()).digest()[:8], "little") >> 1


def keyed_generator(*key: int | str) -> torch.Generator:
    """Make a generator on the CPU, where draws are the same on every machine."""
    return torch.Generator().manual_seed(keyed_seed(*key))


def keyed_normal(shape: tuple[int, ...], *key: int | str, dtype: torch.dtype = torch.float32) -> Tensor:
    """Draw standard normal numbers for a key.

    They are drawn in float64 and rounded, so that one key gives the same numbers in every precision.

    >>> torch.equal(keyed_normal((2,), 0, "a"), keyed_normal((2,), 0, "a"))
    True
    """
    draws = torch.randn(shape, generator=keyed_generator(*key), dtype=torch.float64)
    return draws.to(dtype)
