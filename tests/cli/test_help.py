import subprocess
import sys

import pytest

from proponent import __version__
from proponent.cli import main

COMMANDS = ("train", "self-influence", "influence", "rank", "review", "apply", "status", "demo", "density")


def test_version(capsys):
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"proponent {__version__}\n"


def test_help_names_every_command(capsys):
    assert main(["--help"]) == 0
    printed = capsys.readouterr().out
    assert all(command in printed for command in COMMANDS)


@pytest.mark.parametrize("command", COMMANDS)
def test_each_command_has_its_help(command, capsys):
    assert main([command, "--help"]) == 0
    assert "Usage: proponent " + command in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize("arguments", [["--version"], ["train", "--help"], ["review", "--help"]])
def test_torch_and_pandas_are_not_loaded_for_it(arguments):
    script = (
        f"import sys; from proponent.cli import main; main({arguments}); "
        "print({'torch', 'pandas', 'matplotlib', 'sklearn'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "set()"
