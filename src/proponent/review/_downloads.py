"""Exports as files that a browser can fetch: made aside, sent, forgotten."""

import re
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from proponent.review._exports import (
    Verdicts,
    image_folder,
    write_csv,
    write_label_studio,
    write_parquet,
)
from proponent.review._items import ReviewItems


class Download(NamedTuple):
    """A file that waits to be sent.

    Attributes:
        path: Where it lies.
        file_name: What a browser shall call it.
        media_type: Its MIME type.
        forget: Removes it.
    """

    path: Path
    file_name: str
    media_type: str
    forget: Callable[[], None]


def make_download(name: str, items: ReviewItems, verdicts: Verdicts) -> Download:
    """Make an export for a browser.

    Args:
        name: One of `DOWNLOADS`.
        items: The samples.
        verdicts: The decisions that stand, by id.

    Raises:
        ValueError: The samples can't be exported so.
    """
    write, suffix, media_type = DOWNLOADS[name]
    folder = tempfile.TemporaryDirectory(prefix="proponent-")
    path = Path(folder.name) / f"export{suffix}"
    try:
        write(items, verdicts, path)
    except BaseException:
        folder.cleanup()
        raise
    return Download(path, f"{_plain(items.title)}-review{suffix}", media_type, folder.cleanup)


def _write_zip(items: ReviewItems, verdicts: Verdicts, path: Path) -> None:
    files = image_folder(items, verdicts)
    with zipfile.ZipFile(path, "w") as archive:  # pictures are compressed already
        for name, content in files:
            archive.writestr(name, content)


def _plain(title: str) -> str:
    """A title as part of a file's name.

    >>> _plain("../My <photos>"), _plain("…")
    ('My-photos', 'samples')
    """
    return re.sub(r"[^A-Za-z0-9]+", "-", title).strip("-")[:60] or "samples"


DOWNLOADS = {
    "parquet": (write_parquet, ".parquet", "application/vnd.apache.parquet"),
    "csv": (write_csv, ".csv", "text/csv; charset=utf-8"),
    "labelstudio": (write_label_studio, ".json", "application/json"),
    "folder": (_write_zip, ".zip", "application/zip"),
}
