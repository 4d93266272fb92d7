"""Finding out what form data have."""

import gzip
import stat
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from PIL import Image

from proponent.data._array_file import read_array
from proponent.data._arrays import array_source
from proponent.data._columns import choose_columns
from proponent.data._csv_file import read_csv
from proponent.data._hub import HubTable
from proponent.data._idx import is_idx, read_idx
from proponent.data._listing import list_pictures
from proponent.data._map_style import ItemArrays, ItemOriginals, item_source
from proponent.data._originals import FolderOriginals, counted, kinds
from proponent.data._pictures import PictureSource
from proponent.data._room import check_room
from proponent.data._rows import RowSource, cell_shape
from proponent.data._source import Source
from proponent.data._table_pictures import TableOriginals
from proponent.data._tables import ArrowTable, ParquetTable, Table, TableFiles

_FORMS = "a folder of pictures, or a Parquet, CSV, `.npy`, `.npz` or IDX file"
_TEXTS = (".csv", ".tsv", ".txt", ".tab")
_SAVE = "save the array with `numpy.save`"
_UNPACK = "unpack it and name the folder"
_ADVICE = {
    **dict.fromkeys((".pt", ".pth", ".pkl", ".pickle", ".joblib"), f"reading it may execute code; {_SAVE}"),
    **dict.fromkeys((".h5", ".hdf5", ".mat", ".zarr"), _SAVE),
    **dict.fromkeys((".zip", ".tar", ".tgz", ".7z", ".rar"), _UNPACK),
    **dict.fromkeys((".xlsx", ".xls", ".ods"), "save the sheet as CSV"),
    **dict.fromkeys((".json", ".jsonl", ".feather", ".arrow", ".orc"), "convert it to Parquet or CSV"),
}
_LARGEST_SIDE = 1024


@dataclass(frozen=True)
class Asked:
    """The settings of `open_data`.

    Attributes:
        size: The side that pictures are resized to.
        column: Which column or columns of a table, or which part of an item.
        array: Which array of a `.npz` file.
        grey: Whether pictures become grey or colour.
    """

    size: int | None = None
    column: str | Sequence[str] | None = None
    array: str | None = None
    grey: bool | None = None

    def check(self, name: str, *used: str) -> None:
        """Refuse settings that some data have no use for.

        Args:
            name: The data, as messages call them.
            used: The settings they have a use for.

        Raises:
            ValueError: Another one is set.
        """
        for setting in ("size", "column", "array", "grey"):
            if getattr(self, setting) is not None and setting not in used:
                raise ValueError(
                    f"`{setting}` is {_PURPOSES[setting]}, but {name} has no use for it. Leave it out."
                )


_PURPOSES = {
    "size": "for pictures",
    "column": "for tables, and items with named parts",
    "array": "for `.npz` files",
    "grey": "for encoded pictures",
}


def find_source(source: Any, asked: Asked) -> tuple[Source, bool]:
    """Find out what form data have.

    Args:
        source: A path or an object.
        asked: The settings.

    Returns:
        The source, and whether it gives other samples each time it is read.

    Raises:
        FileNotFoundError: There is no such path.
        ValueError: It holds nothing that can be used, or a setting doesn't fit.
        TypeError: It is no form of data that is known.
    """
    if asked.size is not None and not 1 <= asked.size <= _LARGEST_SIDE:
        raise ValueError(f"`size` must be from 1 to {_LARGEST_SIDE} pixels, got {asked.size}.")
    if isinstance(source, str | Path):
        return _from_path(Path(source), asked), False
    name = f"the {type(source).__name__}"
    if isinstance(source, np.ndarray) or hasattr(source, "detach"):
        asked.check(name, "size")
        array = source if isinstance(source, np.ndarray) else _from_tensor(source)
        return array_source(
            array, {"path": None, "form": type(source).__name__}, asked.size, None, name
        ), False
    if hasattr(source, "with_format") and hasattr(source, "features"):
        return _from_hub(source, asked, name), False
    if hasattr(source, "__arrow_c_stream__"):
        table = pa.table(source)
        return _from_table(
            ArrowTable(table, name, {"path": None, "form": type(source).__name__}), asked
        ), False
    return _from_items(source, asked, name)


def _from_tensor(tensor: Any) -> npt.NDArray[Any]:
    tensor = tensor.detach().cpu()
    try:
        array: npt.NDArray[Any] = tensor.numpy()
    except TypeError:  # NumPy has no bfloat16
        array = tensor.float().numpy()
    return array


def _from_path(path: Path, asked: Asked) -> Source:
    try:
        mode = path.stat().st_mode
    except (OSError, ValueError) as error:
        # A name without a suffix and with one slash may be one of the hub.
        hub = (
            ""
            if path.suffix
            else " A data set of the Hugging Face hub is opened by `datasets.load_dataset` first."
        )
        raise FileNotFoundError(f"The data must be {_FORMS}, but `{path}` does not exist.{hub}") from error
    if stat.S_ISDIR(mode):
        return _from_folder(path, asked)
    if not stat.S_ISREG(mode):
        raise ValueError(f"The data must be {_FORMS}, but `{path}` is no ordinary file.")
    if path.stat().st_size == 0:
        raise ValueError(f"`{path}` must hold samples, but is an empty file.")
    return _reader(path)(path, asked)


def _reader(path: Path) -> Callable[[Path, Asked], Source]:
    """What reads a file, by how it begins, since names are not always true."""
    with path.open("rb") as file:
        head = file.read(16)
    suffix = path.suffix.lower()
    if head[:4] == b"PAR1" or suffix in (".parquet", ".pq"):
        return lambda path, asked: _from_table(ParquetTable([path], path), asked)
    if head[:6] == b"\x93NUMPY" or suffix == ".npy":
        return _from_npy
    if suffix == ".npz":
        return _from_npz
    if is_idx(head) or (head[:2] == b"\x1f\x8b" and is_idx(_unpacked_head(path))):
        return _from_idx
    if PurePath(path.stem if suffix == ".gz" else path.name).suffix.lower() in _TEXTS:
        return lambda path, asked: _from_table(read_csv(path), asked)
    raise ValueError(f"The data must be {_FORMS}, but {_told(path, head)}.")


def _told(path: Path, head: bytes) -> str:
    """What a file is that can't be read, and what to do with it."""
    suffix = path.suffix.lower()
    if head[:3] == b"\xff\xd8\xff" or head[:4] in (b"\x89PNG", b"GIF8"):
        return f"`{path}` is a single picture: name its folder"
    if suffix in _ADVICE:
        return f"`{path}` is none: {_ADVICE[suffix]}"
    if head[:2] == b"PK":
        return f"`{path}` is an archive: unpack it and name the folder"
    return f"`{path}` begins with {head[:8]!r}"


def _unpacked_head(path: Path) -> bytes:
    try:
        with gzip.open(path) as file:
            return file.read(4)
    except (OSError, EOFError, zlib.error):
        return b""


def _from_npy(path: Path, asked: Asked) -> Source:
    asked.check(f"`{path}`", "size")
    place = {"path": str(path.resolve()), "form": "npy"}
    return array_source(read_array(path, mapped=True), place, asked.size, _files(path), f"`{path}`")


def _from_npz(path: Path, asked: Asked) -> Source:
    asked.check(f"`{path}`", "size", "array")
    check_room(_unpacked_size(path, asked.array), f"`{path}`", f"For larger arrays {_SAVE}.")
    place = {"path": str(path.resolve()), "form": "npz", "array": asked.array}
    return array_source(read_array(path, asked.array), place, asked.size, _files(path), f"`{path}`")


def _unpacked_size(path: Path, name: str | None) -> int:
    """How large the arrays of an archive say they are; reading it stops at that size, be it true or not."""
    try:
        with zipfile.ZipFile(path) as archive:
            held = archive.infolist()
    except (OSError, zipfile.BadZipFile):
        return 0  # whoever reads it says what is wrong
    return sum(part.file_size for part in held if name in (None, part.filename.removesuffix(".npy")))


def _from_idx(path: Path, asked: Asked) -> Source:
    asked.check(f"`{path}`", "size")
    array = read_idx(path)
    place = {"path": str(path.resolve()), "form": "idx"}
    return array_source(array, place, asked.size, _files(path), f"`{path}`")


def _files(path: Path) -> TableFiles:
    return TableFiles(path.parent, (path,))


def _from_folder(path: Path, asked: Asked) -> Source:
    listing = list_pictures(path)
    if listing.pictures:
        asked.check(f"the folder `{path}`", "size", "grey")
        return PictureSource(FolderOriginals(listing), asked.size, asked.grey)
    if listing.others[".parquet"]:
        return _from_table(_parquet_folder(path), asked)
    if listing.others["no suffix"] + listing.others[".arrow"] and (path / "state.json").exists():
        raise ValueError(f"`{path}` is a saved data set: open it by `datasets.load_from_disk` and pass that.")
    if listing.left_aside:
        first = listing.left_aside[0]
        raise ValueError(
            f"`{path}` must hold pictures that can be read, but none of "
            f"{counted(len(listing.left_aside), 'file')} "
            f"can, the first, `{first.id}`: {first.reason}."
        )
    if not listing.others:
        hidden = f" but {counted(listing.hidden, 'hidden file')}" if listing.hidden else ""
        raise ValueError(f"`{path}` must hold pictures, but holds nothing{hidden}.")
    raise ValueError(
        f"`{path}` must hold pictures, but holds only {counted(listing.others.total(), 'other file')} "
        f"({kinds(listing)}). Name one of them if it is a table or an array."
    )


def _parquet_folder(path: Path) -> ParquetTable:
    found = sorted(file for file in path.rglob("*.parquet") if not file.name.startswith("."))
    splits = Counter(str(file.relative_to(path)).rsplit("-of-", 1)[0].rsplit("-", 1)[0] for file in found)
    if len(splits) > 1:
        names = ", ".join(f"`{file.relative_to(path)}`" for file in found[:4])
        raise ValueError(
            f"`{path}` holds several tables, {names}{', ...' if len(found) > 4 else ''}, and it isn't clear "
            "which "
            "are meant. Name one of them."
        )
    return ParquetTable(found, path)


def _from_table(table: Table, asked: Asked, follow_paths: bool = False) -> Source:
    asked.check(table.name, "size", "column", "grey")
    if len(table) == 0:
        raise ValueError(f"{table.name} must hold at least one row, got none.")
    columns = choose_columns(table.schema, asked.column, table.name)
    if columns.kind == "images":
        return PictureSource(
            TableOriginals(table, columns, asked.column, follow_paths), asked.size, asked.grey
        )
    asked.check(
        f"{table.name}, which holds {'numbers' if columns.kind == 'rows' else 'lists of numbers'},", "column"
    )
    wanted = (asked.column,) if isinstance(asked.column, str) else asked.column
    shape = cell_shape(table, columns.used[0]) if columns.kind == "arrays" else ()
    return RowSource(table, columns, wanted, shape)


def _from_hub(source: Any, asked: Asked, name: str) -> Source:
    if not hasattr(source, "__len__") or not hasattr(source, "select_columns"):
        raise TypeError(
            f"{name} is a stream, whose samples can't be had again. Load it without `streaming=True`."
        )
    options = {"path": None, "form": "datasets"}
    return _from_table(HubTable(source, name, options), asked, follow_paths=True)


def _from_items(source: Any, asked: Asked, name: str) -> tuple[Source, bool]:
    if isinstance(source, Mapping) or not (hasattr(source, "__len__") and hasattr(source, "__getitem__")):
        parts = (
            f" with the parts {', '.join(map(repr, list(source)[:5]))}: pass one of them"
            if isinstance(source, Mapping)
            else ""
        )
        raise TypeError(
            f"The data must be {_FORMS}, an array, a data frame, or an object with a length and items, got "
            f"{type(source).__name__}{parts}."
        )
    asked.check(name, "size", "column", "grey")
    if not isinstance(asked.column, str | None):
        raise ValueError(f"`column` must be one name for the items of {name}, got {list(asked.column)}.")
    items, first, shape = item_source(source, asked.column)
    is_random = items.is_random()
    if isinstance(first, Image.Image):
        return PictureSource(ItemOriginals(items), asked.size, asked.grey), is_random
    asked.check(f"{name}, which holds arrays,", "size", "column")
    pattern = array_source(first, {}, asked.size, None, name)
    return ItemArrays(items, pattern, shape), is_random
