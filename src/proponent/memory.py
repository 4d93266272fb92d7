"""Memory: how much some work may take, and how much it takes."""

import math
import re
import weakref
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

_UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}
_BINARY_UNITS = {"ki": 1 << 10, "mi": 1 << 20, "gi": 1 << 30, "ti": 1 << 40}
# Without a budget: a share of what is free. On a CPU larger batches leave its caches, and gain nothing.
_SHARE_CPU, _MOST_CPU, _SHARE_GPU = 1 / 4, 1 << 30, 1 / 2
# The C library keeps freed memory in pieces, by which a process outgrows its tensors (measured: 1.2 to 1.45).
_TENSORS_CPU = 3 / 4
# Where Linux says what a container may take and what it takes, by the version of its control groups.
_GROUPS = (
    ("memory.max", "memory.current"),
    ("memory/memory.limit_in_bytes", "memory/memory.usage_in_bytes"),
)


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


def free_memory(device: torch.device) -> int:
    """The bytes that tensors can still take on a device, those included that torch holds unused."""
    if device.type == "cuda":
        unused = torch.cuda.memory_reserved(device) - torch.cuda.memory_allocated(device)
        return int(torch.cuda.mem_get_info(device)[0]) + unused
    left = _free_in_group()
    return _free_in_system() if left is None else min(_free_in_system(), left)


def default_budget(device: torch.device) -> int:
    """A share of the memory that is free on a device."""
    if device.type == "cuda":
        return int(free_memory(device) * _SHARE_GPU)
    return min(int(free_memory(device) * _SHARE_CPU), _MOST_CPU)


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


@dataclass(frozen=True)
class Memory:
    """What some work took.

    Attributes:
        peak: The most bytes that its tensors held at a time.
        kept: The bytes that were still held when it had ended.
    """

    peak: int
    kept: int


def measure_memory(work: Callable[[], object]) -> Memory:
    """Run some work, and count the bytes of the tensors that it makes.

    Tensors that were there before don't count, nor does what a kernel holds for itself while it runs.

    >>> measure_memory(lambda: torch.ones(100).double().sum()).peak  # 400 + 800
    1200

    Args:
        work: What it returns is kept until the count is taken.
    """
    with _LiveBytes() as live:
        result = work()
        kept = live.bytes
        del result
    return Memory(live.peak, kept)


def _free_in_system(table: Path = Path("/proc/meminfo")) -> int:
    """What the system could hand out, where it says so; else enough for the most we take."""
    text = table.read_text() if table.exists() else ""
    found = re.search(r"MemAvailable:\s+(\d+) kB", text)
    return int(found[1]) * 1024 if found else int(_MOST_CPU / _SHARE_CPU)


def _free_in_group(root: Path = Path("/sys/fs/cgroup")) -> int | None:
    """What a limit on a container leaves, where there is one; pages of files count as free."""
    for limit, used in _GROUPS:
        text = (root / limit).read_text().strip() if (root / limit).exists() else ""
        if text.isdigit():
            counts = (root / limit).with_name("memory.stat").read_text()
            files = re.search(r"^(?:total_)?inactive_file (\d+)$", counts, re.MULTILINE)
            return max(0, int(text) - int((root / used).read_text()) + (int(files[1]) if files else 0))
    return None


class _LiveBytes(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Counts the bytes of the storages that operations make, as long as they live."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.bytes = 0
        self.peak = 0
        self._seen: dict[int, weakref.ref[torch.UntypedStorage]] = {}

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        return (
            False  # torch asks; else every operation passes through its compiler, which takes 2 s to import
        )

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        kwargs = kwargs or {}
        for tensor in tree_leaves((args, kwargs)):
            self._see(tensor, counts=False)
        result = func(*args, **kwargs)
        for tensor in tree_leaves(result):
            self._see(tensor, counts=True)
        return result

    def _see(self, tensor: Any, counts: bool) -> None:
        if not isinstance(tensor, Tensor):
            return
        storage = tensor.untyped_storage()
        key = storage._cdata
        if key in self._seen:
            return
        size = storage.nbytes() if counts else 0
        self.bytes += size
        self.peak = max(self.peak, self.bytes)
        self._seen[key] = weakref.ref(storage, partial(self._forget, key, size))

    def _forget(self, key: int, size: int, _: object) -> None:
        self.bytes -= size
        del self._seen[key]
