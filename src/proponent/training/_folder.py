"""A run folder: checkpoints written whole or not at all, and a manifest that says which of them count.

The manifest is written last. A training killed at any moment leaves a folder whose manifest speaks only of
files that are there; files it doesn't speak of are written over when the training goes on.
"""

import warnings
from pathlib import Path
from typing import Any

from torch import Tensor

from proponent.storage import write_json
from proponent.training._checkpoint import Checkpoint
from proponent.training._fitting import misfits
from proponent.training._keeper import Course, Keeper, Progress, Tensors
from proponent.training._manifest import (
    NAME,
    checkpoint_path,
    describe_file,
    describe_trajectory,
    moments_path,
    opened_checkpoints,
    opened_file,
    read_manifest,
)
from proponent.training._source import TensorFile, check_exists, own_copy, write_tensors


class FolderKeeper(Keeper):
    """Keeps checkpoints in a folder.

    Args:
        folder: It is made if it isn't there.
        course: What the training is; a folder of another one is refused.

    Raises:
        ValueError: The folder holds another training, or that of another model; names what differs.
    """

    def __init__(self, folder: Path, course: Course) -> None:
        self.folder, self.course = folder, course
        self.checkpoints: list[Checkpoint] = []
        self._progress: TensorFile | None = None
        if (folder / NAME).exists():
            self._take_up(read_manifest(folder))

    @property
    def directory(self) -> Path:
        """The folder."""
        return self.folder

    def stage(self, progress: Progress) -> None:
        """Write the checkpoint's files and what a restart needs."""
        moments = progress.moments()
        step = progress.step
        checkpoint = Checkpoint(
            step=step,
            tensors=write_tensors(checkpoint_path(self.folder, step), own_copy(progress.state)),
            learning_rate=self.course.learning_rate,
            steps=self.steps_since_last(step),
            moments=None
            if moments is None
            else write_tensors(moments_path(self.folder, step), own_copy(moments)),
        )
        self._progress = write_tensors(self._progress_path(step), own_copy(_flat(progress)))
        self.checkpoints.append(checkpoint)

    def commit(self) -> None:
        """Write the manifest."""
        manifest = describe_trajectory(self.trajectory())
        write_json(
            self.folder / NAME,
            manifest | {"initial": self.course.initial, "progress": describe_file(self._progress)},
        )

    def sweep(self) -> None:
        """Remove the progress of earlier checkpoints."""
        for path in self.folder.glob("progress-*.safetensors"):
            if self._progress is not None and path != self._progress.path:
                path.unlink(missing_ok=True)

    def steps_to_resume(self) -> list[int]:
        """The checkpoints that have their progress still."""
        return [each.step for each in self.checkpoints if self._progress_path(each.step).exists()]

    def resume(self, step: int) -> Progress:
        """Read the progress at a checkpoint, and forget the later ones."""
        latest = self.checkpoints[-1].step
        self.checkpoints = [each for each in self.checkpoints if each.step <= step]
        if step != latest or self._progress is None:
            self._progress = TensorFile(self._progress_path(step))
        checkpoint = self.checkpoints[-1]
        tensors = self._progress.read()
        slots: dict[str, Tensors] = {}
        for name, tensor in tensors.items():
            slot, _, parameter = name.partition("/")
            if parameter:
                slots.setdefault(slot, {})[parameter] = tensor
        moments = checkpoint.second_moments()
        if moments is not None:
            slots["second"] = moments
        return Progress(step, checkpoint.state(), slots, tensors["losses"], tensors["pending"])

    def _progress_path(self, step: int) -> Path:
        return self.folder / f"progress-{step:08d}.safetensors"

    def _take_up(self, manifest: dict[str, Any]) -> None:
        self._check_same(manifest)
        self.checkpoints = list(opened_checkpoints(self.folder, manifest))
        self._progress = opened_file(self.folder, manifest.get("progress"))
        if self._progress is None:
            raise ValueError(
                f"`{self.folder}` holds a trajectory that was saved there, without what a training needs to "
                "go on. Choose another folder."
            )
        check_exists(self._progress.path)
        for checkpoint in self.checkpoints:  # reads headers alone, and notices a file that was cut short
            self._check_same_shapes(checkpoint)
            if checkpoint.moments is not None:
                checkpoint.moments.shapes()
        self._warn_of_other_start(manifest)

    def _check_same(self, manifest: dict[str, Any]) -> None:
        there = {key: manifest[key] for key in ("optimizer", "sample_count")} | manifest["training"]
        here = self.course.facts()
        differing = [key for key in {**there, **here} if there.get(key) != here.get(key)]
        if differing:
            named = "; ".join(f"{key} is {there.get(key)} there, {here.get(key)} here" for key in differing)
            raise ValueError(
                f"`directory` must hold this very training or none, but in `{self.folder}` {named}. "
                "Make the same call as before to go on with it, or choose another folder."
            )

    def _check_same_shapes(self, checkpoint: Checkpoint) -> None:
        found = misfits(checkpoint.tensors.shapes(), self.course.shapes)
        if found:
            raise ValueError(
                f"`directory` must hold a training of this model or none, but in `{self.folder}` these keys "
                f"of the model trained are {found}. Pass the model of that training to go on with it, or "
                "choose another folder."
            )

    def _warn_of_other_start(self, manifest: dict[str, Any]) -> None:
        if manifest.get("initial") != self.course.initial:
            warnings.warn(
                f"The model passed begins with other parameters than the training in `{self.folder}` did. "
                "That training is taken up as it is; choose another folder to begin anew.",
                stacklevel=2,
            )


def _flat(progress: Progress) -> Tensors:
    """One dict of what a restart needs beside the checkpoint's own files."""
    flat: dict[str, Tensor] = {"losses": progress.losses, "pending": progress.pending}
    for slot, tensors in progress.slots.items():
        if slot != "second":  # these are the moments' file
            flat |= {f"{slot}/{name}": tensor for name, tensor in tensors.items()}
    return flat
