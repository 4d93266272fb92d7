"""Reading samples from an array file: `.npy`, or `.npz` with a named array."""

from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt

# Files over this size are mapped into memory where that was asked for.
_SMALL = 256 << 20


def read_array(path: str | Path, name: str | None = None, *, mapped: bool = False) -> npt.NDArray[Any]:
    """Read an array of numbers with samples along the first axis. Nothing in the file is executed.

    Args:
        path: A `.npy` or `.npz` file.
        name: Which array of a `.npz` file; not needed where it holds only one.
        mapped: Whether a large `.npy` file may stay on the disk, mapped into memory; writing to the array
            doesn't change the file.

    Raises:
        FileNotFoundError: There is no such file.
        ValueError: It is not an array file, was cut short, holds Python objects or no numbers or no
            samples, or `name` is missing or not in it.
    """
    path = Path(path)
    if not path.is_file():
        what = "is a folder" if path.is_dir() else "does not exist"
        raise FileNotFoundError(f"The data must be a `.npy` or `.npz` file, but `{path}` {what}.")
    if path.suffix not in (".npy", ".npz"):
        raise ValueError(
            f"The data must be a `.npy` or `.npz` file, got `{path.name}`. Save the array with `numpy.save`."
        )
    array = _read_named(path, name) if path.suffix == ".npz" else _read_single(path, name, mapped)
    if array.dtype.kind not in "fiub":
        raise ValueError(
            f"`{path}` must hold numbers, got dtype {array.dtype}. Encode text and dates as numbers first."
        )
    if array.ndim == 0 or len(array) == 0:
        raise ValueError(
            f"`{path}` must hold samples along the first axis, got an array of shape {array.shape}."
        )
    return array


def _read_single(path: Path, name: str | None, mapped: bool) -> npt.NDArray[Any]:
    if name is not None:
        raise ValueError(f"A `.npy` file holds one array without a name, but `{name}` was asked of `{path}`.")
    if mapped and path.stat().st_size > _SMALL:
        return _mapped(path)
    with path.open("rb") as file:
        array = _load(path, file)
        if not isinstance(array, np.ndarray):  # numpy goes by the content
            raise ValueError(f"`{path}` is a `.npz` file by its content: rename it.")
        return array


def _read_named(path: Path, name: str | None) -> npt.NDArray[Any]:
    with path.open("rb") as file:
        archive = _load(path, file)
        if isinstance(archive, np.ndarray):
            raise ValueError(f"`{path}` is a `.npy` file by its content: rename it.")
        names = archive.files
        if name is None and len(names) != 1:
            raise ValueError(
                f"`{path}` holds {len(names)} arrays, {_list(names)}: say which one, by `--array` on the "
                "command line or `name` in Python."
            )
        name = names[0] if name is None else name
        if name not in names:
            raise ValueError(f"`{path}` has no array `{name}`; it holds {_list(names)}.")
        try:
            array: npt.NDArray[Any] = archive[name]
        except Exception as error:
            raise _unreadable(path, error) from error
        return array


def _load(path: Path, file: IO[bytes]) -> Any:
    try:
        # From an open file, since numpy forgets to close a damaged archive that it opened itself.
        return np.load(file, allow_pickle=False)
    except Exception as error:  # damaged headers raise nearly anything, from TokenError to MemoryError
        raise _unreadable(path, error) from error


def _mapped(path: Path) -> npt.NDArray[Any]:
    try:
        array: npt.NDArray[Any] = np.lib.format.open_memmap(path, mode="c")
    except Exception as error:
        raise _unreadable(path, error) from error
    return array


def _unreadable(path: Path, error: Exception) -> ValueError:
    if "Object arrays" in str(error) or "pickle" in str(error).lower():
        return ValueError(
            f"`{path}` holds Python objects, or is not an array file: reading it would mean to execute what "
            "it holds. Convert it to an array of numbers and save that with `numpy.save`."
        )
    return ValueError(
        f"`{path}` can't be read: {type(error).__name__}: {error}. It was cut short, or is not an array file."
    )


def _list(names: list[str]) -> str:
    return ", ".join(f"`{name}`" for name in names) or "none"
