"""IDX files, in which MNIST and its kin come, also packed by gzip."""

import gzip
import math
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from proponent.data._room import check_room

_TYPES = {8: ">u1", 9: ">i1", 11: ">i2", 12: ">i4", 13: ">f4", 14: ">f8"}
# No gzip file unpacks to more than this many times its size.
_GZIP_AT_MOST = 1032


def is_idx(head: bytes) -> bool:
    r"""Whether the first four bytes are those of an IDX file.

    >>> is_idx(b"\x00\x00\x08\x03"), is_idx(b"PK\x03\x04")
    (True, False)
    """
    return len(head) >= 4 and head[:2] == b"\0\0" and head[2] in _TYPES and 1 <= head[3] <= 8


def read_idx(path: Path) -> npt.NDArray[Any]:
    """Read an IDX file; one that isn't packed is mapped into memory, not read.

    Raises:
        ValueError: It is none, holds a single number a sample, or was cut short.
    """
    with path.open("rb") as file:
        packed = file.read(2) == b"\x1f\x8b"
    if not packed:
        with path.open("rb") as file:
            dtype, shape, offset = _head(path, file.read)
        size, found = dtype.itemsize * math.prod(shape), path.stat().st_size - offset
        if found != size:
            raise ValueError(
                f"`{path}` must have {size:,} bytes of numbers {shape}, but has {found:,}. It was cut "
                "short, or is damaged."
            )
        return np.memmap(path, dtype, "c", offset, shape)
    try:
        with gzip.open(path) as file:
            dtype, shape, _ = _head(path, file.read)
            size = dtype.itemsize * math.prod(shape)
            if size > _GZIP_AT_MOST * path.stat().st_size:
                raise ValueError(
                    f"`{path}` says it holds {size:,} bytes of numbers, more than any gzip file of its size "
                    "can."
                )
            check_room(size, f"`{path}`", "Unpack it first.")
            content = file.read(size + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise ValueError(f"`{path}` can't be unpacked: {error}. It was cut short, or is damaged.") from error
    if len(content) != size:
        raise ValueError(
            f"`{path}` must hold {size:,} bytes of numbers {shape}, but holds "
            f"{'fewer' if len(content) < size else 'more'}."
        )
    return np.frombuffer(content, dtype).reshape(shape)


def _head(path: Path, read: Callable[[int], bytes]) -> tuple[np.dtype[Any], tuple[int, ...], int]:
    magic = read(4)
    if not is_idx(magic):
        raise ValueError(f"`{path}` must be an IDX file, but begins with {magic!r}.")
    rank = magic[3]
    sizes = read(4 * rank)
    if len(sizes) < 4 * rank:
        raise ValueError(f"`{path}` was cut short in its head.")
    shape = tuple(int(size) for size in np.frombuffer(sizes, ">u4"))
    if rank == 1:
        raise ValueError(
            f"`{path}` holds one number a sample, as files of labels do. Name the file with the images."
        )
    if 0 in shape:
        raise ValueError(f"`{path}` must hold samples along the first axis, got an array of shape {shape}.")
    return np.dtype(_TYPES[magic[2]]), shape, 4 + 4 * rank
