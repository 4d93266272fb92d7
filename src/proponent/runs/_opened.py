"""A finished training, opened to be asked about."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from proponent.runs._folder import RunFolder, check_same_data
from proponent.runs._samples import read_samples
from proponent.runs._settings import Model, build_model, build_objective

if TYPE_CHECKING:
    from torch import nn

    from proponent.objectives import Elbo
    from proponent.training import Trajectory


@dataclass(frozen=True, eq=False)
class OpenedRun:
    """What a run's folder holds.

    Attributes:
        folder: The folder.
        tables: Its record.
        samples: The samples that the model was trained on.
        model: The model; its parameters come from the trajectory.
        objective: What it was trained on.
        trajectory: Its checkpoints.
    """

    folder: RunFolder
    tables: Mapping[str, Mapping[str, Any]]
    samples: npt.NDArray[np.float32]
    model: "nn.Module"
    objective: "Elbo"
    trajectory: "Trajectory"


def open_run(path: Path, data: Path | None = None) -> OpenedRun:
    """Open a run, and see that its data are as they were and its training is finished.

    Args:
        path: The run's folder.
        data: Where the data lie now, if they were moved.

    Raises:
        FileNotFoundError: The folder is not a run's, or the data are gone.
        ValueError: The data changed, the record can't be used, or the training isn't finished.
    """
    from proponent.training import Trajectory

    folder = RunFolder(path)
    tables = folder.read()
    table, training = tables["data"], tables["training"]
    if not (folder.trajectory / "trajectory.json").exists():
        raise ValueError(f"The training of `{path}` has no checkpoint yet. {_advice(tables)}")
    trajectory = Trajectory.load(folder.trajectory)
    last = trajectory[len(trajectory) - 1].step
    if last < training["steps"]:
        raise ValueError(
            f"The training of `{path}` stopped at step {last} of {training['steps']}. {_advice(tables)}"
        )
    source = Path(table["path"]) if data is None else data
    if data is None and not source.exists():
        raise FileNotFoundError(
            f"The data of `{path}` are gone from `{source}`. Say where they are by `--data`."
        )
    samples = read_samples(
        source, table.get("array"), tables["model"]["name"] == Model.CONV, table.get("channels_last", False)
    )
    check_same_data(table, samples.table, path)
    return OpenedRun(
        folder=folder,
        tables=tables,
        samples=samples.values,
        model=build_model(
            tables["model"], tables["objective"]["likelihood"], samples.values.shape[1:], training["seed"]
        ).eval(),
        objective=build_objective(tables["objective"]),
        trajectory=trajectory,
    )


def _advice(tables: Mapping[str, Mapping[str, Any]]) -> str:
    command = tables.get("made", {}).get("command", "proponent train")
    return f"Finish it with `{command}`."
