"""CSV files as tables, in the forms that spreadsheets and other programs write."""

import csv
import gzip
import io
import re
import zlib
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv

from proponent.data._columns import check_width
from proponent.data._left_aside import LeftAside
from proponent.data._room import check_room
from proponent.data._tables import ArrowTable, TableFiles

_MISSING = ["", "NA", "N/A", "n/a", "NaN", "nan", "null", "NULL", "None", "-nan", "#N/A", "?"]
# A column with some text is one of numbers if so many of its cells are; its other rows are left aside.
_MOSTLY = 0.5
_PEEK = 1 << 16
# Types are guessed from the first block alone, so there should be one.
_BLOCK = 1 << 30


def read_csv(path: Path) -> ArrowTable:
    """Read a CSV file: separated by commas, semicolons or tabs, with a head or without, also `.gz`.

    A row with too many or too few cells is left aside. In a column that mostly holds numbers, cells with
    other text count as missing.

    Args:
        path: The file.

    Raises:
        ValueError: It is empty, no text, or can't be read as a table.
    """
    content, encoding = _content(path)
    head = content[: max(_PEEK, content.find(b"\n"))].decode(encoding, "replace").lstrip("\ufeff")
    if not head.strip():
        raise ValueError(f"`{path}` must hold rows of numbers, but is empty.")
    separator = _separator(head)
    check_width(head.splitlines()[0].count(separator) + 1, f"`{path}`")
    first = _first_row(head, separator)
    headless = bool(first) and all(_is_number(cell) for cell in first)
    names = [f"column {i + 1}" for i in range(len(first))] if headless else None
    comma = separator != "," and bool(re.search(r"(^|[;\t\n])-?\d+,\d+($|[;\t\r\n])", head))
    aside: list[LeftAside] = []
    skipped: list[int] = []

    def skip(row: pacsv.InvalidRow) -> str:
        number = row.number - (0 if headless else 1)
        skipped.append(number)
        aside.append(
            LeftAside(
                f"row {number}", f"{row.actual_columns} cells, where there should be {row.expected_columns}"
            )
        )
        return "skip"

    try:
        table = pacsv.read_csv(
            io.BytesIO(content),
            pacsv.ReadOptions(
                column_names=names,
                encoding=encoding,
                use_threads=False,
                block_size=min(len(content) + 1, _BLOCK),
            ),
            pacsv.ParseOptions(delimiter=separator, newlines_in_values=True, invalid_row_handler=skip),
            pacsv.ConvertOptions(
                null_values=_MISSING, decimal_point="," if comma else ".", strings_can_be_null=True
            ),
        )
    except (pa.ArrowException, OSError, UnicodeError) as error:
        raise ValueError(f"`{path}` can't be read as CSV: {error}") from error
    if table.num_rows == 0:
        raise ValueError(
            f"`{path}` must hold rows of numbers, but has "
            f"{'none' if not aside else 'none that fit its head'}."
        )
    table, odd = _with_numbers(table)
    gone = set(skipped)
    numbers = [n for n in range(1, table.num_rows + len(gone) + 1) if n not in gone] if gone else None
    return ArrowTable(
        table=table,
        name=f"`{path}`",
        options={"path": str(path.resolve()), "form": "csv"},
        numbers=numbers,
        odd_cells=odd,
        of_files=TableFiles(path.parent, (path,)),
        aside=tuple(aside),
        said=(f"`{path.name}` has no head: its columns are numbered.",) if headless else (),
    )


def _content(path: Path) -> tuple[bytes, str]:
    check_room(path.stat().st_size, f"`{path}`", "Convert it to Parquet, which is read a piece at a time.")
    content = path.read_bytes()
    if content[:2] == b"\x1f\x8b":
        content = unpacked(path, content)
    if content[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return content, "utf-16"
    if b"\x00" in content[:_PEEK]:
        raise ValueError(f"`{path}` must be a text of rows, but holds other bytes. Its form isn't known.")
    try:
        content.decode("utf-8")
    except UnicodeDecodeError:
        return content, "cp1252" if _is_decodable(content, "cp1252") else "latin-1"
    return content, "utf-8"


def unpacked(path: Path, content: bytes) -> bytes:
    """Unpack gzip, as long as it fits into memory.

    Raises:
        ValueError: It doesn't, or it is damaged.
    """
    pieces, size = [], 0
    try:
        with gzip.open(io.BytesIO(content)) as file:
            while piece := file.read(1 << 24):
                size += len(piece)
                check_room(size, f"What `{path}` unpacks to", "Unpack and divide it first.")
                pieces.append(piece)
    except (OSError, EOFError, zlib.error) as error:
        raise ValueError(f"`{path}` can't be unpacked: {error}. It was cut short, or is damaged.") from error
    return b"".join(pieces)


def _with_numbers(table: pa.Table) -> tuple[pa.Table, dict[str, dict[int, str]]]:
    """Turn text columns that mostly hold numbers into numbers, and keep the other cells' text."""
    import pandas as pd  # takes half a second, and few data are CSV

    odd: dict[str, dict[int, str]] = {}
    for i, name in enumerate(table.column_names):
        if not (pa.types.is_string(table.schema.field(i).type)):
            continue
        text = table.column(i).to_pandas()
        there = text.notna()
        numbers = pd.to_numeric(text, errors="coerce")
        if there.sum() == 0 or numbers.notna().sum() < _MOSTLY * there.sum():
            continue
        wrong = np.flatnonzero((there & numbers.isna()).to_numpy())
        odd[name] = {int(row): str(text.iloc[row]) for row in wrong}
        table = table.set_column(i, name, pa.array(numbers.to_numpy(np.float64)))
    return table, odd


def _separator(head: str) -> str:
    """The mark between cells: a comma unless another one stands equally often in the first lines."""
    lines = head.splitlines()[:2]
    return next((mark for mark in "\t;|" if 0 < lines[0].count(mark) == lines[-1].count(mark)), ",")


def _first_row(head: str, separator: str) -> list[str]:
    try:
        return next(csv.reader(io.StringIO(head), delimiter=separator), [])
    except csv.Error:  # a cell beyond the limit of that reader is no name, and no number
        return []


def _is_number(cell: str) -> bool:
    try:
        float(cell.strip().replace(",", "."))
    except ValueError:
        return cell.strip() in _MISSING and cell.strip() != ""
    return True


def _is_decodable(content: bytes, encoding: str) -> bool:
    try:
        content.decode(encoding)
    except UnicodeDecodeError:
        return False
    return True
