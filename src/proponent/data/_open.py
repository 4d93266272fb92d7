"""Opening data of any form as a `DataSet`."""

import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from proponent.data._data_set import DataSet
from proponent.data._random_data import RandomDataWarning


def open_data(
    source: Any,
    cache: str | Path | None = None,
    *,
    size: int | None = None,
    column: str | Sequence[str] | None = None,
    array: str | None = None,
    grey: bool | None = None,
    progress: Callable[[int, int], object] | None = None,
) -> DataSet:
    """Open pictures, rows or arrays.

    Pictures are turned upright, laid on white, and brought to one size: kept as they are where all have one
    of at most 64 pixels; else the centre square of each is resized to 32 pixels, or to `size`. They are grey
    where all are. Numbers are taken as they are. A sample that can't be used is left aside and named with the
    reason, never fatal while others are left.

    Args:
        source: A folder of pictures; a Parquet, CSV, `.npy`, `.npz` or IDX file, or a folder of Parquet
            files; an array, tensor or data frame; a data set of Hugging Face's `datasets`; or any object with
            a length and items, as PyTorch's map-style data sets.
        cache: A folder for what was read. With it, a reading that was killed goes on where it was, the next
            one is immediate, and more data than memory can be used.
        size: The side that pictures are resized to.
        column: Which column or columns of a table, or which part of an item.
        array: Which array of a `.npz` file.
        grey: Whether pictures become grey or colour.
        progress: Told how many samples are done, and how many there are.

    Raises:
        FileNotFoundError: There is no such path.
        ValueError: It holds nothing that can be used, can't be read, or a setting doesn't fit it.
        DataChangedError: The cache was made from other data.
        TypeError: It is no form of data that is known.

    Warns:
        RandomDataWarning: Items are others each time they are read.
    """
    # The readers of all forms take half a second to import, and most who import this room read none.
    from proponent.data._reading import read_data
    from proponent.data._sources import Asked

    asked = Asked(None if size is None else int(size), column, array, grey)
    data = read_data(source, cache, asked, progress)
    if data.is_random:
        warnings.warn(
            f"The items of the data set `{type(source).__name__}` are others each time they are read, so it "
            "changes "
            "them at random, as for augmentation. They were read once and are kept like that. Take the "
            "random part "
            "out to have the data as they are.",
            RandomDataWarning,
            stacklevel=2,
        )
    return data
