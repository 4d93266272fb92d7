"""`apply`: the manifest of a review, which says what stays. No sample is touched."""

import csv
import shlex
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy.typing as npt

from proponent.review._decisions import Decision, Decisions, standing
from proponent.review._table import verdict_columns
from proponent.runs._data import find_data
from proponent.runs._folder import RunFolder
from proponent.storage import whole_file

_COLUMNS = ["id", "verdict", "keep"]


def apply(run: str | Path | RunFolder, out: str | Path, data: Any = None) -> dict[str, int]:
    """Write which samples of a run stay, as `write_manifest` does.

    Args:
        run: The run's folder.
        out: The manifest.
        data: Where the data lie now, if they were moved.

    Returns:
        How many samples have each verdict, and how many have none (``"left"``).

    Raises:
        FileNotFoundError: There is no such run, or no decision yet.
        ValueError: The data changed, or the manifest can't be written.
    """
    folder = run if isinstance(run, RunFolder) else RunFolder(Path(run))
    table = folder.read()["data"]
    if not folder.review.exists():
        raise FileNotFoundError(
            f"Nobody has reviewed `{folder.path}` yet. Begin with "
            f"`proponent review {shlex.quote(str(folder.path))}`."
        )
    with closing(Decisions(folder.review)) as decisions:
        verdicts = standing(decisions.log())
    return write_manifest(Path(out), find_data(folder, table, data).ids, verdicts)


def write_manifest(path: Path, ids: npt.NDArray[Any], verdicts: Mapping[str, Decision]) -> dict[str, int]:
    """Write which samples stay.

    A ``.parquet`` or ``.csv`` file has a row for each sample, with its id, its verdict (empty without one)
    and ``keep``; a ``.txt`` file has the ids that stay, one a line. A manifest that is there is written
    anew; any other file is left alone.

    Args:
        path: The file.
        ids: The samples.
        verdicts: The decisions that stand, by id.

    Returns:
        How many samples have each verdict, and how many have none (``"left"``).

    Raises:
        ValueError: The file's kind is another, it holds something else, or ids can't stand in lines.
    """
    writers = {".parquet": _write_parquet, ".csv": _write_csv, ".txt": _write_text}
    if path.suffix not in writers:
        raise ValueError(f"A manifest must be a {', '.join(writers)} file, got `{path.name}`.")
    columns = verdict_columns(ids, verdicts)
    if (path.exists() or path.is_symlink()) and not _is_manifest(path, set(columns["id"])):
        raise ValueError(
            f"`{path}` is there already and is no manifest of these samples. Nothing of yours is "
            "overwritten; name another file."
        )
    writers[path.suffix](path, columns)
    counts = dict.fromkeys(("keep", "discard", "unsure", "left"), 0)
    for verdict in columns["verdict"]:
        counts[verdict or "left"] += 1
    return counts


def _write_parquet(path: Path, columns: dict[str, Any]) -> None:
    import pandas as pd

    from proponent.scores import write_table

    write_table(path, pd.DataFrame(columns), {"kind": "manifest"})


def _write_csv(path: Path, columns: dict[str, Any]) -> None:
    with whole_file(path) as temporary, temporary.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(_COLUMNS)
        writer.writerows(zip(*(columns[name] for name in _COLUMNS), strict=True))


def _write_text(path: Path, columns: dict[str, Any]) -> None:
    kept = [id_ for id_, keep in zip(columns["id"], columns["keep"], strict=True) if keep]
    for id_ in kept:
        if id_.splitlines() != [id_]:
            raise ValueError(
                f"Ids must stand in one line each to be listed in `{path.name}`, but {id_!r} has several. "
                "Write a `.parquet` or `.csv` manifest."
            )
    with whole_file(path) as temporary:
        temporary.write_text("".join(f"{id_}\n" for id_ in kept), "utf-8")


def _is_manifest(path: Path, ids: set[str]) -> bool:
    """Whether a file is a manifest that `write_manifest` wrote."""
    try:
        if path.suffix == ".parquet":
            from proponent.scores import read_table

            return bool(read_table(path)[1].get("kind") == "manifest")
        if path.suffix == ".csv":
            with path.open(encoding="utf-8", newline="") as file:
                return next(csv.reader(file), None) == _COLUMNS
        return set(path.read_text("utf-8").splitlines()) <= ids
    except (ValueError, OSError, csv.Error):
        return False
