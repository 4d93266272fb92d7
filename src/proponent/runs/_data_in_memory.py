"""Data that a caller has in memory, written to the run's folder so that commands find them too."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from proponent.runs._folder import RunFolder
from proponent.storage import whole_file

if TYPE_CHECKING:
    import pyarrow as pa

# What the file is called, before its suffix.
KEPT = "source"


def keep_in_memory(source: Any, folder: RunFolder) -> Any:
    """Write an array of numbers or a table to a file in the run's folder.

    Args:
        source: What the data are, in any form.
        folder: The run's folder.

    Returns:
        The file; the source itself where it is a path already, or of a form that isn't written.

    Raises:
        ValueError: The file is there and holds other data.
    """
    if hasattr(source, "detach"):
        source = source.detach().cpu().numpy()
    if isinstance(source, np.ndarray) and source.dtype.kind in "fiub":
        path = folder.data / f"{KEPT}.npy"
        if not path.exists():
            with whole_file(path) as temporary:
                np.save(temporary, source, allow_pickle=False)
        return _checked(_is_same_array(path, source), path, folder)
    # A data set of the hub has such a stream, too, but more types than a file.
    if hasattr(source, "__arrow_c_stream__") and not hasattr(source, "with_format"):
        import pyarrow as pa
        import pyarrow.parquet as pq

        table = pa.table(source)
        path = folder.data / f"{KEPT}.parquet"
        if not path.exists():
            with whole_file(path) as temporary:
                pq.write_table(table, temporary)
        return _checked(_is_same_table(path, table), path, folder)
    return source


def _is_same_array(path: Path, array: npt.NDArray[Any]) -> bool:
    there = np.load(path, mmap_mode="r", allow_pickle=False)
    same_form = there.shape == array.shape and there.dtype == array.dtype
    return same_form and np.array_equal(there, array, equal_nan=array.dtype.kind == "f")


def _is_same_table(path: Path, table: "pa.Table") -> bool:
    import pyarrow.parquet as pq

    there = pq.read_table(path)
    # Through pandas' eyes, for which two NaN are the same.
    return bool(there.column_names == table.column_names and there.to_pandas().equals(table.to_pandas()))


def _checked(same: bool, path: Path, folder: RunFolder) -> Path:
    if not same:
        raise ValueError(
            f"The data changed under the run `{folder.path}`: they are not those in `{path.name}`. Bring the "
            "old data back, or train a new run."
        )
    return path
