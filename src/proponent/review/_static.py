"""The files of the page: read once from the package, so that no address ever becomes a path."""

from pathlib import Path
from typing import NamedTuple

_FOLDER = Path(__file__).parent / "static"
_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
    ".json": "application/json",
}
PAGE = "index.html"


class StaticFile(NamedTuple):
    """A file as it is sent."""

    content: bytes
    media_type: str


def static_files() -> dict[str, StaticFile]:
    """The files that a page may ask for, by name; in folders, with slashes between."""
    return {
        path.relative_to(_FOLDER).as_posix(): StaticFile(path.read_bytes(), _TYPES[path.suffix])
        for path in sorted(_FOLDER.rglob("*"))
        if path.is_file() and path.suffix in _TYPES
    }
