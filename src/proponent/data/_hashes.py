"""Content hashes: of bytes, of files and of many rows, and what has the same one."""

import hashlib
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

_DIGITS = 32
_CHUNK = 1 << 20


def hash_bytes(*parts: bytes | memoryview) -> str:
    """Hash bytes to 32 hexadecimal digits.

    >>> hash_bytes(b"ab") == hash_bytes(b"a", b"b")
    True
    """
    digest = hashlib.sha256()
    for part in parts:
        digest.update(part)
    return digest.hexdigest()[:_DIGITS]


def hash_file(path: Path) -> str:
    """Hash the content of a file, a piece at a time."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            digest.update(chunk)
    return digest.hexdigest()[:_DIGITS]


def hash_items(values: npt.NDArray[Any]) -> list[str]:
    """Hash each item of an array, with its dtype and shape."""
    head = f"{values.dtype.str} {values.shape[1:]} ".encode()
    # Zeros of either sign are one number.
    flat = np.ascontiguousarray(values.reshape(len(values), math.prod(values.shape[1:])))
    if flat.dtype.kind == "f":
        flat = flat + flat.dtype.type(0)
    started = hashlib.sha256(head)
    found = []
    for item in flat.view(np.uint8):
        digest = started.copy()
        digest.update(item.data)
        found.append(digest.hexdigest()[:_DIGITS])
    return found


def group_duplicates(hashes: Sequence[str]) -> npt.NDArray[np.int64]:
    """Number the groups of equal hashes in order of appearance; -1 for what is there once.

    >>> group_duplicates(["a", "b", "a", "c"])
    array([ 0, -1,  0, -1])
    """
    if len(set(hashes)) == len(hashes):
        return np.full(len(hashes), -1)
    counts: dict[str, int] = {}
    for name in hashes:
        counts[name] = counts.get(name, 0) + 1
    groups: dict[str, int] = {}
    for name in hashes:
        if counts[name] > 1:
            groups.setdefault(name, len(groups))
    return np.array([groups.get(name, -1) for name in hashes], dtype=np.int64)


def hash_listing(ids: Sequence[str], hashes: Sequence[str]) -> str:
    """The fingerprint of a data set: a hash of the ids and contents in their order."""
    digest = hashlib.sha256()
    for name, content in zip(ids, hashes, strict=True):
        digest.update(f"{len(name)} {name} {content}\n".encode())
    return f"sha256:{digest.hexdigest()}"
