"""The samples of a run: read from a file, brought to what the model takes."""

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt


class Samples(NamedTuple):
    """Samples and what a run's record says of them.

    Attributes:
        values: ``[n, ...]``, float32.
        table: Path, array, shape and fingerprint.
        notes: What was taken for granted, for a person to read.
    """

    values: npt.NDArray[np.float32]
    table: dict[str, Any]
    notes: tuple[str, ...] = ()


def read_samples(
    path: Path, array: str | None, conv: bool, channels_last: bool, name: str = "samples"
) -> Samples:
    """Read samples.

    Args:
        path: An array file.
        array: The array's name in a `.npz` file.
        conv: Whether they are for a convolutional model, ``[n, channels, height, width]``.
        channels_last: Whether the file has the channels last.
        name: What messages call them.

    Raises:
        ValueError: The file can't be used, or the shape is not that of images where images are needed.
        TypeError: The numbers are integers whose scale is unknown.
        FileNotFoundError: There is no such file.
    """
    from proponent.data import as_batch, as_floats, fingerprint, read_array

    raw = read_array(path, array)
    are_bytes = raw.dtype == np.uint8
    values = as_floats(raw, name)
    if conv:
        values = _as_images(values, channels_last, name)
    elif channels_last:
        raise ValueError(
            "`--channels-last` is for `--model conv`; the order of numbers doesn't matter to others."
        )
    table = {
        "path": str(path.resolve()),
        "array": array,
        "shape": list(values.shape),
        "fingerprint": fingerprint(as_batch(values)),
    }
    notes = (f"{path.name}: bytes, taken for pixels and divided by 255.",) if are_bytes else ()
    return Samples(values, table, notes)


def _as_images(values: npt.NDArray[np.float32], channels_last: bool, name: str) -> npt.NDArray[np.float32]:
    if values.ndim == 3:
        return values[:, None]
    if values.ndim != 4:
        raise ValueError(
            f"`{name}` must be images [n, channels, height, width] or [n, height, width] for `--model conv`, "
            f"got shape {values.shape}. Use `--model mlp` for other data."
        )
    if channels_last:
        return np.ascontiguousarray(np.moveaxis(values, 3, 1))
    if values.shape[3] in (1, 3, 4) and values.shape[1] not in (1, 3, 4):
        raise ValueError(
            f"`{name}` must have the channels first, [n, channels, height, width], got shape {values.shape}. "
            "Say `--channels-last` if they are last."
        )
    return values
