"""A run: a folder that holds a training, and what was asked of it."""

from proponent.runs._folder import RunFolder
from proponent.runs._opened import OpenedRun, open_run

__all__ = ["OpenedRun", "RunFolder", "open_run"]
