"""Samples as the library sees them."""

from proponent.data._array_file import read_array
from proponent.data._batch import (
    Batch,
    as_batch,
    batch_size,
    check_finite,
    concatenate,
    map_leaves,
    move,
    take,
)
from proponent.data._changes import DataChangedError
from proponent.data._data_set import DataSet
from proponent.data._digits import PlantedDigits, digits_with_patches
from proponent.data._fingerprint import fingerprint
from proponent.data._left_aside import LeftAside
from proponent.data._open import open_data
from proponent.data._random_data import RandomDataWarning
from proponent.data._scale import as_floats

__all__ = [
    "Batch",
    "DataChangedError",
    "DataSet",
    "LeftAside",
    "PlantedDigits",
    "RandomDataWarning",
    "as_batch",
    "as_floats",
    "batch_size",
    "check_finite",
    "concatenate",
    "digits_with_patches",
    "fingerprint",
    "map_leaves",
    "move",
    "open_data",
    "read_array",
    "take",
]
