"""Where errors become exit codes and messages that people can read."""

import sys
import warnings
from typing import Any

import typer
import typer.core

from proponent.cli._console import errors

# What the library and the file system say of arguments and data that can't be used.
_INPUT_ERRORS = (
    ValueError,
    TypeError,
    IndexError,
    FileNotFoundError,
    NotADirectoryError,
    PermissionError,
    ImportError,
)
_INPUT, _FAILED, _INTERRUPTED = 2, 1, 130


class ErrorsAsExitCodes(typer.core.TyperGroup):
    """The group of all commands; an error inside one ends in a message and an exit code.

    What is not foreseen here is a fault of the program and keeps its traceback.
    """

    def invoke(self, ctx: Any) -> Any:
        """Run a command."""
        with warnings.catch_warnings():
            warnings.showwarning = _show_warning
            try:
                return super().invoke(ctx)
            except KeyboardInterrupt:
                errors().print("Stopped. The same command goes on from here.")
                raise typer.Exit(_INTERRUPTED) from None
            except Exception as error:
                code = _exit_code(error)
                if code is None or ctx.params.get("traceback"):
                    raise
                errors().print("[bold red]Error:[/] ", end="")
                errors().print(_message(error), markup=False, highlight=False, soft_wrap=True)
                raise typer.Exit(code) from error


def _exit_code(error: Exception) -> int | None:
    """The code of an error that can be foreseen, or none."""
    if isinstance(error, _INPUT_ERRORS):
        return _INPUT
    if isinstance(error, OSError | MemoryError):
        return _FAILED
    if isinstance(error, RuntimeError) and "torch" in sys.modules:
        from proponent.training import DivergedError  # by now torch is there already

        return _FAILED if isinstance(error, DivergedError) else None
    return None


def _message(error: BaseException) -> str:
    if isinstance(error, ModuleNotFoundError) and (error.name or "").startswith("matplotlib"):
        return "Figures need matplotlib. Install it with `pip install 'proponent[figures]'`."
    if isinstance(error, OSError) and error.filename is not None:
        return f"{error.strerror}: `{error.filename}`."
    return str(error) or type(error).__name__


def _show_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    errors().print("[bold yellow]Note:[/] ", end="")
    errors().print(str(message), markup=False, highlight=False, soft_wrap=True)
