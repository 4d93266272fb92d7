"""A finished training, opened to be asked about."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from proponent.runs._data import find_data
from proponent.runs._folder import RunFolder, advice
from proponent.runs._scaling import Floats, Scaling
from proponent.runs._settings import build_model, build_objective

if TYPE_CHECKING:
    from torch import nn

    from proponent.data import DataSet
    from proponent.objectives import Elbo
    from proponent.training import Trajectory


@dataclass(frozen=True, eq=False)
class OpenedRun:
    """What a run's folder holds.

    Attributes:
        folder: The folder.
        tables: Its record.
        data: The data, with their ids.
        samples: The numbers that the model was trained on, in the same order.
        scaling: How they came about.
        model: The trained model.
        objective: What it was trained on.
        trajectory: Its checkpoints.
    """

    folder: RunFolder
    tables: Mapping[str, Mapping[str, Any]]
    data: "DataSet"
    samples: Floats
    scaling: Scaling
    model: "nn.Module"
    objective: "Elbo"
    trajectory: "Trajectory"


# A run's folder, or the run opened.
AnyRun = str | Path | RunFolder | OpenedRun


def open_run(path: str | Path | RunFolder, data: Any = None) -> OpenedRun:
    """Open a run, and see that its data are as they were and its training is finished.

    Args:
        path: The run's folder.
        data: Where the data lie now, if they were moved; or the object that they are.

    Raises:
        FileNotFoundError: The folder is not a run's, or the data are gone.
        ValueError: The data changed, the record can't be used, or the training isn't finished.
    """
    from proponent.training import Trajectory

    folder = path if isinstance(path, RunFolder) else RunFolder(Path(path))
    tables = folder.read()
    training = tables["training"]
    if not folder.is_begun:
        raise ValueError(
            f"The training of `{folder.path}` has no checkpoint yet. {advice(tables, folder.path)}"
        )
    trajectory = Trajectory.load(folder.trajectory)
    last = trajectory[len(trajectory) - 1]
    if last.step < training["steps"]:
        raise ValueError(
            f"The training of `{folder.path}` stopped at step {last.step} of {training['steps']}. "
            f"{advice(tables, folder.path)}"
        )
    found = find_data(folder, tables["data"], data)
    scaling = Scaling.from_table(tables["scaling"])
    samples = scaling(found.values, found.columns)
    model = build_model(
        tables["model"], tables["objective"]["likelihood"], samples.shape[1:], training["seed"]
    )
    model.load_state_dict(last.state())
    return OpenedRun(
        folder=folder,
        tables=tables,
        data=found,
        samples=samples,
        scaling=scaling,
        model=model.eval(),
        objective=build_objective(tables["objective"]),
        trajectory=trajectory,
    )


def opened(run: AnyRun, data: Any = None) -> OpenedRun:
    """Open a run unless it is open."""
    return run if isinstance(run, OpenedRun) else open_run(run, data)
