"""A data set as every later step sees it, whatever it was read from."""

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
from PIL import Image

from proponent.data._decoding import quiet_decoding
from proponent.data._left_aside import LeftAside, UnusableError
from proponent.data._sketch import as_picture, draw_array, draw_bars
from proponent.data._source import Source

# Filters of warnings belong to the whole process, and a server looks at pictures in many threads.
_ONE_LOOK = threading.Lock()


@dataclass(frozen=True, eq=False)
class DataSet:
    """Samples with stable ids, and what is known of where they come from.

    Attributes:
        kind: ``"images"``, ``"rows"`` or ``"arrays"``.
        ids: One text for each sample, unique, and the same when the data are read again, ``[n]``.
        values: The samples: pictures ``[n, c, h, w]`` as bytes, or as floats between 0 and 1 where the source
            holds such; rows ``[n, d]`` and arrays ``[n, ...]`` as float32 or bytes, not scaled.
        captions: What a person reads: the path, the row's key, or its place, ``[n]``.
        hashes: Hash of the content of each, ``[n]``.
        duplicates: The number of the group of equal content that it belongs to, else -1, ``[n]``.
        left_aside: What can't be used, each with its reason.
        columns: The names of the numbers in a row.
        fingerprint: Hash of all ids and contents.
        source: Path, form and settings: what `open_data` needs to read it again.
        notes: What was taken for granted, for a person to read.
        is_random: Whether the source gives other samples each time it is read.
        positions: Where each sample stands in the source, ``[n]``.
        facts: What else is known of each sample, such as the width and height of its picture.
    """

    kind: str
    ids: npt.NDArray[Any]
    values: npt.NDArray[Any]
    captions: npt.NDArray[Any]
    hashes: npt.NDArray[Any]
    duplicates: npt.NDArray[np.int64]
    left_aside: tuple[LeftAside, ...]
    columns: tuple[str, ...]
    fingerprint: str
    source: Mapping[str, Any]
    notes: tuple[str, ...]
    is_random: bool
    positions: npt.NDArray[np.int64]
    facts: Mapping[str, npt.NDArray[Any]] = field(default_factory=dict)
    _opened: Source | None = field(default=None, repr=False)

    def __len__(self) -> int:
        return len(self.values)

    def __repr__(self) -> str:
        shape = " x ".join(str(size) for size in self.values.shape)
        aside = f", {len(self.left_aside):,} left aside" if self.left_aside else ""
        return f"<DataSet of {self.kind}, {shape}{aside}>"

    def picture(self, i: int, size: int | None = None) -> Image.Image:
        """The original picture of a sample, upright and on white; arrays and rows are drawn.

        Args:
            i: Position of the sample.
            size: What the longer side shall have at most; pictures are never enlarged.

        Raises:
            ValueError: The source holds another picture by now.
            FileNotFoundError: The picture is gone from the source.
        """
        if self.kind == "images":
            original = self._original(i, size)
            if original is not None:
                return original
        return self._drawn(i, size)

    def thumbnail(self, i: int, side: int = 128) -> Image.Image:
        """A sample as a small picture: of the original, else of what the model sees.

        Args:
            i: Position of the sample.
            side: What the longer side shall have at most.
        """
        try:
            return self.picture(i, side)
        except (OSError, ValueError):
            return self._drawn(i, side)

    def describe(self, i: int) -> dict[str, str | float]:
        """What there is to read of a sample: the cells of its row, the size of its picture, its range.

        Args:
            i: Position of the sample.
        """
        sample = self.values[i]
        told = self._told(i)
        if self.kind == "rows":
            return {**dict(zip(self.columns, map(float, sample), strict=True)), **told}
        if self.kind == "images" and "width" in self.facts:
            return {"size": f"{self.facts['width'][i]} x {self.facts['height'][i]}", **told}
        shape = {"shape": " x ".join(str(size) for size in sample.shape)}
        return {
            **told,
            **shape,
            "smallest": float(sample.min()),
            "mean": float(sample.mean()),
            "largest": float(sample.max()),
        }

    def _told(self, i: int) -> Mapping[str, str | float]:
        try:
            return {} if self._opened is None else self._opened.told(int(self.positions[i]))
        except (OSError, ValueError):  # the source is gone, or damaged since
            return {}

    def _original(self, i: int, size: int | None) -> Image.Image | None:
        if self._opened is None:
            return None
        try:
            with _ONE_LOOK, quiet_decoding():
                found = self._opened.original(int(self.positions[i]), size)
        except UnusableError as reason:
            raise FileNotFoundError(
                f"The picture of `{self.ids[i]}` can't be read any more: {reason}."
            ) from reason
        if found is None:
            return None
        image, content = found
        if content != self.hashes[i]:
            raise ValueError(
                f"The picture of `{self.ids[i]}` is another one than when the data were read. Bring the old "
                "one "
                "back, or read the data into another folder."
            )
        return image

    def _drawn(self, i: int, size: int | None) -> Image.Image:
        sample = np.asarray(self.values[i])
        if self.kind == "images":
            image = as_picture(sample)
        elif self.kind == "rows":
            mean, scale = self._spread
            return draw_bars((sample - mean) / scale, size or 128)
        else:
            image = draw_array(sample, size or 128)
        if size is not None:
            image.thumbnail((size, size), Image.Resampling.BOX)
        return image

    @cached_property
    def _spread(self) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        """Mean and standard deviation of each column; 1 where it is constant."""
        mean = self.values.mean(0, dtype=np.float64)
        scale = self.values.std(0, dtype=np.float64)
        return mean, np.where(scale > 0, scale, 1)
