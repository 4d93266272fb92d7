"""Data sets that hand out one item at a time, as PyTorch's map-style ones do."""

from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
from PIL import Image

from proponent.data._arrays import ArraySource
from proponent.data._hashes import hash_items
from proponent.data._ids import storable
from proponent.data._left_aside import UnusableError
from proponent.data._originals import Loader, Originals
from proponent.data._source import Block, Source

_PROBED = 5
_USUAL_NAMES = ("image", "pixel_values", "img", "x", "input", "inputs", "data")


@dataclass(frozen=True, eq=False)
class ItemOriginals(Originals):
    """Items that are pictures."""

    items: "Items"

    noun = "item"
    in_turn = True

    @property
    def name(self) -> str:  # type: ignore[override]
        """As messages call the data set."""
        return self.items.name

    @property
    def options(self) -> Mapping[str, Any]:  # type: ignore[override]
        """There is no path to open it by."""
        return self.items.options

    def __len__(self) -> int:
        return len(self.items)

    def loaders(self, start: int, stop: int) -> Sequence[tuple[str, Loader]]:
        """Keys, and the calls that give the pictures."""
        return [(self.items.key(i), partial(self._picture, i)) for i in range(start, stop)]

    def _picture(self, i: int) -> Image.Image:
        item = self.items.get(i)
        if not isinstance(item, Image.Image):
            raise UnusableError(f"a {type(item).__name__}, where others are pictures")
        return item


@dataclass(frozen=True, eq=False)
class ItemArrays(Source):
    """Items that are arrays.

    Attributes:
        items: The data set.
        pattern: How the first items look: their form, shape and range, which those of all others must have.
    """

    items: "Items"
    pattern: ArraySource
    shape: tuple[int, ...]

    noun = "item"
    block_size = 256

    @property
    def name(self) -> str:  # type: ignore[override]
        """As messages call the data set."""
        return self.items.name

    @property
    def kind(self) -> str:  # type: ignore[override]
        """As the first items look."""
        return self.pattern.kind

    @property
    def options(self) -> Mapping[str, Any]:  # type: ignore[override]
        """There is no path to open it by."""
        return {**self.items.options, "size": self.pattern.side}

    def __len__(self) -> int:
        return len(self.items)

    def read(self, start: int, stop: int, pool: Executor) -> Block:
        """Read items one after the other."""
        good, aside = [], []
        for i in range(start, stop):
            try:
                good.append((i, self._array(i)))
            except UnusableError as reason:
                aside.append((i, self.items.key(i), str(reason)))
        positions = np.array([i for i, _ in good], dtype=np.int64)
        if not good:
            return Block(None, positions, [], [], aside)
        part = self.pattern.like(np.stack([array for _, array in good]))
        block = part.read(0, len(good), pool)
        values = part.array[block.positions] if block.values is None else block.values
        aside += [
            (int(positions[i]), self.items.key(int(positions[i])), reason)
            for i, _, reason in block.left_aside
        ]
        kept = positions[block.positions]
        return Block(values, kept, [self.items.key(int(i)) for i in kept], block.hashes, aside)

    def _array(self, i: int) -> npt.NDArray[Any]:
        array = as_array(self.items.get(i))
        if array.shape != self.shape:
            raise UnusableError(f"shape {array.shape}, where others have {self.shape}")
        dtype, most = self.pattern.array.dtype, self.pattern.largest()
        if array.dtype.kind == "f" and dtype.kind != "f":
            raise UnusableError(f"numbers of dtype {array.dtype}, where others have {dtype}")
        if most is not None and (array.min() < 0 or array.max() > most):
            raise UnusableError(
                f"numbers from {array.min():g} to {array.max():g}, where others are pixels from 0 to {most}"
            )
        return array.astype(dtype)


class Items:
    """A data set with a length and items by position.

    Args:
        source: The data set.
        column: Which part of an item: the key of a dict.
    """

    def __init__(self, source: Any, column: str | None) -> None:
        self._source, self._column = source, column
        self.name = f"the data set `{type(source).__name__}`"
        self.options = {"path": None, "form": type(source).__name__, "column": column}
        self._paths = _paths(source)

    def __len__(self) -> int:
        return len(self._source)

    def key(self, i: int) -> str:
        """The item's path, where the data set has a list of them."""
        return self._paths[i] if self._paths else ""

    def get(self, i: int) -> Any:
        """The part of an item that is the sample.

        Raises:
            UnusableError: The data set can't give it.
        """
        try:
            return self._part(self._source[i])
        except UnusableError:
            raise
        except Exception as error:  # whatever the user's own code raises
            raise UnusableError(f"the data set raised {type(error).__name__}: {error}") from error

    def is_random(self) -> bool:
        """Whether reading some items twice gives different ones."""
        for i in np.unique(np.linspace(0, len(self) - 1, _PROBED).astype(int)).tolist():
            try:
                first, again = (hash_items(as_array(self.get(i))[None]) for _ in range(2))
            except UnusableError:
                continue
            if first != again:
                return True
        return False

    def _part(self, item: Any) -> Any:
        if isinstance(item, Mapping):
            names = (self._column,) if self._column else _USUAL_NAMES
            found = next((name for name in names if name in item), None)
            if found is None and len(item) == 1:
                found = next(iter(item))
            if found is None:
                raise UnusableError(
                    f"no {' or '.join(map(repr, names))} among {', '.join(map(repr, item))}; say which by "
                    "`column`"
                )
            return item[found]
        if self._column is not None:
            raise UnusableError(f"a {type(item).__name__}, which has no part `{self._column}`")
        return item[0] if isinstance(item, tuple) and item else item


def item_source(
    source: Any, column: str | None
) -> tuple[Items, Image.Image | npt.NDArray[Any], tuple[int, ...]]:
    """Look at the first items of a data set.

    Args:
        source: The data set.
        column: Which part of an item.

    Returns:
        The items; a picture, or the first arrays of one shape; and that shape.

    Raises:
        ValueError: It is empty, or none of the first items can be used.
    """
    items = Items(source, column)
    if len(items) == 0:
        raise ValueError(f"{items.name} must hold at least one sample, got none.".replace("the", "The", 1))
    arrays, reason = [], ""
    for i in range(min(len(items), 64)):
        try:
            item = items.get(i)
            if isinstance(item, Image.Image):
                return items, item, ()
            arrays.append(as_array(item))
        except UnusableError as error:
            reason = reason or str(error)
    if not arrays:
        raise ValueError(
            f"The items of {items.name} must be arrays, tensors or pictures, or tuples or dicts of them, "
            "but the "
            f"first can't be used: {reason}."
        )
    shape = Counter(array.shape for array in arrays).most_common(1)[0][0]
    return items, np.stack([array for array in arrays if array.shape == shape]), shape


def as_array(item: Any) -> npt.NDArray[Any]:
    """An item as numbers.

    Raises:
        UnusableError: It is none.
    """
    if hasattr(item, "detach"):
        item = item.detach().cpu()
    try:
        array = np.asarray(item)
    except Exception as error:
        raise UnusableError(f"no array: {error}") from error
    if array.dtype.kind not in "fiub" or 0 in array.shape:
        raise UnusableError(
            f"a {type(item).__name__} of dtype {array.dtype} and shape {array.shape}, no numbers"
        )
    return array


def _paths(source: Any) -> list[str]:
    """Paths below the root, of data sets that keep a list of them as torchvision's do."""
    listed, root = getattr(source, "samples", None), getattr(source, "root", None)
    if not isinstance(listed, list) or root is None or len(listed) != len(source):
        return []
    paths = [entry[0] if isinstance(entry, tuple) else entry for entry in listed]
    if not all(isinstance(path, str) for path in paths):
        return []
    start = str(root).rstrip("/") + "/"
    return [storable(path.removeprefix(start)) for path in paths]
