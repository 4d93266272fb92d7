"""The data of a run: read into its folder, and found again there."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from proponent.runs._data_in_memory import KEPT
from proponent.runs._folder import RunFolder, check_same_data
from proponent.runs._telling import Progress

if TYPE_CHECKING:
    from proponent.data import DataSet

_OPTIONS = ("size", "column", "array", "grey")
_NEW, _GONE, _CHANGED = "new", "gone", "changed"
_SHOWN = 3


def read_data(source: Any, folder: RunFolder, options: Mapping[str, Any], progress: Progress) -> "DataSet":
    """Read data into a run's folder, or take up what was read.

    Args:
        source: A path or an object, as `open_data` takes it.
        folder: The run's folder.
        options: The settings of `open_data`.
        progress: Shows progress.

    Raises:
        ValueError: The data can't be used, or changed under a run.
        FileNotFoundError: There is no such path.
        TypeError: It is no form of data that is known.
    """
    from proponent.data import DataChangedError, open_data

    asked = {name: options.get(name) for name in _OPTIONS}
    # How many there are is known only once the reading begins.
    shown: list[Any] = []

    def report(done: int, count: int) -> None:
        if not shown:
            shown.append(progress("samples read", count))
            shown.append(shown[0].__enter__())
        shown[1](done, "")

    try:
        return open_data(source, folder.data, progress=report, **asked)
    except DataChangedError as error:
        parts = [
            f"{len(names):,} {word} ({', '.join(f'`{name}`' for name in names[:_SHOWN])}"
            f"{', ...' if len(names) > _SHOWN else ''})"
            for word, names in ((_NEW, error.new), (_GONE, error.gone), (_CHANGED, error.changed))
            if names
        ]
        raise ValueError(
            f"The data changed under the run `{folder.path}`: {', '.join(parts)}. Bring the old data back, "
            "or train a new run."
        ) from error
    finally:
        if shown:
            shown[0].__exit__(None, None, None)


def find_data(folder: RunFolder, table: Mapping[str, Any], elsewhere: Any = None) -> "DataSet":
    """Open the data of a run again.

    Args:
        folder: The run's folder.
        table: The table `data` of its record.
        elsewhere: Where the data lie now, or the object that they are.

    Raises:
        FileNotFoundError: The data are gone.
        ValueError: They changed, or were an object in memory.
    """
    from proponent.data import open_data
    from proponent.runs._telling import bars

    source = table.get("path") if elsewhere is None else elsewhere
    if source is None:
        raise ValueError(
            f"The data of `{folder.path}` were in memory ({table.get('form')}): pass them as `data` again."
        )
    if elsewhere is None and not Path(source).exists() and Path(source).stem == KEPT:
        source = folder.data / Path(source).name  # the whole folder was moved
    if elsewhere is None and not Path(source).exists():
        raise FileNotFoundError(
            f"The data of `{folder.path}` are gone from `{source}`. Say where they are by `--data`."
        )
    try:
        data = read_data(source, folder, table, bars)
    except ValueError:
        if elsewhere is None:
            raise
        # Of another name, or never read from there: only the content counts.
        data = open_data(source, **{name: table.get(name) for name in _OPTIONS})
    check_same_data(table, data_table(data), folder.path)
    return data


def data_table(data: "DataSet") -> dict[str, Any]:
    """What a run's record says of its data."""
    source = {name: data.source.get(name) for name in ("path", "form", *_OPTIONS)}
    return source | {
        "kind": data.kind,
        "shape": list(data.values.shape),
        "left_aside": len(data.left_aside),
        "fingerprint": data.fingerprint,
    }
