"""A run folder: what a training was made of, and where its results lie.

`run.toml` says how to make the run again and what its model is; every command reads it, and refuses data
that are not those the run was made from.
"""

import platform
import shlex
import shutil
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from proponent._version import __version__
from proponent.runs._toml import to_toml
from proponent.storage import whole_file

_TABLES = ("data", "scaling", "model", "objective", "training")
# What does not change the numbers, or changes them within rounding.
_FREE = {("data", "path"), ("data", "form"), ("training", "device")}


@dataclass(frozen=True)
class RunFolder:
    """The places in a run folder.

    Attributes:
        path: The folder.
    """

    path: Path

    @property
    def record(self) -> Path:
        """What the run was made of."""
        return self.path / "run.toml"

    @property
    def data(self) -> Path:
        """What was read of the data."""
        return self.path / "data"

    @property
    def trajectory(self) -> Path:
        """The checkpoints."""
        return self.path / "trajectory"

    @property
    def scores(self) -> Path:
        """The finished scores."""
        return self.path / "scores"

    @property
    def self_influence(self) -> Path:
        """The self-influence of every sample."""
        return self.scores / "self-influence.parquet"

    @property
    def rankings(self) -> Path:
        """Every ranking of the samples."""
        return self.scores / "rankings.parquet"

    @property
    def influence(self) -> Path:
        """Which influences there are, and which is the newest."""
        return self.scores / "influence.json"

    @property
    def figures(self) -> Path:
        """The figures."""
        return self.path / "figures"

    @property
    def report(self) -> Path:
        """The page that works offline."""
        return self.path / "report.html"

    @property
    def review(self) -> Path:
        """The log of decisions."""
        return self.path / "review.sqlite"

    @property
    def seconds(self) -> Path:
        """How long each stage took."""
        return self.path / "jobs" / "seconds.json"

    @property
    def is_begun(self) -> bool:
        """Whether its training has a checkpoint."""
        return (self.trajectory / "trajectory.json").exists() and self.record.exists()

    def job(self, name: str) -> Path:
        """The finished tasks of a job."""
        return self.path / "jobs" / name

    def read(self) -> dict[str, dict[str, Any]]:
        """Read `run.toml`.

        Raises:
            FileNotFoundError: The folder is not a run's.
            ValueError: The file can't be read, a table is missing, or the data weren't read to their end.
        """
        tables = self.read_begun()
        missing = [name for name in _TABLES if not isinstance(tables.get(name), dict)]
        if missing == list(_TABLES):
            raise ValueError(
                f"The data of `{self.path}` were not read to their end. {advice(tables, self.path)}"
            )
        if missing:
            raise ValueError(
                f"`{self.record}` must have the tables {', '.join(_TABLES)}, but lacks {', '.join(missing)}. "
                "Restore it, or train into another folder."
            )
        return tables

    def read_begun(self) -> dict[str, dict[str, Any]]:
        """Read `run.toml`, which holds only how the run was begun as long as its data are being read.

        Raises:
            FileNotFoundError: The folder is not a run's.
            ValueError: The file can't be read.
        """
        if not self.record.is_file():
            raise FileNotFoundError(
                f"`{self.path}` must be a run's folder, but it has no `run.toml`. "
                f"Make one with `proponent train DATA --out {shlex.quote(str(self.path))}`."
            )
        try:
            tables: dict[str, dict[str, Any]] = tomllib.loads(self.record.read_text("utf-8"))
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise ValueError(
                f"`{self.record}` can't be read: {error}. Restore it, or train into another folder."
            ) from error
        return tables

    def claim(self, command: str) -> None:
        """Make the folder a run's, so that what is read of the data can be kept there.

        Args:
            command: The command that makes it.

        Raises:
            ValueError: The folder holds other files, or is a file.
        """
        if self.path.exists() and not self.path.is_dir():
            raise ValueError(f"`{self.path}` must be a folder, but a file of that name is there.")
        if self.record.exists():
            return
        if self.path.is_dir() and any(self.path.iterdir()):
            raise ValueError(
                f"`{self.path}` must be new, empty, or a run's folder, but holds other files. Name another."
            )
        self._write({}, command)

    def release(self) -> None:
        """Take a claim back, where nothing came of it."""
        nothing = (self.record, self.seconds)
        kept = [path for path in self.path.rglob("*") if path.is_file() and path not in nothing]
        if not kept and not set(_TABLES) & set(self.read_begun()):
            shutil.rmtree(self.path)

    def begin(self, tables: Mapping[str, Mapping[str, Any]], command: str) -> bool:
        """Write `run.toml`, or see that the run that is there is the same.

        Args:
            tables: What the run is made of: data, scaling, model, objective, training.
            command: The command that makes it.

        Returns:
            Whether the run was there already.

        Raises:
            ValueError: The folder holds a run of other data or settings.
        """
        if self.is_begun:
            self._check_same(tables)
            return True
        # A record without a checkpoint is left by a training that was refused or stopped at once.
        self._write(tables, command)
        return False

    def _write(self, tables: Mapping[str, Mapping[str, Any]], command: str) -> None:
        made = {"command": command, "date": datetime.now(UTC).isoformat(timespec="seconds")}
        versions = {"proponent": __version__, "python": platform.python_version()}
        versions |= {package: version(package) for package in ("torch", "numpy")}
        with whole_file(self.record) as temporary:
            temporary.write_text(
                to_toml({"made": made, "versions": versions} | dict(tables)), encoding="utf-8"
            )

    def _check_same(self, tables: Mapping[str, Mapping[str, Any]]) -> None:
        there = self.read()
        check_same_data(there["data"], tables["data"], self.path)
        differing = [
            f"{key} is {there[table].get(key)} there and {here.get(key)} here"
            for table, here in tables.items()
            for key in {**there[table], **here}
            if (table, key) not in _FREE and there[table].get(key) != _plain(here.get(key))
        ]
        if differing:
            raise ValueError(
                f"`{self.path}` holds another run: {'; '.join(differing)}. "
                "Use the same options to go on with it, or another folder."
            )


def advice(tables: Mapping[str, Mapping[str, Any]], path: Path) -> str:
    """How to go on with a run that isn't finished."""
    command = tables.get("made", {}).get("command", f"proponent train DATA --out {path}")
    return f"Finish it with `{command}`."


def check_same_data(there: Mapping[str, Any], here: Mapping[str, Any], path: Path) -> None:
    """Refuse data that are not those of a run.

    Args:
        there: The table `data` of the run.
        here: That of the data at hand.
        path: The run's folder, for the message.

    Raises:
        ValueError: The fingerprints differ.
    """
    if there.get("fingerprint") != here["fingerprint"]:
        raise ValueError(
            f"The data changed under the run `{path}`: it was made from {_described(there)}, and now there "
            f"are {_described(here)}. Bring the old data back, or train a new run."
        )


def _described(data: Mapping[str, Any]) -> str:
    shape = " x ".join(str(size) for size in data.get("shape", []))
    return f"{shape} numbers ({str(data.get('fingerprint'))[:19]}…)"


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value
