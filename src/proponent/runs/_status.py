"""`status`: where a run stands, and what to do next."""

import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from proponent.runs._folder import RunFolder
from proponent.runs._seconds import read_seconds
from proponent.storage import read_json

DONE, PART, OPEN = "done", "part", "open"


@dataclass(frozen=True)
class Stage:
    """One stage of a run.

    Attributes:
        name: What it is called.
        state: ``"done"``, ``"part"`` or ``"open"``.
        detail: How far it is, for a person to read.
        bytes: What it takes on the disk.
        seconds: How long it took so far; none where that isn't known.
    """

    name: str
    state: str
    detail: str = ""
    bytes: int = 0
    seconds: float | None = None


@dataclass(frozen=True)
class Status:
    """Where a run stands.

    Attributes:
        path: The run's folder.
        stages: Its stages in their order.
        next: The command to go on with.
        problem: What stands in the way, such as data that changed; empty where nothing does.
    """

    path: Path
    stages: tuple[Stage, ...]
    next: str
    problem: str = ""


def status(run: str | Path | RunFolder) -> Status:
    """Find out where a run stands: which stages are finished, how far the others are, what to do next.

    Args:
        run: The run's folder.

    Raises:
        FileNotFoundError: The folder is not a run's.
        ValueError: Its record can't be read.
    """
    folder = run if isinstance(run, RunFolder) else RunFolder(Path(run))
    tables = folder.read_begun()
    seconds = read_seconds(folder.seconds)
    trained = _training(folder, tables)
    stages: tuple[Stage, ...] = (
        _data(folder, tables),
        trained,
        _own(folder),
        _halves(folder),
        _rankings(folder),
    )
    stages += (_influence(folder), _file("report", folder.report), _file("review", folder.review))
    timed = tuple(Stage(**{**vars(stage), "seconds": seconds.get(stage.name)}) for stage in stages)
    return Status(folder.path, timed, _next(folder, tables, stages), _problem(folder, tables))


def _data(folder: RunFolder, tables: Mapping[str, Any]) -> Stage:
    size = _size(folder.data)
    table = tables.get("data")
    if table is None or not (folder.data / "data.json").exists():
        count = len(list((folder.data / "shards").glob("*.npz")))
        return Stage("data", PART if count else OPEN, f"{count} parts read" if count else "", size)
    n, aside = table["shape"][0], table.get("left_aside", 0)
    detail = f"{n:,} {table['kind']}" + (f", {aside:,} left aside" if aside else "")
    return Stage("data", DONE, detail, size)


def _training(folder: RunFolder, tables: Mapping[str, Any]) -> Stage:
    size, steps = _size(folder.trajectory), tables.get("training", {}).get("steps")
    if not folder.is_begun:
        return Stage("training", OPEN, f"0 of {steps:,} steps" if steps else "", size)
    kept = sorted(folder.trajectory.glob("checkpoint-*.safetensors"))
    last = int(kept[-1].stem.split("-")[-1]) if kept else 0
    state = DONE if last >= steps else PART
    return Stage("training", state, f"{last:,} of {steps:,} steps, {len(kept)} checkpoints", size)


def _own(folder: RunFolder) -> Stage:
    return _scored(folder, "self-influence", folder.self_influence, "self-influence-*")


def _halves(folder: RunFolder) -> Stage:
    pairs = len(list(folder.path.glob("jobs/rankings-*/tasks/pair-*.npz")))
    begun = len(list(folder.path.glob("jobs/halves-*/pair-*")))
    size = sum(_size(path) for path in folder.path.glob("jobs/halves-*"))
    # Whether more are wanted, only the file of rankings could tell.
    state = DONE if pairs and begun == pairs else (PART if begun else OPEN)
    detail = f"{2 * pairs} of {2 * begun} finished" if begun > pairs else f"{2 * pairs} models" * bool(pairs)
    return Stage("half models", state, detail, size)


def _rankings(folder: RunFolder) -> Stage:
    from proponent.evaluation import Rankings

    size = _size(folder.rankings) + sum(_size(path) for path in folder.path.glob("jobs/rankings-*"))
    try:
        found = Rankings.load(folder.rankings)
    except FileNotFoundError:
        count = len(list(folder.path.glob("jobs/rankings-*/tasks/*.npz")))
        return Stage("rankings", PART if count else OPEN, f"{count} columns kept" if count else "", size)
    except ValueError as error:
        return Stage("rankings", OPEN, str(error), size)
    return Stage("rankings", DONE, f"{len(found.columns)}; begin with `{found.default}`", size)


def _influence(folder: RunFolder) -> Stage:
    size = sum(_size(path) for path in folder.path.glob("jobs/influence-*"))
    size += sum(_size(path) for path in folder.scores.glob("influence*"))
    try:
        index = read_json(folder.influence)
    except (FileNotFoundError, ValueError):
        return Stage("influence", PART if size else OPEN, "", size)
    return Stage("influence", DONE, f"{len(index['all'])} kept, the newest `{index['newest']}`", size)


def _scored(folder: RunFolder, name: str, path: Path, jobs: str) -> Stage:
    folders = list(folder.path.glob(f"jobs/{jobs}"))
    size = _size(path) + sum(_size(each) for each in folders)
    if path.exists():
        return Stage(name, DONE, "", size)
    tasks = sum(len(list(each.glob("tasks/*.npz"))) for each in folders)
    return Stage(name, PART if tasks else OPEN, f"{tasks} tasks finished" if tasks else "", size)


def _file(name: str, path: Path) -> Stage:
    return Stage(name, DONE if path.exists() else OPEN, "", _size(path))


def _next(folder: RunFolder, tables: Mapping[str, Any], stages: tuple[Stage, ...]) -> str:
    states, run = {stage.name: stage.state for stage in stages}, shlex.quote(str(folder.path))
    if not states["training"] == states["data"] == DONE:
        return str(tables.get("made", {}).get("command", f"proponent train DATA --out {run}"))
    if states["rankings"] != DONE or states["half models"] == PART:
        return f"proponent rank {run}"
    return f"proponent review {run}"


def _problem(folder: RunFolder, tables: Mapping[str, Any]) -> str:
    """What is wrong with the data, if they were read and are to be found again."""
    from proponent.runs._data import find_data

    table = tables.get("data")
    if table is None or table.get("path") is None or not (folder.data / "data.json").exists():
        return ""
    try:
        find_data(folder, table)
    except (ValueError, FileNotFoundError) as error:
        return str(error)
    return ""


def _size(path: Path) -> int:
    """The bytes of a file, or of all files below a folder; some may vanish meanwhile."""
    return sum(_bytes(each) for each in _files(path))


def _files(path: Path) -> Iterator[Path]:
    return path.rglob("*") if path.is_dir() else iter([path])


def _bytes(path: Path) -> int:
    try:
        return path.stat().st_size if path.is_file() else 0
    except FileNotFoundError:
        return 0
