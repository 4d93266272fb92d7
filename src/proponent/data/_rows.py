"""Numbers in the columns of a table: a row, or a list in one cell, is a sample."""

from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from proponent.data._columns import Columns
from proponent.data._hashes import hash_items
from proponent.data._left_aside import LeftAside
from proponent.data._source import Block, FileStamp, Source
from proponent.data._table_pictures import text_keys
from proponent.data._tables import Table

Floats = npt.NDArray[np.float32]
_NAMED = 3


@dataclass(frozen=True, eq=False)
class RowSource(Source):
    """Rows of numbers, or arrays that stand in the cells of one column.

    Attributes:
        table: The table.
        chosen: Its columns.
        asked: The columns that the caller asked for.
        shape: The shape of an array in a cell; empty for rows.
    """

    table: Table
    chosen: Columns
    asked: Sequence[str] | None
    shape: tuple[int, ...] = ()

    noun = "row"
    block_size = 8192

    @property
    def name(self) -> str:  # type: ignore[override]
        """As messages call the table."""
        return self.table.name

    @property
    def kind(self) -> str:  # type: ignore[override]
        """Rows, or arrays in cells."""
        return self.chosen.kind

    @property
    def columns(self) -> tuple[str, ...]:  # type: ignore[override]
        """The names of the numbers in a row."""
        return self.chosen.used if self.kind == "rows" else ()

    @property
    def options(self) -> Mapping[str, Any]:  # type: ignore[override]
        """Path, form and columns."""
        asked = None if self.asked is None else list(self.asked)
        return {**self.table.options, "column": asked}

    def __len__(self) -> int:
        return len(self.table)

    def read(self, start: int, stop: int, pool: Executor) -> Block:
        """Read rows; one with a cell that holds no number is left aside."""
        key = [self.chosen.key] if self.chosen.key is not None else []
        rows = self.table.rows(start, stop, [*self.chosen.used, *key])
        names = text_keys(rows.column(rows.num_columns - 1)) if key else [""] * len(rows)
        keys = [name or "" for name in names]
        if self.kind == "rows":
            values, reasons = self._numbers(rows, start)
        else:
            values, reasons = arrays_in_cells(rows.column(0), self.shape)
        kept = np.array([i for i in range(len(rows)) if i not in reasons], dtype=np.int64)
        values = values[kept]
        return Block(
            values=values,
            positions=start + kept,
            keys=[keys[i] for i in kept],
            hashes=hash_items(values),
            left_aside=[(start + i, keys[i], reason) for i, reason in sorted(reasons.items())],
        )

    def files(self) -> Sequence[FileStamp]:
        """The files that hold the table."""
        return self.table.files()

    def file_hash(self, name: str) -> str:
        """Hash the content of one of them."""
        return self.table.file_hash(name)

    def left_aside(self) -> Sequence[LeftAside]:
        """Rows that can't be read."""
        return self.table.left_aside()

    def told(self, position: int) -> Mapping[str, str | float]:
        """The columns of its row that hold no numbers, or weren't asked for."""
        return self.table.told(position, self.chosen.told)

    def number(self, position: int) -> int:
        """The number of a row in its file."""
        return self.table.number(position)

    def notes(self, blocks: Sequence[Block]) -> Sequence[str]:
        """Which columns were used, and which weren't."""
        said = list(self.table.notes())
        if self.chosen.key is not None:
            said.append(f"Column `{self.chosen.key}` names the rows.")
        if self.chosen.left_out:
            said.append(
                f"Columns left out, since they hold no numbers: {', '.join(map(repr, self.chosen.left_out))}."
            )
        return said

    def _numbers(self, rows: pa.Table, start: int) -> tuple[Floats, dict[int, str]]:
        doubles = np.stack([as_doubles(rows.column(i)) for i in range(len(self.chosen.used))], axis=1)
        values, good, fits = as_singles(doubles)
        reasons = {}
        for i in np.flatnonzero(~(good & fits).all(1)).tolist():
            bad = np.flatnonzero(~(good[i] & fits[i]))
            said = [self._reason(start + i, int(j), doubles[i, j]) for j in bad[:_NAMED]]
            more = [f"and {len(bad) - _NAMED} more"] if len(bad) > _NAMED else []
            reasons[i] = ", ".join(said + more)
        return values, reasons

    def _reason(self, position: int, column: int, value: float) -> str:
        name = self.chosen.used[column]
        return self.table.reason(position, name) if np.isnan(value) else f"`{name}` is {value:g}"


def as_doubles(column: pa.ChunkedArray) -> npt.NDArray[np.float64]:
    """A column of numbers; NaN where a cell is empty."""
    if pa.types.is_boolean(column.type):
        column = column.cast(pa.uint8())
    doubles: npt.NDArray[np.float64] = column.cast(pa.float64(), safe=False).to_numpy()
    return doubles


def as_singles(values: npt.NDArray[Any]) -> tuple[Floats, npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
    """Numbers as float32, which of them are finite, and which of them fit."""
    with np.errstate(over="ignore"):
        singles = values.astype(np.float32)
    good = np.isfinite(values)
    return singles, good, np.isfinite(singles) | ~good


def arrays_in_cells(column: pa.ChunkedArray, shape: tuple[int, ...]) -> tuple[Floats, dict[int, str]]:
    """The arrays in the cells of a column, ``[m, *shape]``, and why some can't be used."""
    values = np.zeros((len(column), *shape), dtype=np.float32)
    reasons = {}
    for i, cell in enumerate(column.to_pylist()):
        try:
            array = np.array(cell, dtype=np.float64)
        except (TypeError, ValueError):
            reasons[i] = "a list of lists of several lengths, or with an empty place"
            continue
        if cell is None:
            reasons[i] = "an empty cell"
        elif array.shape != shape:
            reasons[i] = f"{_by(array.shape)} numbers, where others have {_by(shape)}"
        else:
            values[i], good, fits = as_singles(array)
            if not good.all():
                reasons[i] = "it holds NaN, infinity or an empty place"
            elif not fits.all():
                reasons[i] = "it holds numbers too large for 32 bits"
    return values, reasons


def cell_shape(table: Table, column: str) -> tuple[int, ...]:
    """The most frequent shape of the arrays in the first cells of a column.

    Raises:
        ValueError: None of them is an array.
    """
    counts: dict[tuple[int, ...], int] = {}
    for cell in table.rows(0, min(len(table), 256), [column]).column(0).to_pylist():
        try:
            shape = np.array(cell, dtype=np.float64).shape
        except (TypeError, ValueError):
            continue
        if cell is not None and 0 not in shape:
            counts[shape] = counts.get(shape, 0) + 1
    if not counts:
        raise ValueError(
            f"Column `{column}` of {table.name} must hold lists of numbers, but the first are empty or "
            "ragged."
        )
    return max(counts, key=lambda shape: counts[shape])


def _by(shape: Sequence[int]) -> str:
    return " x ".join(str(side) for side in shape) or "no"
