"""The manifest: the JSON file that says which files make a trajectory, and how it was trained."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch

from proponent._version import __version__
from proponent.storage import read_json, write_json
from proponent.training._checkpoint import Checkpoint
from proponent.training._optimizer import Optimizer
from proponent.training._source import Source, TensorFile, own_copy, write_tensors
from proponent.training._trajectory import Trajectory

NAME = "trajectory.json"
FORMAT = "proponent trajectory"
VERSION = 1


def checkpoint_path(directory: Path, step: int) -> Path:
    """Where the parameters and buffers at a step are kept."""
    return directory / f"checkpoint-{step:08d}.safetensors"


def moments_path(directory: Path, step: int) -> Path:
    """Where Adam's second moments at a step are kept."""
    return directory / f"moments-{step:08d}.safetensors"


def describe_file(source: Source | None) -> dict[str, Any] | None:
    """What the manifest says of a file."""
    if source is None:
        return None
    if not isinstance(source, TensorFile):
        raise TypeError(f"A manifest must speak of files, got a {type(source).__name__}.")
    return {"file": source.path.name, "sha256": source.sha256, "bytes": source.size}


def opened_file(directory: Path, record: Mapping[str, Any] | None) -> TensorFile | None:
    """The file that a manifest speaks of."""
    if record is None:
        return None
    return TensorFile(directory / record["file"], record["sha256"], record["bytes"])


def describe_trajectory(trajectory: Trajectory) -> dict[str, Any]:
    """The manifest of a trajectory whose checkpoints are files."""
    return {
        "format": FORMAT,
        "version": VERSION,
        "optimizer": trajectory.optimizer.describe(),
        "sample_count": trajectory.sample_count,
        "training": dict(trajectory.training),
        "checkpoints": [_describe_checkpoint(checkpoint) for checkpoint in trajectory],
        "versions": {"proponent": __version__, "torch": str(torch.__version__)},
    }


def save_trajectory(trajectory: Trajectory, directory: Path) -> Trajectory:
    """Write a trajectory's files, and last the manifest."""
    if (directory / NAME).exists():
        raise FileExistsError(f"`{directory}` must not hold a trajectory yet. Choose another folder.")
    saved = replace(trajectory, checkpoints=tuple(_save_checkpoint(each, directory) for each in trajectory))
    write_json(directory / NAME, describe_trajectory(saved))
    return saved


def load_trajectory(directory: Path) -> Trajectory:
    """Open the trajectory of a folder."""
    return opened_trajectory(directory, read_manifest(directory))


def read_manifest(directory: Path) -> dict[str, Any]:
    """Read and check the manifest of a folder."""
    path = directory / NAME
    if not path.exists():
        raise FileNotFoundError(f"There is no trajectory in `{directory}`: it holds no `{NAME}`.")
    record = read_json(path)
    if record.get("format") != FORMAT:
        raise ValueError(f"`{path}` must be the manifest of a trajectory, but its `format` does not say so.")
    if record.get("version") != VERSION:
        raise ValueError(
            f"`{path}` must be of version {VERSION}, got {record.get('version')}. Read it with the "
            "release of proponent that wrote it."
        )
    missing = [key for key in ("optimizer", "sample_count", "training", "checkpoints") if key not in record]
    if missing:
        raise ValueError(f"`{path}` lacks {', '.join(missing)}: it was edited. Restore it from a copy.")
    return record


def opened_trajectory(directory: Path, record: Mapping[str, Any]) -> Trajectory:
    """The trajectory that a manifest speaks of."""
    if not record["checkpoints"]:
        raise FileNotFoundError(f"The training in `{directory}` has made no checkpoint yet. Run it on.")
    return Trajectory(
        checkpoints=opened_checkpoints(directory, record),
        optimizer=Optimizer.from_description(record["optimizer"]),
        sample_count=record["sample_count"],
        training=record["training"],
    )


def opened_checkpoints(directory: Path, record: Mapping[str, Any]) -> tuple[Checkpoint, ...]:
    """The checkpoints that a manifest speaks of."""
    try:
        return tuple(_opened_checkpoint(directory, each) for each in record["checkpoints"])
    except KeyError as error:
        raise ValueError(
            f"`{directory / NAME}` lacks {error} of a checkpoint: it was edited. Restore it from a copy."
        ) from error


def _describe_checkpoint(checkpoint: Checkpoint) -> dict[str, Any]:
    return {
        "step": checkpoint.step,
        "learning_rate": checkpoint.learning_rate,
        "steps": checkpoint.steps,
        "tensors": describe_file(checkpoint.tensors),
        "moments": describe_file(checkpoint.moments),
    }


def _opened_checkpoint(directory: Path, record: Mapping[str, Any]) -> Checkpoint:
    tensors = record["tensors"]
    return Checkpoint(
        step=record["step"],
        tensors=TensorFile(directory / tensors["file"], tensors["sha256"], tensors["bytes"]),
        learning_rate=record["learning_rate"],
        steps=record["steps"],
        moments=opened_file(directory, record["moments"]),
    )


def _save_checkpoint(checkpoint: Checkpoint, directory: Path) -> Checkpoint:
    moments = checkpoint.second_moments()
    return replace(
        checkpoint,
        tensors=write_tensors(checkpoint_path(directory, checkpoint.step), own_copy(checkpoint.state())),
        moments=None
        if moments is None
        else write_tensors(moments_path(directory, checkpoint.step), own_copy(moments)),
    )
