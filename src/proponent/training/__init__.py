"""Training that keeps its trajectory."""

from proponent.training._checkpoint import Checkpoint
from proponent.training._optimizer import Optimizer
from proponent.training._trajectory import Trajectory

__all__ = ["Checkpoint", "Optimizer", "Trajectory"]
