"""Reading a source whole: block by block, into memory or into a cache that survives a kill."""

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from proponent.data._cache import Cache, read_block, write_block
from proponent.data._decoding import quiet_decoding
from proponent.data._left_aside import LeftAside
from proponent.data._room import check_room
from proponent.data._source import Block, Source

Progress = Callable[[int, int], object]

_THREADS = 8
_PER_SAMPLE = 800  # bytes that the id, caption and hash of a sample take


@dataclass(frozen=True, eq=False)
class Gathered:
    """All of a source.

    Attributes:
        values: The samples, ``[n, ...]``.
        blocks: What else is known of them, without their values.
        left_aside: What can't be used.
    """

    values: npt.NDArray[Any]
    blocks: Sequence[Block]
    left_aside: tuple[LeftAside, ...]


def gather(source: Source, cache: Cache | None, progress: Progress | None) -> Gathered:
    """Read a source.

    Args:
        source: Where the samples come from.
        cache: Where to keep each block as soon as it is read; what is there is taken up.
        progress: Told how many samples are done, and how many there are.

    Raises:
        ValueError: No sample can be used, or there are more than memory holds.
    """
    what = f"What is kept of the {len(source):,} samples of {source.name}"
    check_room(len(source) * _PER_SAMPLE, what, "Divide them first.")
    blocks: list[Block] = []
    with decoding_pool() as pool:
        for start in range(0, len(source), source.block_size):
            stop = min(start + source.block_size, len(source))
            block = _block(source, start, stop, cache, pool)
            if cache is None and not blocks:
                _check_memory(source, block)
            blocks.append(block)
            if progress is not None:
                progress(stop, len(source))
    left_aside = (
        *source.left_aside(),
        *(_named(source, item) for block in blocks for item in block.left_aside),
    )
    if not any(len(block.positions) for block in blocks):
        raise ValueError(_all_aside(source, left_aside))
    values = _joined(source, blocks, cache)
    return Gathered(values, [replace(block, values=None) for block in blocks], left_aside)


@contextmanager
def decoding_pool() -> Iterator[Executor]:
    """Threads that decode: the decoders work outside of Python's lock."""
    with quiet_decoding():
        cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        pool = ThreadPoolExecutor(min(cores, _THREADS), "decode")
        try:
            yield pool
        finally:
            pool.shutdown(cancel_futures=True)


def name_of(source: Source, position: int, key: str) -> str:
    """What to call a sample: its key, else its place."""
    return key or f"{source.noun} {source.number(position)}"


def _block(source: Source, start: int, stop: int, cache: Cache | None, pool: Executor) -> Block:
    if cache is None or source.direct() is not None:
        return source.read(start, stop, pool)
    path = cache.block_path(source, start, stop)
    block = read_block(path, values=False)
    if block is not None and not source.files() and not _is_still(source, block, pool):
        block = None
    if block is None:
        block = source.read(start, stop, pool)
        write_block(path, block)
    return replace(block, values=None)


def _check_memory(source: Source, first: Block) -> None:
    """Refuse what won't fit into memory, as far as the first samples tell."""
    if first.values is not None and len(first.values):
        size = first.values[0].nbytes * len(source)
        check_room(size, source.name, "Give `cache`, a folder: the samples then stay on the disk.")


def _is_still(source: Source, block: Block, pool: Executor) -> bool:
    """Whether an object in memory, which has no times of files, still has the block's first sample."""
    if not len(block.positions):
        return False
    position = int(block.positions[0])
    return source.content_hash(position, pool) == block.hashes[0]


def _named(source: Source, item: tuple[int, str, str]) -> LeftAside:
    position, key, reason = item
    return LeftAside(name_of(source, position, key), reason)


def _all_aside(source: Source, left_aside: Sequence[LeftAside]) -> str:
    shown = "; ".join(f"`{item.id}`: {item.reason}" for item in left_aside[:3])
    more = f"; and {len(left_aside) - 3:,} more" if len(left_aside) > 3 else ""
    return f"No sample of {source.name} can be used: {shown}{more}."


def _joined(source: Source, blocks: Sequence[Block], cache: Cache | None) -> npt.NDArray[Any]:
    """The samples of all blocks as one array."""
    direct = source.direct()
    counts = [len(block.positions) for block in blocks]
    if direct is not None:
        if sum(counts) == len(direct):
            return direct
        return _selected(source, direct, blocks, cache)
    if cache is None:
        parts = [block.values for block in blocks if block.values is not None and len(block.values)]
        if source.kind != "images":
            return np.concatenate(parts)
        channels = max(part.shape[1] for part in parts)
        return np.concatenate(
            [np.broadcast_to(part, (len(part), channels, *part.shape[2:])) for part in parts]
        )
    return _assembled(source, counts, cache)


def _selected(
    source: Source, direct: npt.NDArray[Any], blocks: Sequence[Block], cache: Cache | None
) -> npt.NDArray[Any]:
    """The samples that can be used, of an array with others among them."""
    count = sum(len(block.positions) for block in blocks)
    if cache is None:
        check_room(direct[0].nbytes * count, source.name, "Give `cache`, a folder to keep it in.")
        kept: npt.NDArray[Any] = direct[np.concatenate([block.positions for block in blocks])]
        return kept
    with cache.new_values((count, *direct.shape[1:]), direct.dtype) as values:
        at = 0
        for block in blocks:
            values[at : at + len(block.positions)] = direct[block.positions]
            at += len(block.positions)
    return cache.read_values()


def _assembled(source: Source, counts: Sequence[int], cache: Cache) -> npt.NDArray[Any]:
    """Copy the kept blocks one after the other into one file."""
    starts = range(0, len(source), source.block_size)
    paths = [
        cache.block_path(source, start, min(start + source.block_size, len(source)))
        for start, count in zip(starts, counts, strict=True)
        if count
    ]
    shapes = [_shape(path) for path in paths]
    shape, dtype = shapes[0]
    if source.kind == "images":
        shape = (max(one[0] for one, _ in shapes), *shape[1:])
    with cache.new_values((sum(counts), *shape), dtype) as values:
        at = 0
        for path in paths:
            block = read_block(path)
            assert block is not None  # it was read or written a moment ago
            assert block.values is not None
            values[at : at + len(block.values)] = block.values  # grey goes into all channels
            at += len(block.values)
    return cache.read_values()


def _shape(path: Any) -> tuple[tuple[int, ...], np.dtype[Any]]:
    with np.load(path, allow_pickle=False) as parts:
        values = parts["values"]
        return values.shape[1:], values.dtype
