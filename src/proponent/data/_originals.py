"""Encoded pictures in a fixed order, whatever holds them."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from PIL import Image

from proponent.data._hashes import hash_file
from proponent.data._ids import storable
from proponent.data._left_aside import LeftAside, UnusableError
from proponent.data._listing import Listing, inside, read_inside
from proponent.data._source import FileStamp

# Gives the encoded picture, or one that something else has decoded.
Loader = Callable[[], bytes | Image.Image]


class Originals(ABC):
    """Pictures as they lie in a source.

    Attributes:
        name: What messages call them.
        noun: What one without a key is called.
        options: Path and form, by which they can be opened again.
        in_turn: Whether they must be read one after the other, by one thread.
    """

    name: str
    noun: str
    options: Mapping[str, Any]
    in_turn: bool = False

    @abstractmethod
    def __len__(self) -> int:
        """How many there are."""

    @abstractmethod
    def loaders(self, start: int, stop: int) -> Sequence[tuple[str, Loader]]:
        """Key and way to read of each from one position to another; `UnusableError` where it can't be."""

    def files(self) -> Sequence[FileStamp]:
        """The files that hold them."""
        return ()

    def file_hash(self, name: str) -> str:
        """Hash the content of one of the files; empty where there is none of that name."""
        return ""

    def stamp(self, start: int, stop: int) -> object:
        """What tells the pictures from one position to another from others, as plain values."""
        return [[file.name, file.size, file.modified] for file in self.files()]

    def left_aside(self) -> Sequence[LeftAside]:
        """What was left aside before reading."""
        return ()

    def told(self, position: int) -> Mapping[str, str | float]:
        """What else there is to read of a picture."""
        return {}

    def notes(self) -> Sequence[str]:
        """What was taken for granted."""
        return ()


@dataclass(frozen=True, eq=False)
class FolderOriginals(Originals):
    """Pictures in a folder, each by its path below it."""

    listing: Listing

    noun = "file"

    @property
    def name(self) -> str:  # type: ignore[override]
        """The folder."""
        return f"`{self.listing.root}`"

    @property
    def options(self) -> Mapping[str, Any]:  # type: ignore[override]
        """Path and form."""
        return {"path": str(self.listing.root), "form": "folder"}

    def __len__(self) -> int:
        return len(self.listing.pictures)

    def loaders(self, start: int, stop: int) -> Sequence[tuple[str, Loader]]:
        """Paths below the folder, and what reads them."""
        return [(self.listing.stamps[i].name, partial(self._content, i)) for i in range(start, stop)]

    def files(self) -> Sequence[FileStamp]:
        """The pictures themselves."""
        return self.listing.stamps

    def file_hash(self, name: str) -> str:
        """Hash the content of a picture's file; what can't be read has an empty one."""
        place = next(i for i, stamp in enumerate(self.listing.stamps) if stamp.name == name)
        try:
            return hash_file(inside(self.listing.root, self.listing.pictures[place]))
        except (UnusableError, OSError):
            return ""

    def stamp(self, start: int, stop: int) -> object:
        """Name, size and time of each."""
        return [[file.name, file.size, file.modified] for file in self.listing.stamps[start:stop]]

    def left_aside(self) -> Sequence[LeftAside]:
        """Links and pictures of forms that can't be read."""
        return self.listing.left_aside

    def notes(self) -> Sequence[str]:
        """Files that were not looked at."""
        said = []
        if self.listing.others:
            said.append(
                f"{counted(self.listing.others.total(), 'file')} that are no pictures "
                f"({kinds(self.listing)})."
            )
        if self.listing.hidden:
            said.append(
                f"{counted(self.listing.hidden, 'hidden file or folder', 'hidden files or folders')} not "
                "looked at."
            )
        return said

    def _content(self, i: int) -> bytes:
        return read_inside(self.listing.root, self.listing.pictures[i])


def counted(count: int, noun: str, plural: str | None = None) -> str:
    """A number with its noun.

    >>> counted(1, "file"), counted(1200, "file")
    ('1 file', '1,200 files')
    """
    return f"{count:,} {noun if count == 1 else plural or noun + 's'}"


def kinds(listing: Listing) -> str:
    """The files that are no pictures, by suffix, the most frequent first."""
    return ", ".join(f"{storable(suffix)}: {count:,}" for suffix, count in listing.others.most_common(5))
