"""Files that are written whole or not at all."""

import json
import os
import secrets
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any


@contextmanager
def whole_file(path: str | Path) -> Iterator[Path]:
    """Give a temporary path beside `path`, and move it there when the block ends without an error.

    A reader sees the old file or the new one, never a part: the bytes are flushed to the disk before
    the move, and the move is atomic.

    Args:
        path: Where the file shall stand. Missing folders are made.
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    # The suffix stays last: some writers choose the format, or add a suffix, by it.
    # Machines that share a folder may have processes of one number, so chance tells their files apart.
    unique = f"{os.getpid()}-{secrets.token_hex(4)}"
    temporary = path.with_name(f".{path.stem}.{unique}.tmp{path.suffix}")
    try:
        yield temporary
        with temporary.open("rb") as file:
            os.fsync(file.fileno())
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def write_json(path: str | Path, record: Mapping[str, Any]) -> None:
    """Write a record as readable JSON, whole or not at all."""
    with whole_file(path) as temporary:
        temporary.write_text(json.dumps(record, indent=2, ensure_ascii=False) + "\n", "utf-8")


def read_json(path: str | Path) -> dict[str, Any]:
    """Read a JSON record.

    Raises:
        ValueError: The file is not JSON; it names the file and the place.
    """
    try:
        record = json.loads(Path(path).read_text("utf-8"))
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise ValueError(
            f"`{path}` must be a JSON file, but it can't be read: {error}. It may have been cut short "
            "or edited; delete it to have it made anew, or restore it from a copy."
        ) from error
    if not isinstance(record, dict):
        raise ValueError(f"`{path}` must hold a JSON object, got a {type(record).__name__}.")
    return record
