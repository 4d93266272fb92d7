"""A folder that keeps what was read of a source, so that nothing is decoded twice, also after a kill."""

import hashlib
import json
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from proponent.data._source import Block, FileStamp, Source
from proponent.storage import read_json, whole_file, write_json

_FORMAT = 1
# Arrays over this size stay on the disk and are mapped into memory.
_IN_MEMORY = 256 << 20


@dataclass(frozen=True)
class Cache:
    """The files of such a folder.

    Attributes:
        path: The folder.
    """

    path: Path

    @property
    def record(self) -> Path:
        """What was read from where; it is written last."""
        return self.path / "data.json"

    @property
    def values(self) -> Path:
        """The samples as numbers."""
        return self.path / "samples.npy"

    @property
    def table(self) -> Path:
        """What else is known of each sample."""
        return self.path / "samples.parquet"

    @property
    def stamps(self) -> Path:
        """The files that the samples were read from."""
        return self.path / "files.parquet"

    @property
    def blocks(self) -> Path:
        """What is read so far."""
        return self.path / "shards"

    def is_finished(self) -> bool:
        """Whether all was read."""
        return self.record.exists()

    def read_record(self) -> dict[str, Any]:
        """What was read from where.

        Raises:
            ValueError: It can't be read, or is of another version.
        """
        record = read_json(self.record)
        if record.get("format") != _FORMAT:
            raise ValueError(
                f"`{self.path}` was made by another version of this library. Delete it to have it made anew."
            )
        return record

    def write_record(self, record: Mapping[str, Any]) -> None:
        """Say that all was read, and clear what led there."""
        write_json(self.record, {"format": _FORMAT, **record})
        shutil.rmtree(self.blocks, ignore_errors=True)

    def block_path(self, source: Source, start: int, stop: int) -> Path:
        """Where a block is kept: its name changes with what it is made from."""
        options = {name: value for name, value in source.options.items() if name != "path"}
        made_from = [_FORMAT, start, stop, options, source.stamp(start, stop)]
        digest = hashlib.sha256(json.dumps(made_from, sort_keys=True).encode()).hexdigest()[:16]
        return self.blocks / f"{start // source.block_size:06d}-{digest}.npz"

    def read_table(self) -> pa.Table:
        """What else is known of each sample.

        Raises:
            ValueError: The file is damaged or gone.
        """
        return self._read(self.table)

    def write_table(self, columns: Mapping[str, Any]) -> None:
        """Keep what else is known of each sample."""
        _write_parquet(self.table, columns)

    def read_stamps(self) -> list[tuple[FileStamp, str]]:
        """The files that the samples were read from, with their contents' hashes."""
        rows = self._read(self.stamps).to_pylist()
        return [(FileStamp(row["name"], row["size"], row["modified"]), row["hash"]) for row in rows]

    def write_stamps(self, stamps: Sequence[tuple[FileStamp, str]]) -> None:
        """Keep the files that the samples were read from."""
        columns = {
            "name": pa.array([stamp.name for stamp, _ in stamps], pa.string()),
            "size": pa.array([stamp.size for stamp, _ in stamps], pa.int64()),
            "modified": pa.array([stamp.modified for stamp, _ in stamps], pa.int64()),
            "hash": pa.array([content for _, content in stamps], pa.string()),
        }
        _write_parquet(self.stamps, columns)

    def read_values(self) -> npt.NDArray[Any]:
        """The samples as numbers; mapped into memory where they are many. Writing to them changes no file."""
        mapped = self.values.stat().st_size > _IN_MEMORY
        try:
            values: npt.NDArray[Any] = np.load(self.values, mmap_mode="c" if mapped else None)
        except (OSError, ValueError) as error:
            raise self._damaged(error) from error
        return values

    def _read(self, path: Path) -> pa.Table:
        try:
            return pq.read_table(path)
        except (OSError, pa.ArrowException) as error:
            raise self._damaged(error) from error

    def _damaged(self, error: Exception) -> ValueError:
        return ValueError(f"`{self.path}` is damaged: {error}. Delete it to have it made anew.")

    @contextmanager
    def new_values(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Iterator[npt.NDArray[Any]]:
        """Give an array on the disk, which stands there when the block ends without an error."""
        with whole_file(self.values) as temporary:
            array = np.lib.format.open_memmap(temporary, mode="w+", dtype=dtype, shape=shape)
            yield array
            array.flush()
            del array


def write_block(path: Path, block: Block) -> None:
    """Keep a block, whole or not at all."""
    positions, keys, reasons = zip(*block.left_aside, strict=True) if block.left_aside else ((), (), ())
    parts: dict[str, npt.NDArray[Any]] = {
        "positions": block.positions,
        "keys": np.array(list(block.keys), dtype=str),
        "hashes": np.array(list(block.hashes), dtype=str),
        "aside_positions": np.array(positions, dtype=np.int64),
        "aside_keys": np.array(keys, dtype=str),
        "aside_reasons": np.array(reasons, dtype=str),
        **{f"fact_{name}": values for name, values in block.facts.items()},
    }
    if block.values is not None:
        parts["values"] = block.values
    with whole_file(path) as temporary:
        np.savez(temporary, allow_pickle=False, **parts)


def read_block(path: Path, values: bool = True) -> Block | None:
    """Take up a block; none where there is none, or it was damaged since.

    Args:
        path: Where it is kept.
        values: Whether to read the samples too.
    """
    if not path.exists():
        return None
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as parts:
            aside = zip(
                *(parts[f"aside_{name}"].tolist() for name in ("positions", "keys", "reasons")), strict=True
            )
            return Block(
                values=parts["values"] if values and "values" in parts.files else None,
                positions=parts["positions"],
                keys=parts["keys"].tolist(),
                hashes=parts["hashes"].tolist(),
                left_aside=list(aside),
                facts={
                    name.removeprefix("fact_"): parts[name]
                    for name in parts.files
                    if name.startswith("fact_")
                },
            )
    except Exception:  # a damaged archive raises nearly anything; reading the source again mends it
        return None


def _write_parquet(path: Path, columns: Mapping[str, Any]) -> None:
    with whole_file(path) as temporary:
        pq.write_table(pa.table(dict(columns)), temporary)
