"""Where samples come from: what each kind of source has to tell, a block of samples at a time."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
from PIL import Image

from proponent.data._left_aside import LeftAside


@dataclass(frozen=True)
class FileStamp:
    """What tells quickly whether a file changed.

    Attributes:
        name: Its path below the source's folder.
        size: Bytes.
        modified: Nanoseconds of its last change.
    """

    name: str
    size: int
    modified: int


@dataclass(frozen=True, eq=False)
class Block:
    """Consecutive samples of a source: those that can be used, and those that can't.

    Attributes:
        values: ``[m, ...]``, or none where they are taken from the source as they lie there.
        positions: Where each stands in the source, ``[m]``.
        keys: The source's own name for each, empty where it has none.
        hashes: Hash of the content of each.
        left_aside: Position, key and reason of each that can't be used.
        facts: What else is known of each, by name, ``[m]``.
    """

    values: npt.NDArray[Any] | None
    positions: npt.NDArray[np.int64]
    keys: Sequence[str]
    hashes: Sequence[str]
    left_aside: Sequence[tuple[int, str, str]] = ()
    facts: Mapping[str, npt.NDArray[Any]] = field(default_factory=dict)


class Source(ABC):
    """Samples in a fixed order.

    Attributes:
        kind: ``"images"``, ``"rows"`` or ``"arrays"``.
        name: What messages call it.
        noun: What a sample without a key is called, such as ``row``.
        options: Path, form and settings, by which it can be opened again.
        block_size: How many samples are read, and kept as a file, at a time.
        columns: The names of numbers in a row.
    """

    kind: str
    name: str
    noun: str
    options: Mapping[str, Any]
    block_size: int
    columns: tuple[str, ...] = ()

    @abstractmethod
    def __len__(self) -> int:
        """How many samples there are, usable or not."""

    @abstractmethod
    def read(self, start: int, stop: int, pool: Executor) -> Block:
        """Read the samples from one position to another."""

    def files(self) -> Sequence[FileStamp]:
        """The files that it is made of; none for an object in memory."""
        return ()

    def file_hash(self, name: str) -> str:
        """Hash the content of one of its files; empty where it has none of that name."""
        return ""

    def content_hash(self, position: int, pool: Executor) -> str:
        """Hash the content of one sample; empty where it can't be used."""
        return next(iter(self.read(position, position + 1, pool).hashes), "")

    def stamp(self, start: int, stop: int) -> object:
        """What the samples from one position to another are made from, as plain values."""
        return [[file.name, file.size, file.modified] for file in self.files()]

    def number(self, position: int) -> int:
        """The number of a sample for a person, counted from 1."""
        return position + 1

    def left_aside(self) -> Sequence[LeftAside]:
        """What was left aside before reading, and has no position."""
        return ()

    def notes(self, blocks: Sequence[Block]) -> Sequence[str]:
        """What was taken for granted, for a person to read."""
        return ()

    def direct(self) -> npt.NDArray[Any] | None:
        """The samples as they lie in the source, where nothing has to be done to them."""
        return None

    def told(self, position: int) -> Mapping[str, str | float]:
        """What else the source tells of a sample, for a person to read."""
        return {}

    def original(self, position: int, size: int | None) -> tuple[Image.Image, str] | None:
        """The picture behind a sample, with the hash of its content now; none where there is none.

        Args:
            position: Of the sample.
            size: What its longer side shall have at most.
        """
        return None
