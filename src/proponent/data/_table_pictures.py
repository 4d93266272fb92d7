"""Pictures in a column of a table."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa

from proponent.data._columns import Columns
from proponent.data._decoding import check_file_size
from proponent.data._ids import storable
from proponent.data._left_aside import LeftAside, UnusableError
from proponent.data._originals import Loader, Originals
from proponent.data._source import FileStamp
from proponent.data._tables import Table


@dataclass(frozen=True, eq=False)
class TableOriginals(Originals):
    """Encoded pictures in a column: a struct of `bytes` and `path`, or binary.

    Attributes:
        table: The table.
        columns: Which column, and which one holds the keys; without that, the pictures' own paths do.
        asked: The column that the caller asked for.
        follow_paths: Whether a picture that is only named by a path may be read from there.
    """

    table: Table
    columns: Columns
    asked: str | Sequence[str] | None = None
    follow_paths: bool = False

    noun = "row"

    @property
    def name(self) -> str:  # type: ignore[override]
        """As messages call the table."""
        return self.table.name

    @property
    def options(self) -> Mapping[str, Any]:  # type: ignore[override]
        """Path, form and column."""
        return {**self.table.options, "column": self.columns.used[0] if self.asked else None}

    def __len__(self) -> int:
        return len(self.table)

    def loaders(self, start: int, stop: int) -> Sequence[tuple[str, Loader]]:
        """Keys and contents of some rows."""
        key = [self.columns.key] if self.columns.key is not None else []
        rows = self.table.rows(start, stop, [*self.columns.used, *key])
        column = rows.column(0)
        if pa.types.is_struct(column.type):
            cells = [cell or {} for cell in column.to_pylist()]
            contents = [cell.get("bytes") for cell in cells]
            paths = [cell.get("path") for cell in cells]
        else:
            contents, paths = column.to_pylist(), [None] * len(rows)
        keys = text_keys(rows.column(1)) if key else [_text(path) for path in paths]
        return [
            (name, partial(self._content, content, path))
            for name, content, path in zip(keys, contents, paths, strict=True)
        ]

    def files(self) -> Sequence[FileStamp]:
        """The files that hold the table."""
        return self.table.files()

    def file_hash(self, name: str) -> str:
        """Hash the content of one of them."""
        return self.table.file_hash(name)

    def stamp(self, start: int, stop: int) -> object:
        """The files, for any part of them."""
        return [[file.name, file.size, file.modified] for file in self.table.files()]

    def left_aside(self) -> Sequence[LeftAside]:
        """Rows that can't be read."""
        return self.table.left_aside()

    def told(self, position: int) -> Mapping[str, str | float]:
        """The other columns of its row."""
        return self.table.told(position, self.columns.told)

    def notes(self) -> Sequence[str]:
        """What was taken for granted."""
        return self.table.notes()

    def _content(self, content: bytes | None, path: object) -> bytes:
        if content is not None:
            return content
        if not isinstance(path, str) or not path:
            raise UnusableError("an empty cell")
        if not self.follow_paths:
            raise UnusableError("no picture in it, only the path of one elsewhere")
        file = Path(path)
        try:
            if not file.is_file():
                raise UnusableError("the file that it names is gone")
            check_file_size(file.stat().st_size)
            return file.read_bytes()
        except OSError as error:
            raise UnusableError(f"it can't be opened: {error.strerror}") from error


def text_keys(column: pa.ChunkedArray) -> list[str]:
    """Keys as text; an empty cell gives an empty one."""
    return [_text(key) for key in column.to_pylist()]


def _text(key: object) -> str:
    return "" if key is None else storable(str(key))
