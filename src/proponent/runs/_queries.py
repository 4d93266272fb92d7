"""What is asked about a run: data of any form, brought to what its model takes."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from proponent.runs._opened import OpenedRun
from proponent.runs._scaling import Floats, Scaling

if TYPE_CHECKING:
    from proponent.data import DataSet


def read_queries(
    run: OpenedRun, queries: Any, column: Any = None, array: str | None = None
) -> "tuple[DataSet, Floats]":
    """Read queries, in the size and the scale of the run's samples.

    Args:
        run: The run.
        queries: A path or an object, as `open_data` takes it.
        column: As in `open_data`; that of the run unless given.
        array: As in `open_data`.

    Returns:
        The queries with their ids, and the numbers for the model.

    Raises:
        FileNotFoundError: There is no such path.
        ValueError: They can't be used, or don't fit the run's samples.
        TypeError: They have no form that is known.
    """
    from proponent.data import open_data

    table = run.tables["data"]
    if column is None and not _is_array_file(queries):
        column = table.get("column")
    found = open_data(queries, column=column, array=array)
    wanted = tuple(table["shape"][1:])
    if found.kind == table["kind"] == "images" and found.values.shape[1:] != wanted:
        found = _resized(found, queries, wanted, column, array)
    values = found.values
    if found.kind == table["kind"] == "images" and values.shape[1] == 1 and wanted[0] == 3:
        values = np.repeat(values, 3, axis=1)
    _check(found, values, run, wanted)
    numbers = run.scaling(values, found.columns) if table["kind"] == "rows" else _scaled(run, values)
    return found, numbers


def _resized(found: "DataSet", queries: Any, wanted: tuple[int, ...], column: Any, array: Any) -> "DataSet":
    from proponent.data import open_data

    channels, height, width = wanted
    is_encoded = "width" in found.facts
    size = height if height == width and found.values.shape[2:] != wanted[1:] else found.source.get("size")
    grey = channels == 1 if is_encoded and found.values.shape[1] != channels else None
    return open_data(queries, size=size, column=column, array=array, grey=grey)


def _scaled(run: OpenedRun, values: Any) -> Floats:
    if run.scaling.form == "bytes" and values.dtype != np.uint8:
        return np.ascontiguousarray(values, dtype=np.float32)  # shares of 1 already
    if run.scaling.form == "none" and values.dtype == np.uint8:
        return Scaling("bytes")(values)
    return run.scaling(values)


def _check(found: "DataSet", values: Any, run: OpenedRun, wanted: tuple[int, ...]) -> None:
    kind = run.tables["data"]["kind"]
    if found.kind != kind:
        raise ValueError(
            f"`queries` must be {kind}, as the samples of the run are, got {found.kind} of shape "
            f"{found.values.shape}."
        )
    if kind != "rows" and values.shape[1:] != wanted:
        raise ValueError(
            f"`queries` must have the shape of the samples, {wanted} each, got {values.shape[1:]}. "
            "A single query still needs an axis of its own, of size 1."
        )


def _is_array_file(queries: Any) -> bool:
    return isinstance(queries, str | Path) and Path(queries).suffix in (".npy", ".npz")
