"""The pictures below a folder: what is there, without opening more than a first few bytes."""

import os
import stat
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path, PurePath

from proponent.data._decoding import check_file_size
from proponent.data._ids import storable
from proponent.data._left_aside import LeftAside, UnusableError
from proponent.data._source import FileStamp

_PICTURES = frozenset(
    (
        *(
            ".jpg",
            ".jpeg",
            ".jpe",
            ".jfif",
            ".png",
            ".apng",
            ".gif",
            ".bmp",
            ".dib",
            ".webp",
            ".tif",
            ".tiff",
        ),
        *(".ppm", ".pgm", ".pbm", ".pnm", ".jp2", ".j2k", ".jpx", ".avif"),
    )
)
# Pictures to their owner; leaving them out without a word would lose samples.
_OTHER_PICTURES = frozenset(
    (
        *(".heic", ".heif", ".svg", ".psd", ".eps", ".raw", ".dng", ".cr2", ".cr3", ".nef", ".arw", ".orf"),
        *(".rw2", ".raf", ".xcf", ".jxl", ".tga", ".ico"),
    )
)
_OF_THE_SYSTEM = frozenset(("thumbs.db", "desktop.ini", "__macosx"))
_BEGINNINGS = (b"\xff\xd8\xff", b"\x89PNG\r\n\x1a\n", b"GIF8", b"BM", b"II*\x00", b"MM\x00*")


@dataclass(frozen=True)
class Listing:
    """What lies below a folder.

    Attributes:
        root: The folder, with no link in its path.
        pictures: Names below the folder as the system has them, in the order of `stamps`.
        stamps: The same files by storable name, sorted by it.
        left_aside: Pictures that can't be used, and links.
        others: How many files are no pictures, by suffix.
        hidden: How many files and folders are hidden, or the system's own.
    """

    root: Path
    pictures: tuple[str, ...]
    stamps: tuple[FileStamp, ...]
    left_aside: tuple[LeftAside, ...]
    others: Counter[str] = field(default_factory=Counter)
    hidden: int = 0


def list_pictures(folder: Path) -> Listing:
    """Look for pictures in a folder and the folders in it.

    A link is followed to a file inside the folder, never out of it, and never to a folder. Hidden files are
    counted and not looked at. Files without a suffix are taken where they begin as pictures do.

    Args:
        folder: Where to look.
    """
    root = folder.resolve()
    found: list[tuple[str, str, os.stat_result]] = []
    aside: list[LeftAside] = []
    others: Counter[str] = Counter()
    hidden = 0
    waiting = [""]
    while waiting:
        below = waiting.pop()
        try:
            entries = list(os.scandir(root / below))
        except OSError as error:
            aside.append(LeftAside(storable(below) or ".", f"the folder can't be opened: {error.strerror}"))
            continue
        for entry in entries:
            name = f"{below}/{entry.name}" if below else entry.name
            if entry.name.startswith(".") or entry.name.lower() in _OF_THE_SYSTEM:
                hidden += 1
            elif entry.is_dir(follow_symlinks=False):
                waiting.append(name)
            else:
                suffix = PurePath(entry.name).suffix.lower()
                try:
                    state = _checked(root, name, suffix, entry)
                except UnusableError as reason:
                    aside.append(LeftAside(storable(name), str(reason)))
                    continue
                if state is None:
                    others[suffix or "no suffix"] += 1
                else:
                    found.append((storable(name), name, state))
    found.sort(key=lambda item: item[:2])
    return Listing(
        root,
        tuple(name for _, name, _ in found),
        tuple(FileStamp(key, state.st_size, state.st_mtime_ns) for key, _, state in found),
        tuple(sorted(aside, key=lambda item: item.id)),
        others,
        hidden,
    )


def inside(root: Path, name: str) -> Path:
    """The path of a file below a folder; links must not lead out of it.

    Raises:
        UnusableError: They do, or it is gone, or no ordinary file.
    """
    try:
        path = (root / name).resolve(strict=True)
        state = path.stat()
    except (OSError, RuntimeError) as error:  # a ring of links is a RuntimeError up to Python 3.12
        raise UnusableError(f"it can't be opened: {getattr(error, 'strerror', None) or error}") from error
    if not path.is_relative_to(root):
        raise UnusableError("a link out of the folder")
    if not stat.S_ISREG(state.st_mode):
        raise UnusableError("a link to a folder" if stat.S_ISDIR(state.st_mode) else "not an ordinary file")
    return path


def _checked(root: Path, name: str, suffix: str, entry: "os.DirEntry[str]") -> os.stat_result | None:
    """The state of a file that claims to be a picture; none where it doesn't."""
    if suffix not in _PICTURES | _OTHER_PICTURES:
        try:
            is_of_interest = entry.is_dir() or (
                not suffix and entry.is_file()
            )  # a link to a folder, or no suffix
        except OSError:  # a ring of links
            is_of_interest = False
        if not is_of_interest:
            return None
    path = inside(root, name)  # before any word on what is in it
    if suffix in _OTHER_PICTURES:
        raise UnusableError(f"{suffix[1:].upper()} files can't be read; convert it to JPEG or PNG")
    return path.stat() if suffix or _begins_as_picture(read_inside(root, name, 16)) else None


def read_inside(root: Path, name: str, length: int = -1) -> bytes:
    """Read a file below a folder, or its first bytes.

    Raises:
        UnusableError: It can't be read, is empty or too large, or a link leads out of the folder.
    """
    path = inside(root, name)
    try:
        with path.open("rb") as file:
            if length < 0:
                check_file_size(path.stat().st_size)
            return file.read(length)
    except OSError as error:
        raise UnusableError(f"it can't be opened: {error.strerror}") from error


def _begins_as_picture(head: bytes) -> bool:
    return head.startswith(_BEGINNINGS) or (head[:4] == b"RIFF" and head[8:12] == b"WEBP")
