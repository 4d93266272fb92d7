"""What a training gives back."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from torch import nn

from proponent.training._trajectory import Trajectory


@dataclass(frozen=True, eq=False)
class Run:
    """A finished training.

    Attributes:
        trajectory: Its checkpoints.
        losses: The mean loss over each logging interval.
        loss_steps: The step with which each interval ended.
        model: The trained model, in evaluation mode.
        directory: The run's folder, or none.
    """

    trajectory: Trajectory
    losses: npt.NDArray[np.floating[Any]]
    loss_steps: npt.NDArray[np.integer[Any]]
    model: nn.Module
    directory: Path | None
