"""Gradients of samples at any checkpoint, under the draws that belong to it."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from proponent.data import Batch, move
from proponent.gradients import GradientCapture, Gradients
from proponent.randomness import keyed_normal
from proponent.training import Trajectory


@dataclass(frozen=True)
class Stage:
    """A checkpoint's part in a score.

    Attributes:
        trajectory: Which of the trajectories it belongs to.
        index: Its place in that trajectory.
        step: The training step at which it was taken.
        weight: Its weight in the sum over all stages, the mean over trajectories included.
        metric: The name of its metric, ``identity`` or ``adam``.
    """

    trajectory: int
    index: int
    step: int
    weight: float
    metric: str


class Source:
    """Loads a stage, and gives the gradients of samples there.

    Args:
        capture: Computes gradients.
        trajectories: What the stages refer to.
        shape: The shape of one draw, or none for an objective without noise.
        draws: How many draws each role has, m.
        seed: The seed of the draws.
    """

    def __init__(
        self,
        capture: GradientCapture,
        trajectories: Sequence[Trajectory],
        shape: tuple[int, ...] | None,
        draws: int,
        seed: int,
    ) -> None:
        self.capture = capture
        self.metric: dict[str, Tensor] | None = None
        self._trajectories = trajectories
        self._shape, self._draws, self._seed = shape, draws, seed
        self._stage: Stage | None = None

    @property
    def is_stochastic(self) -> bool:
        """Whether there are draws at all."""
        return self._shape is not None

    def load(self, stage: Stage) -> None:
        """Bring the model to a stage."""
        if stage == self._stage:
            return
        trajectory = self._trajectories[stage.trajectory]
        self.capture.load(trajectory[stage.index].state())
        metric = trajectory.metric(stage.index, stage.metric)
        self.metric = metric and {name: self._placed(part) for name, part in metric.items()}
        self._stage = stage

    def noise(self, trajectory: int, step: int, role: str) -> Tensor | None:
        """The draws of a role at a step, ``[m, *shape]``, or none for an objective without noise.

        They belong to (seed, trajectory, step, role), and to nothing else.
        """
        if self._shape is None:
            return None
        key = (self._seed, trajectory, step, role)
        return self._placed(keyed_normal((self._draws, *self._shape), *key, dtype=self.capture.dtype))

    def groups(self, stage: Stage, role: str, count: int) -> list[Tensor | None]:
        """The draws of a role at a stage, divided into groups of equal size."""
        noise = self.noise(stage.trajectory, stage.step, role)
        return [None] if noise is None else list(torch.chunk(noise, count))

    def gradients(self, batch: Batch, noise: Sequence[Tensor | None]) -> list[Gradients]:
        """The gradients of a batch at the stage that was loaded, once for each set of draws."""
        batch = self.place(batch)
        return [self.capture(batch, part) for part in noise]

    def place(self, batch: Batch) -> Batch:
        """Bring samples to the device, and floating-point ones to the dtype that is computed in."""
        return move(batch, self.capture.device, self.capture.dtype)

    def _placed(self, tensor: Tensor) -> Tensor:
        return tensor.to(self.capture.device, self.capture.dtype)
