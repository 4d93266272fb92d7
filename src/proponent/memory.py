"""How much memory some work may take."""

import math
import re
from pathlib import Path

import torch

_UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}
_BINARY_UNITS = {"ki": 1 << 10, "mi": 1 << 20, "gi": 1 << 30, "ti": 1 << 40}
# Without a budget: a share of what is free. On a CPU larger batches leave its caches, and gain nothing.
_SHARE_CPU, _MOST_CPU, _SHARE_GPU = 1 / 4, 1 << 30, 1 / 2
# The C library keeps freed memory in pieces, by which a process outgrows its tensors (measured: 1.2 to 1.45).
_TENSORS_CPU = 3 / 4


def parse_bytes(size: int | str) -> int:
    """Read a number of bytes.

    >>> parse_bytes("2GiB"), parse_bytes("512 MB"), parse_bytes(1000)
    (2147483648, 512000000, 1000)

    Args:
        size: A number of bytes, or a number with a unit: kB, MB, GB, TB or KiB, MiB, GiB, TiB.

    Raises:
        ValueError: It is not such a size, or not positive.
    """
    if isinstance(size, str):
        match = re.fullmatch(r"\s*(\d+(?:\.\d*)?)\s*([kmgt]?i?)b?\s*", size.lower())
        units = _UNITS | _BINARY_UNITS
        if match is None or match[2] not in units:
            raise ValueError(
                '`memory_budget` must be a number of bytes, or a text such as "2GiB" or "512 MB", '
                f"got {size!r}."
            )
        size = int(float(match[1]) * units[match[2]])
    if size < 1:
        raise ValueError(f"`memory_budget` must be at least 1 byte, got {size}.")
    return size


def default_budget(device: torch.device) -> int:
    """A share of the memory that is free on a device."""
    if device.type == "cuda":
        return int(torch.cuda.mem_get_info(device)[0] * _SHARE_GPU)
    return min(int(_free_memory() * _SHARE_CPU), _MOST_CPU)


def for_tensors(budget: int, device: torch.device) -> int:
    """The share of a budget that tensors may fill."""
    return budget if device.type == "cuda" else int(budget * _TENSORS_CPU)


def in_words(size: int) -> str:
    """Write a number of bytes in its unit.

    >>> in_words(1536)
    '1.5 KiB'
    """
    power = min(int(math.log(max(size, 1), 1024)), 4)
    return f"{size / 1024**power:.4g} {('B', 'KiB', 'MiB', 'GiB', 'TiB')[power]}"


def _free_memory(table: Path = Path("/proc/meminfo")) -> int:
    """What the system could hand out, where it says so; else enough for the most we take."""
    text = table.read_text() if table.exists() else ""
    found = re.search(r"MemAvailable:\s+(\d+) kB", text)
    return int(found[1]) * 1024 if found else int(_MOST_CPU / _SHARE_CPU)
