"""Training that keeps its trajectory."""

from proponent.training._checkpoint import Checkpoint
from proponent.training._divergence import DivergedError
from proponent.training._ensemble import Member, fit_ensemble
from proponent.training._fit import fit
from proponent.training._optimizer import Optimizer
from proponent.training._run import Run
from proponent.training._stream import Stream
from proponent.training._tactics import Tactics
from proponent.training._trajectory import Trajectory

__all__ = [
    "Checkpoint",
    "DivergedError",
    "Member",
    "Optimizer",
    "Run",
    "Stream",
    "Tactics",
    "Trajectory",
    "fit",
    "fit_ensemble",
]
