"""A run: a folder that holds a training and what was asked of it, and the stages that fill it.

The functions have the names of the commands, and do the same.
"""

from proponent.runs._adds import what_self_influence_adds
from proponent.runs._folder import RunFolder
from proponent.runs._influence import influence, influence_path, newest_influence
from proponent.runs._opened import OpenedRun, open_run
from proponent.runs._prepare import Prepared, prepare
from proponent.runs._rank import rank
from proponent.runs._scaling import Scaling
from proponent.runs._scoring import Scoring
from proponent.runs._self_influence import kept_self_influence, self_influence
from proponent.runs._settings import Settings
from proponent.runs._status import Stage, Status, status
from proponent.runs._training import train

__all__ = [
    "OpenedRun",
    "Prepared",
    "RunFolder",
    "Scaling",
    "Scoring",
    "Settings",
    "Stage",
    "Status",
    "influence",
    "influence_path",
    "kept_self_influence",
    "newest_influence",
    "open_run",
    "prepare",
    "rank",
    "self_influence",
    "status",
    "train",
    "what_self_influence_adds",
]
