"""Where a checkpoint's tensors lie: in memory, or in a safetensors file that is read when asked."""

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import safetensors
import safetensors.torch
from torch import Tensor

from proponent.storage import whole_file


class Source(ABC):
    """Named tensors that somebody keeps."""

    @abstractmethod
    def read(self) -> dict[str, Tensor]:
        """The tensors, on the CPU."""

    @abstractmethod
    def digest(self) -> str:
        """A sha256 that changes when any of the tensors does."""

    def shapes(self) -> dict[str, tuple[int, ...]]:
        """The tensors' shapes, read as cheaply as may be."""
        return {name: tuple(tensor.shape) for name, tensor in self.read().items()}


@dataclass(frozen=True, eq=False)
class Memory(Source):
    """Tensors held in memory; they are copies of their own."""

    tensors: Mapping[str, Tensor]

    def read(self) -> dict[str, Tensor]:
        """The tensors themselves: copy before writing into one."""
        return dict(self.tensors)

    def digest(self) -> str:
        """The sha256 of the file that they would make, so that saving doesn't change it."""
        return hashlib.sha256(safetensors.torch.save(dict(self.tensors))).hexdigest()


@dataclass(frozen=True)
class TensorFile(Source):
    """A safetensors file, and what is known of it from the time it was written.

    Attributes:
        path: The file.
        sha256: Its hash when it was written; without it the file is taken as it is.
        size: Its bytes when it was written.
    """

    path: Path
    sha256: str | None = None
    size: int | None = None

    def read(self) -> dict[str, Tensor]:
        """Read the tensors.

        Raises:
            FileNotFoundError: The file is gone.
            ValueError: It was cut short, or is not the file that was written.
        """
        self._check()
        try:
            return dict(safetensors.torch.load_file(self.path))
        except safetensors.SafetensorError as error:
            raise ValueError(
                f"`{self.path}` must be a safetensors file, but it can't be read: {error}."
            ) from error

    def digest(self) -> str:
        """The hash known from the writing, else that of the file as it is."""
        return self.sha256 or file_digest(self.path)

    def shapes(self) -> dict[str, tuple[int, ...]]:
        """The shapes from the file's header."""
        check_exists(self.path)
        try:
            with safetensors.safe_open(self.path, "pt") as file:
                return {name: tuple(file.get_slice(name).get_shape()) for name in file.keys()}  # noqa: SIM118
        except safetensors.SafetensorError:
            return {name: tuple(tensor.shape) for name, tensor in self.read().items()}

    def _check(self) -> None:
        check_exists(self.path)
        size = self.path.stat().st_size
        if self.size is not None and size != self.size:
            raise ValueError(
                f"`{self.path}` must hold the {self.size} bytes that were written, got {size}: it was cut "
                "short or replaced. Restore it from a copy, or train again into another folder."
            )
        if self.sha256 is not None and file_digest(self.path) != self.sha256:
            raise ValueError(
                f"`{self.path}` is not the file that was written: its sha256 differs from the one in "
                "`trajectory.json`. Restore it from a copy, or train again into another folder."
            )


def write_tensors(path: Path, tensors: Mapping[str, Tensor]) -> TensorFile:
    """Write a safetensors file whole or not at all, and give the source that reads it."""
    content = safetensors.torch.save(dict(tensors))
    with whole_file(path) as temporary:
        temporary.write_bytes(content)
    return TensorFile(path, hashlib.sha256(content).hexdigest(), len(content))


def own_copy(tensors: Mapping[str, Any]) -> dict[str, Tensor]:
    """Copy tensors to the CPU, each with memory of its own, as safetensors wants them.

    Raises:
        TypeError: A value is no tensor.
    """
    wrong = [name for name, value in tensors.items() if not isinstance(value, Tensor)]
    if wrong:
        raise TypeError(
            f"A state dict must map names to tensors, got something else at {', '.join(wrong[:5])}. "
            "Pass the dict that `model.state_dict()` gave, without extra state."
        )
    return {name: tensor.detach().to("cpu", copy=True).contiguous() for name, tensor in tensors.items()}


def file_digest(path: Path) -> str:
    """The sha256 of a file."""
    check_exists(path)
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def check_exists(path: Path) -> None:
    """Refuse a path without a file.

    Raises:
        FileNotFoundError: Names the path.
    """
    if not path.is_file():
        raise FileNotFoundError(f"There is no checkpoint file at `{path}`. Was it moved or deleted?")
