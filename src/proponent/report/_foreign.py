"""Which samples are known to be foreign: from a file, or from a column of the data."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    import pandas as pd

    from proponent.data import DataSet

Flags = npt.NDArray[np.bool_]

_WORDS = {"true": True, "false": False, "1": True, "0": False, "1.0": True, "0.0": False}


def read_foreign(source: str | Path, data: "DataSet") -> Flags:
    """Find out which samples are foreign, ``[n]``.

    Args:
        source: A file: ``.txt`` with their ids, one a line; ``.csv`` or ``.parquet`` with a column ``id``,
            and maybe one that is true or false; ``.npy``, true or false for each sample. Or the name of a
            column of the data that is true or false.
        data: The samples.

    Raises:
        ValueError: The file or the column doesn't say it, or names a sample that there isn't.
        FileNotFoundError: There is neither such a file nor such a column.
    """
    path = Path(source)
    if path.suffix in (".txt", ".csv", ".parquet", ".npy"):
        return _of_file(path, data)
    return _of_column(str(source), data)


def _of_file(path: Path, data: "DataSet") -> Flags:
    if not path.is_file():
        raise FileNotFoundError(f"There is no file `{path}` that says which samples are foreign.")
    if path.suffix == ".npy":
        flags = np.load(path, allow_pickle=False)
        if flags.shape != (len(data),) or flags.dtype != np.bool_:
            raise ValueError(
                f"`{path}` must be true or false for each of the {len(data):,} samples, got {flags.dtype} of "
                f"shape {flags.shape}."
            )
        return np.asarray(flags)
    if path.suffix == ".txt":
        return _marked([line for line in path.read_text("utf-8").splitlines() if line], path, data)
    import pandas as pd

    frame = pd.read_csv(path, dtype={"id": str}) if path.suffix == ".csv" else pd.read_parquet(path)
    return _marked(_listed(frame, path), path, data)


def _listed(frame: "pd.DataFrame", path: Path) -> list[str]:
    if "id" not in frame:
        raise ValueError(f"`{path}` must have a column `id`, but has {', '.join(map(repr, frame.columns))}.")
    boolean = [name for name in frame if frame[name].dtype == bool]
    if len(boolean) > 1:
        raise ValueError(
            f"`{path}` must have at most one column that is true or false, but has "
            f"{', '.join(map(repr, boolean))}. Leave out the others."
        )
    chosen = frame[frame[boolean[0]]] if boolean else frame
    return [str(id_) for id_ in chosen["id"].tolist()]


def _marked(ids: list[str], path: Path, data: "DataSet") -> Flags:
    unknown = sorted(set(ids) - set(data.ids.tolist()))
    if unknown:
        raise ValueError(
            f"`{path}` must name samples of the run, but {len(unknown):,} of its {len(ids):,} are none, "
            f"such as {unknown[0]!r}."
        )
    return np.isin(data.ids, ids)


def _of_column(name: str, data: "DataSet") -> Flags:
    if name in data.columns:
        cells: list[Any] = data.values[:, data.columns.index(name)].tolist()
    else:
        cells = [data.describe(i).get(name) for i in range(len(data))]
    if all(cell is None for cell in cells):
        raise FileNotFoundError(
            f"`{name}` must be a .txt, .csv, .parquet or .npy file, or a column of the data, but is neither."
        )
    flags = [_WORDS.get(str(cell).lower()) for cell in cells]
    if None in flags:
        raise ValueError(
            f"The column `{name}` must be true or false for every sample, but is "
            f"{cells[flags.index(None)]!r} for `{data.ids[flags.index(None)]}`."
        )
    return np.array(flags, dtype=np.bool_)
