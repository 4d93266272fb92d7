"""Where a training's checkpoints go, and from where it is taken up again."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from torch import Tensor

from proponent.training._checkpoint import Checkpoint
from proponent.training._optimizer import Optimizer
from proponent.training._source import Memory, own_copy
from proponent.training._trajectory import Trajectory

Tensors = dict[str, Tensor]


@dataclass(frozen=True, eq=False)
class Progress:
    """All that one model's training needs to go on from a step to the same bits.

    Attributes:
        step: How many steps are made.
        state: Parameters and buffers.
        slots: The optimiser's state.
        losses: The logged losses so far, ``[k]``, in float64.
        pending: The losses of single steps since the last one logged.
    """

    step: int
    state: Tensors
    slots: Mapping[str, Tensors]
    losses: Tensor
    pending: Tensor

    def moments(self) -> Tensors | None:
        """Adam's second moments, for the trajectory."""
        return self.slots.get("second")


@dataclass(frozen=True)
class Course:
    """What is fixed for one model's training, for the manifest.

    Attributes:
        optimizer: What makes the steps.
        learning_rate: With this rate.
        sample_count: On as many samples.
        training: Everything else that a rerun must agree with.
        initial: A hash of the parameters that it begins with.
        shapes: The shapes of parameters and buffers.
    """

    optimizer: Optimizer
    learning_rate: float
    sample_count: int
    training: Mapping[str, Any] = field(default_factory=dict)
    initial: str = ""
    shapes: Mapping[str, tuple[int, ...]] = field(default_factory=dict)

    def facts(self) -> dict[str, Any]:
        """What two runs of one training have in common, by name."""
        own = {"optimizer": self.optimizer.describe(), "sample_count": self.sample_count}
        return own | dict(self.training)


class Keeper(ABC):
    """Keeps one model's checkpoints.

    A checkpoint is kept in three steps, so that an ensemble can make each for all members before the next
    and is never left with members that have no step in common.
    """

    course: Course
    checkpoints: list[Checkpoint]

    @abstractmethod
    def stage(self, progress: Progress) -> None:
        """Write what the checkpoint is made of; nobody sees it yet."""

    def commit(self) -> None:  # noqa: B027 (memory needs none of these)
        """Make the checkpoint count."""

    def sweep(self) -> None:  # noqa: B027
        """Remove what only a restart from an earlier checkpoint would need."""

    def steps_to_resume(self) -> list[int]:
        """The steps from which the training can be taken up; none where there is nothing yet."""
        return []

    def resume(self, step: int) -> Progress:
        """Go back to one of those steps.

        Raises:
            LookupError: There is no such step.
        """
        raise LookupError(f"Nothing was kept from which a training could be taken up at step {step}.")

    @property
    def directory(self) -> Path | None:
        """The folder, if there is one."""
        return None

    def trajectory(self) -> Trajectory:
        """What has been kept."""
        course = self.course
        return Trajectory(tuple(self.checkpoints), course.optimizer, course.sample_count, course.training)

    def last(self) -> Checkpoint | None:
        """The last checkpoint kept."""
        return self.checkpoints[-1] if self.checkpoints else None

    def steps_since_last(self, step: int) -> int:
        """How many steps a checkpoint at `step` stands for."""
        last = self.last()
        return step - (last.step if last else 0)


class MemoryKeeper(Keeper):
    """Keeps checkpoints in memory."""

    def __init__(self, course: Course) -> None:
        self.course, self.checkpoints = course, []

    def stage(self, progress: Progress) -> None:
        """Copy the tensors to the CPU."""
        moments = progress.moments()
        checkpoint = Checkpoint(
            step=progress.step,
            tensors=Memory(own_copy(progress.state)),
            learning_rate=self.course.learning_rate,
            steps=self.steps_since_last(progress.step),
            moments=None if moments is None else Memory(own_copy(moments)),
        )
        self.checkpoints.append(checkpoint)
