"""`train`: from data to a trained model, in a folder."""

import shlex
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from proponent.runs._automatic import complete
from proponent.runs._data import data_table, read_data
from proponent.runs._data_in_memory import keep_in_memory
from proponent.runs._folder import RunFolder
from proponent.runs._prepare import Prepared, prepare
from proponent.runs._seconds import timed
from proponent.runs._settings import Settings, build_model, build_objective
from proponent.runs._telling import Progress, Tell, bars, silent


def train(
    data: Any,
    out: str | Path | None = None,
    settings: Settings | None = None,
    *,
    size: int | None = None,
    column: Any = None,
    array: str | None = None,
    grey: bool | None = None,
    command: str | None = None,
    tell: Tell = silent,
    progress: Progress = bars,
) -> RunFolder:
    """Train a beta-VAE on data of any form, and keep data, trajectory and record in a folder.

    A training that was stopped, at whatever moment, is taken up by the same call; a finished one is left as
    it is.

    Args:
        data: A path or an object, as `proponent.data.open_data` takes it.
        out: The run's folder; ``runs/`` and the name of the data, unless given.
        settings: The model and its training; what isn't said is chosen to suit the data.
        size: As in `open_data`.
        column: As in `open_data`.
        array: As in `open_data`.
        grey: As in `open_data`.
        command: What the record calls the command that made it.
        tell: Takes a sentence for a person to read.
        progress: Shows progress.

    Returns:
        The run's folder.

    Raises:
        FileNotFoundError: There are no such data.
        ValueError: The data or a setting can't be used, or the folder holds another run, or other files.
        TypeError: The data have no form that is known.
        DivergedError: The loss turned NaN or infinite.
    """
    folder = RunFolder(default_out(data) if out is None else Path(out))
    settings = settings or Settings()
    asked = {"size": size, "column": column, "array": array, "grey": grey}
    given = {name: value for name, value in {**asked, **asdict(settings)}.items() if value is not None}
    folder.claim(command or command_of(data, folder.path, given))
    try:
        there = folder.read() if folder.is_begun else {}
        options = {
            name: there.get("data", {}).get(name) if value is None else value for name, value in asked.items()
        }
        with timed(folder.seconds, "data"):
            samples = read_data(keep_in_memory(data, folder), folder, options, progress)
        for note in _notes_on(samples):
            tell(note)
        likelihood = settings.likelihood or there.get("objective", {}).get("likelihood")
        prepared = prepare(samples, likelihood)
        for note in prepared.notes:
            tell(note)
        tables = {
            "data": data_table(samples),
            "scaling": prepared.scaling.to_table(),
            **complete(settings, prepared, there),
        }
        chosen = {**tables["model"], **tables["objective"], **tables["training"]}
        chosen["model"] = chosen.pop("name")
        spelt = command or command_of(
            data, folder.path, {k: v for k, v in {**options, **chosen}.items() if v is not None}
        )
        _fit(folder, prepared, tables, spelt, tell, progress)
    except (ValueError, TypeError, FileNotFoundError):
        folder.release()
        raise
    return folder


def _fit(
    folder: RunFolder,
    prepared: Prepared,
    tables: Mapping[str, Mapping[str, Any]],
    command: str,
    tell: Tell,
    progress: Progress,
) -> None:
    from proponent.training import fit

    training, objective = tables["training"], tables["objective"]
    vae = build_model(tables["model"], objective["likelihood"], prepared.values.shape[1:], training["seed"])
    loss = build_objective(objective)
    verb = "Taking up the training of" if folder.begin(tables, command) else "Training"
    n, steps = len(prepared.values), training["steps"]
    tell(f"{verb} a beta-VAE on {n:,} samples: {steps:,} steps.")
    with timed(folder.seconds, "training") as tick, progress("training", steps) as advance:

        def report(step: int, value: float) -> None:
            advance(step, f"loss {value:.5g}")
            tick()

        run = fit(vae, loss, prepared.values, directory=folder.trajectory, progress=report, **training)
    tell(f"The mean loss went from {run.losses[0]:.5g} to {run.losses[-1]:.5g}.")


def _notes_on(samples: Any) -> list[str]:
    """What a person should know of the data before the work begins."""
    notes = [*samples.notes]
    if samples.left_aside:
        first = samples.left_aside[0]
        notes.append(
            f"{len(samples.left_aside):,} left aside that can't be used, the first `{first.id}`: "
            f"{first.reason}."
        )
    repeated = int((samples.duplicates >= 0).sum())
    if repeated:
        groups = int(samples.duplicates.max()) + 1
        notes.append(f"{repeated:,} samples are exact copies of each other, in {groups:,} groups.")
    return notes


def default_out(data: Any) -> Path:
    """Where the run of some data lies unless said: ``runs/`` and their name."""
    name = Path(data).resolve().stem if isinstance(data, str | Path) else type(data).__name__.lower()
    return Path("runs") / (name or "data")


def command_of(data: Any, out: Path, options: Mapping[str, Any]) -> str:
    """The command with options spelt out, so that it means the same when a default changes."""
    if not isinstance(data, str | Path):
        return f"proponent.runs.train(..., {str(out)!r})"
    words = ["proponent", "train", str(data), "--out", str(out)]
    for name, value in options.items():
        option = name.replace("_", "-")
        if name == "grey":
            words.append("--grey" if value else "--colour")
        else:
            for each in [value] if isinstance(value, str) or not hasattr(value, "__iter__") else value:
                words += [f"--{option}", str(each)]
    return shlex.join(words)
