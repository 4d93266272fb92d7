"""The command line: one file a command."""

from proponent.cli._main import main

__all__ = ["main"]
