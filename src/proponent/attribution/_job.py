"""A job on disk: a record of what is computed, and a file for each finished task."""

import hashlib
import json
import warnings
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from torch import nn

from proponent.storage import read_json, whole_file, write_json

Arrays = dict[str, npt.NDArray[Any]]

# What reading a file that was cut short or altered can raise.
_DAMAGE = (
    ValueError,
    TypeError,
    EOFError,
    OSError,
    KeyError,
    SyntaxError,
    NotImplementedError,
    zipfile.BadZipFile,
)


class Job:
    """The folder of a job, or no folder at all, and then nothing is kept.

    ``job.json`` says what is computed; ``tasks/`` holds a file for each finished task, written whole or
    not at all. Several processes may work on one folder.

    Args:
        directory: The folder, made if missing; or none.
        configuration: Everything that the results depend on, fit for JSON.

    Raises:
        ValueError: The folder holds a job of another configuration; the differences are named.
    """

    def __init__(self, directory: str | Path | None, configuration: Mapping[str, Any]) -> None:
        self._directory = None if directory is None else Path(directory)
        self._configuration = _as_json(configuration)
        self._settings: dict[str, Any] = {}
        self._key = hashlib.sha256(json.dumps(self._configuration).encode()).hexdigest()
        if self._directory is None:
            return
        record = self._directory / "job.json"
        if not record.exists():
            write_json(record, {"configuration": self._configuration, "settings": {}})
        found = read_json(record)
        self._check_same(found.get("configuration", {}))
        self._settings = found.get("settings", {})

    def settled(self, asked: Mapping[str, Any]) -> Mapping[str, Any] | None:
        """What was settled in an earlier run of this job in which the same was asked for, or none.

        Args:
            asked: What the user asked for; it may change from run to run.
        """
        same = self._settings.get("asked") == _as_json(asked)
        return self._settings.get("settled") if same else None

    def settle(self, asked: Mapping[str, Any], settled: Mapping[str, Any]) -> None:
        """Keep what was settled, so that a restart computes in the same way, to the same bits."""
        self._settings = {"asked": _as_json(asked), "settled": _as_json(settled)}
        if self._directory is not None:
            record = {"configuration": self._configuration, "settings": self._settings}
            write_json(self._directory / "job.json", record)

    def load(self, task: str) -> Arrays | None:
        """Read the arrays of a finished task; none if it isn't finished.

        A damaged file, or another job's, is reported as a warning, and its task counts as not finished.
        """
        if self._directory is None or not self._path(task).exists():
            return None
        try:
            with self._path(task).open("rb") as file, np.load(file, allow_pickle=False) as kept:
                arrays = {name: kept[name] for name in kept.files}  # the format has a checksum for each
            if str(arrays.pop("job")) == self._key:
                return arrays
            problem = "it belongs to another job"
        except _DAMAGE as error:
            problem = str(error)
        warnings.warn(
            f"`{self._path(task)}` is damaged ({problem}); its task is computed again.", stacklevel=2
        )
        return None

    def save(self, task: str, arrays: Arrays) -> None:
        """Keep the arrays of a finished task."""
        if self._directory is not None:
            with whole_file(self._path(task)) as temporary:
                # The key comes last: its presence proves the rest.
                np.savez(temporary, **arrays, job=np.array(self._key))  # type: ignore[arg-type]

    def _path(self, task: str) -> Path:
        assert self._directory is not None
        return self._directory / "tasks" / f"{task}.npz"

    def _check_same(self, found: Mapping[str, Any]) -> None:
        keys = {**self._configuration, **found}
        different = [
            f"{key}: {_brief(found.get(key))} there, {_brief(self._configuration.get(key))} now"
            for key in keys
            if found.get(key) != self._configuration.get(key)
        ]
        if different:
            raise ValueError(
                f"`directory` must be empty or hold the same job, but `{self._directory}` holds one with "
                f"{'; '.join(different)}. Name another folder, or set these back."
            )


def architecture(model: nn.Module) -> str:
    """A hash of what a state dict leaves open: the modules, their mode, and which parameters are trained."""
    trained = [name for name, parameter in model.named_parameters() if parameter.requires_grad]
    modes = [module.training for module in model.modules()]
    return hashlib.sha256(repr((repr(model), trained, modes)).encode()).hexdigest()


def _as_json(record: Mapping[str, Any]) -> dict[str, Any]:
    """The record as it will be read back."""
    return dict(json.loads(json.dumps(record)))


def _brief(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= 40 else f"{text[:36]}..."
