"""Tables in a fixed order of rows: in memory, or in Parquet files that are read a piece at a time."""

import threading
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from proponent.data._columns import kind_of
from proponent.data._hashes import hash_file
from proponent.data._left_aside import LeftAside
from proponent.data._source import FileStamp

# A batch should be some megabytes, whatever is in a cell.
_SHOWN_LETTERS = 200
_PLAIN_ROWS, _WIDE_ROWS = 8192, 128


class Table(ABC):
    """Rows that can be had from one position to another.

    Attributes:
        name: What messages call it.
        options: Path and form, by which it can be opened again.
    """

    name: str
    options: Mapping[str, Any]

    @property
    @abstractmethod
    def schema(self) -> pa.Schema:
        """Names and types of the columns."""

    @abstractmethod
    def __len__(self) -> int:
        """How many rows there are."""

    @abstractmethod
    def rows(self, start: int, stop: int, columns: Sequence[str]) -> pa.Table:
        """Some columns of the rows from one position to another."""

    def files(self) -> Sequence[FileStamp]:
        """The files that it is made of."""
        return ()

    def file_hash(self, name: str) -> str:
        """Hash the content of one of its files; empty where it has none of that name."""
        return ""

    def left_aside(self) -> Sequence[LeftAside]:
        """Rows that can't be read."""
        return ()

    def notes(self) -> Sequence[str]:
        """What was taken for granted."""
        return ()

    def number(self, position: int) -> int:
        """The number of a row for a person, counted from 1."""
        return position + 1

    def told(self, position: int, columns: Sequence[str]) -> dict[str, str | float]:
        """Some cells of a row for a person to read."""
        [row] = self.rows(position, position + 1, columns).to_pylist()
        return {
            name: value if isinstance(value, float) else str(value)[:_SHOWN_LETTERS]
            for name, value in row.items()
            if value is not None
        }

    def reason(self, position: int, column: str) -> str:
        """Why a cell holds no number."""
        return f"`{column}` is empty or no number"


@dataclass(frozen=True, eq=False)
class TableFiles:
    """Files by name below a folder.

    Attributes:
        folder: Where they lie.
        paths: The files.
    """

    folder: Path
    paths: tuple[Path, ...]

    def stamps(self) -> tuple[FileStamp, ...]:
        """Name, size and time of each."""
        return tuple(stamp_of(path) for path in self.paths)

    def hash(self, name: str) -> str:
        """Hash the content of one."""
        return hash_file(self.folder / name)


def stamp_of(path: Path) -> FileStamp:
    """Name, size and time of a file."""
    state = path.stat()
    return FileStamp(path.name, state.st_size, state.st_mtime_ns)


@dataclass(frozen=True, eq=False)
class ArrowTable(Table):
    """A table in memory: a data frame, or what a CSV file held.

    Attributes:
        table: The rows.
        numbers: Of each row for a person, where rows before were left out.
        odd_cells: By column, the text that stands where a number should, by position.
        of_files: The file it was read from.
        aside: Rows that can't be read.
        said: What was taken for granted.
    """

    table: pa.Table
    name: str
    options: Mapping[str, Any]
    numbers: Sequence[int] | None = None
    odd_cells: Mapping[str, Mapping[int, str]] = field(default_factory=dict)
    of_files: TableFiles | None = None
    aside: tuple[LeftAside, ...] = ()
    said: tuple[str, ...] = ()

    @property
    def schema(self) -> pa.Schema:
        """Names and types of the columns."""
        return self.table.schema

    def __len__(self) -> int:
        return int(self.table.num_rows)

    def rows(self, start: int, stop: int, columns: Sequence[str]) -> pa.Table:
        """Some columns of the rows from one position to another."""
        return self.table.select(list(columns)).slice(start, stop - start)

    def files(self) -> Sequence[FileStamp]:
        """The file it was read from."""
        return self.of_files.stamps() if self.of_files else ()

    def file_hash(self, name: str) -> str:
        """Hash the content of that file."""
        return self.of_files.hash(name) if self.of_files else super().file_hash(name)

    def left_aside(self) -> Sequence[LeftAside]:
        """Rows that can't be read."""
        return self.aside

    def notes(self) -> Sequence[str]:
        """What was taken for granted."""
        return self.said

    def number(self, position: int) -> int:
        """The number of a row in its file."""
        return position + 1 if self.numbers is None else self.numbers[position]

    def told(self, position: int, columns: Sequence[str]) -> dict[str, str | float]:
        """Some cells of a row for a person to read."""
        [row] = self.rows(position, position + 1, columns).to_pylist()
        return {
            name: value if isinstance(value, float) else str(value)[:_SHOWN_LETTERS]
            for name, value in row.items()
            if value is not None
        }

    def reason(self, position: int, column: str) -> str:
        """The text that stands where a number should."""
        text = self.odd_cells.get(column, {}).get(position)
        return super().reason(position, column) if text is None else f"`{column}` is {text[:40]!r}, no number"


class ParquetTable(Table):
    """Parquet files as one table, read from the disk a batch at a time.

    Args:
        paths: Files of one schema, in order.
        path: What was asked for, a file or a folder.

    Raises:
        ValueError: A file can't be read, or has other columns than the first.
    """

    def __init__(self, paths: Sequence[Path], path: Path) -> None:
        self.name = f"`{path}`"
        self.options = {"path": str(path.resolve()), "form": "parquet"}
        self._files = TableFiles(paths[0].parent, tuple(paths))
        self._readers = [_parquet(path) for path in paths]
        self._schema = self._readers[0].schema_arrow
        for reader, other in zip(self._readers, paths, strict=True):
            if (
                reader.schema_arrow.names != self._schema.names
                or reader.schema_arrow.types != self._schema.types
            ):
                raise ValueError(
                    f"The Parquet files of {self.name} must have the same columns, but `{other.name}` has "
                    f"others than `{paths[0].name}`. Name one of them."
                )
        groups = [
            (reader, group, reader.metadata.row_group(group).num_rows)
            for reader in self._readers
            for group in range(reader.metadata.num_row_groups)
        ]
        self._groups = [(reader, group) for reader, group, _ in groups]
        self._starts = np.concatenate([[0], np.cumsum([count for *_, count in groups])]).astype(np.int64)
        self._lock = threading.Lock()
        self._rest = self._schema.empty_table()
        self._columns: tuple[str, ...] = ()
        self._at = -1
        self._coming: Iterator[pa.RecordBatch] = iter(())

    @property
    def schema(self) -> pa.Schema:
        """Names and types of the columns."""
        return self._schema

    def __len__(self) -> int:
        return int(self._starts[-1])

    def rows(self, start: int, stop: int, columns: Sequence[str]) -> pa.Table:
        """Some columns of the rows; going on where the last call ended costs nothing extra."""
        with self._lock:
            if start != self._at or tuple(columns) != self._columns:
                self._seek(start, tuple(columns))
            parts, missing = [self._rest], stop - start - self._rest.num_rows
            while missing > 0:
                parts.append(self._next())
                missing -= parts[-1].num_rows
            table = pa.concat_tables(parts)
            self._rest, self._at = table.slice(stop - start), stop
            return table.slice(0, stop - start)

    def files(self) -> Sequence[FileStamp]:
        """The files."""
        return self._files.stamps()

    def file_hash(self, name: str) -> str:
        """Hash the content of one of them."""
        return self._files.hash(name)

    def _seek(self, start: int, columns: tuple[str, ...]) -> None:
        group = int(np.searchsorted(self._starts, start, side="right")) - 1
        self._columns, self._at = columns, start
        self._coming = self._batches(group)
        skip = start - int(self._starts[group])
        self._rest = self._schema.empty_table().select(list(columns))
        while skip > 0:
            batch = self._next()
            self._rest = batch.slice(skip)
            skip -= batch.num_rows

    def _next(self) -> pa.Table:
        try:
            return pa.Table.from_batches([next(self._coming)])
        except (OSError, pa.ArrowException, StopIteration) as error:
            self._at = -1
            raise _damaged(self.name, error) from error

    def _batches(self, first: int) -> Iterator[pa.RecordBatch]:
        plain = all(kind_of(self._schema.field(column).type) == "rows" for column in self._columns)
        size = _PLAIN_ROWS if plain else _WIDE_ROWS
        for reader, group in self._groups[first:]:
            yield from reader.iter_batches(batch_size=size, row_groups=[group], columns=list(self._columns))


def _parquet(path: Path) -> pq.ParquetFile:
    try:
        return pq.ParquetFile(path, pre_buffer=False, memory_map=False)
    except (OSError, pa.ArrowException) as error:
        raise _damaged(f"`{path}`", error) from error


def _damaged(name: str, error: Exception) -> ValueError:
    what = str(error) or "it holds fewer rows than it says"
    return ValueError(f"{name} can't be read as Parquet: {what}. It was cut short, or is damaged.")
