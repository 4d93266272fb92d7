"""Samples along the first axis of an array: pictures where they look like pictures, else numbers."""

from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
from PIL import Image

from proponent.data._fitting import square
from proponent.data._hashes import hash_items
from proponent.data._rows import as_singles
from proponent.data._source import Block, FileStamp, Source
from proponent.data._tables import TableFiles

_CHANNELS = (1, 3)
_SMALLEST_SIDE = 8
_CHUNK = 1 << 24  # numbers
_MOST_IN_BLOCK = 4096


@dataclass(frozen=True, eq=False)
class ArraySource(Source):
    """An array in memory or on the disk.

    Attributes:
        array: The samples, ``[n, ...]``; pictures with their channels first.
        name: What messages call it.
        kind: ``"images"`` or ``"arrays"``.
        place: Path, form and name, by which it can be opened again.
        factor: What makes integers pixels of 8 bits; none where they aren't pixels.
        side: What pictures are resized to.
        of_files: The file that it lies in.
        said: What was taken for granted.
    """

    array: npt.NDArray[Any]
    name: str
    kind: str
    place: Mapping[str, Any]
    factor: int | None = None
    side: int | None = None
    of_files: TableFiles | None = None
    said: tuple[str, ...] = ()

    noun = "item"

    @property
    def block_size(self) -> int:  # type: ignore[override]
        """As many samples as make some millions of numbers."""
        return max(1, min(_MOST_IN_BLOCK, _CHUNK // int(self.array[0].size)))

    @property
    def options(self) -> Mapping[str, Any]:  # type: ignore[override]
        """Path, form and settings."""
        return {**self.place, "size": self.side}

    def __len__(self) -> int:
        return len(self.array)

    def read(self, start: int, stop: int, pool: Executor) -> Block:
        """Convert samples; one that isn't finite is left aside."""
        raw = np.asarray(self.array[start:stop])
        rows = (len(raw), -1)
        if self.factor is not None:
            values = (raw * self.factor).astype(np.uint8)
            good = fits = np.ones(raw.shape, dtype=np.bool_)
        elif raw.dtype == np.uint8:
            values, good, fits = raw, np.ones(raw.shape, dtype=np.bool_), np.ones(raw.shape, dtype=np.bool_)
        else:
            values, good, fits = as_singles(raw)  # type: ignore[assignment]
        finite, narrow = good.reshape(rows).min(axis=1), fits.reshape(rows).min(axis=1)
        kept = np.flatnonzero(finite & narrow)
        hashes = hash_items(raw[kept])
        aside = [(start + int(i), "", _reason(bool(finite[i]))) for i in np.flatnonzero(~(finite & narrow))]
        values = values[kept]
        if self.side is not None:
            values = resized(values, self.side)
        return Block(
            values=None if self.direct() is not None else values,
            positions=start + kept,
            keys=[""] * len(kept),
            hashes=hashes,
            left_aside=aside,
        )

    def like(self, array: npt.NDArray[Any]) -> "ArraySource":
        """Take an array of samples of the same shape and range for the same thing."""
        if self.kind == "images":
            pictures = _as_pictures(array)
            return replace(self, array=array if pictures is None else pictures)
        return replace(self, array=array[:, None] if array.ndim == 1 else array)

    def largest(self) -> int | None:
        """The largest number that a pixel can be; none where the samples are no pictures."""
        if self.kind != "images":
            return None
        return 1 if self.array.dtype.kind in "fb" else 255 // (self.factor or 1)

    def direct(self) -> npt.NDArray[Any] | None:
        """The array itself, where its numbers are taken as they are."""
        as_they_are = self.array.dtype in (np.dtype(np.uint8), np.dtype(np.float32))
        return self.array if as_they_are and self.factor is None and self.side is None else None

    def files(self) -> Sequence[FileStamp]:
        """The file that it lies in."""
        return self.of_files.stamps() if self.of_files else ()

    def file_hash(self, name: str) -> str:
        """Hash the content of that file."""
        return self.of_files.hash(name) if self.of_files else super().file_hash(name)

    def notes(self, blocks: Sequence[Block]) -> Sequence[str]:
        """What the numbers were taken for."""
        return self.said


def array_source(
    array: npt.NDArray[Any],
    place: Mapping[str, Any],
    size: int | None,
    of_files: TableFiles | None,
    name: str,
) -> ArraySource:
    """Find out what an array holds.

    Bytes and truths of the shape of pictures are pictures; so are floats between 0 and 1, and integers
    between 0 and 255. Channels may stand first or last. All else is kept as numbers of the same shape.

    Args:
        array: Samples along the first axis.
        place: Path, form and name, by which it can be opened again.
        size: The side that pictures are resized to.
        of_files: The file that it lies in.
        name: What messages call it.

    Raises:
        ValueError: It holds no numbers, no sample, or a size was asked for and it holds no pictures.
    """
    if array.dtype.kind not in "fiub":
        raise ValueError(
            f"{name} must hold numbers, got dtype {array.dtype}. Encode text and dates as numbers first."
        )
    if array.ndim == 0 or 0 in array.shape:
        raise ValueError(
            f"{name} must hold samples along the first axis, got an array of shape {array.shape}."
        )
    pictures = _as_pictures(array)
    factor: int | None = None
    said: tuple[str, ...] = ()
    if pictures is not None:
        pictures, factor, said = _with_range(pictures, name)
    if pictures is not None:
        return ArraySource(pictures, name, "images", place, factor, size, of_files, said)
    if size is not None:
        raise ValueError(
            f"`size` is for pictures, but {name} holds arrays of shape {array.shape[1:]} that are none."
        )
    array = array[:, None] if array.ndim == 1 else array
    return ArraySource(array, name, "arrays", place, None, None, of_files)


def resized(values: npt.NDArray[Any], side: int) -> npt.NDArray[Any]:
    """Resize pictures ``[n, c, h, w]``: the centre square, reduced by averaging, enlarged smoothly."""
    out = np.empty((*values.shape[:2], side, side), dtype=values.dtype)
    for picture, place in zip(values, out, strict=True):
        for channel, plane in zip(picture, place, strict=True):
            plane[...] = np.asarray(square(Image.fromarray(channel), side))
    return out.clip(0, 1) if out.dtype.kind == "f" else out


def _as_pictures(array: npt.NDArray[Any]) -> npt.NDArray[Any] | None:
    """The array with its channels first, if it has the shape of pictures."""
    if array.ndim == 3:
        array = array[:, None]
    elif array.ndim == 4 and array.shape[3] in _CHANNELS and array.shape[1] not in _CHANNELS:
        array = np.moveaxis(array, 3, 1)
    is_shaped = array.ndim == 4 and array.shape[1] in _CHANNELS and min(array.shape[2:]) >= _SMALLEST_SIDE
    return array if is_shaped else None


def _with_range(
    array: npt.NDArray[Any], name: str
) -> tuple[npt.NDArray[Any] | None, int | None, tuple[str, ...]]:
    """The pictures, what makes them 8 bits, and what to say of it; no pictures where the range is another."""
    if array.dtype == np.uint8:
        return array, None, ()
    if array.dtype == np.bool_:
        return array, 255, ()
    low, high = _range(array)
    if array.dtype.kind == "f":
        return (array if low >= 0 and high <= 1 else None), None, ()
    if low < 0 or high > 255:
        return None, None, ()
    if high <= 1:
        return array, 255, (f"{name}: integers 0 and 1, taken for black and white.",)
    return array, 1, (f"{name}: integers from {low:g} to {high:g}, taken for pixels of 8 bits.",)


def _range(array: npt.NDArray[Any]) -> tuple[float, float]:
    """The smallest and largest finite number."""
    low, high = np.inf, -np.inf
    step = max(1, _CHUNK // max(1, array[0].size))
    for start in range(0, len(array), step):
        part = array[start : start + step]
        part = part[np.isfinite(part)] if part.dtype.kind == "f" else part
        if part.size:
            low, high = min(low, float(part.min())), max(high, float(part.max()))
    return low, high


def _reason(finite: bool) -> str:
    return "it holds numbers too large for 32 bits" if finite else "it holds NaN or infinity"
