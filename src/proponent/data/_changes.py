"""Whether a source still holds what was read from it."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from proponent.data._source import FileStamp, Source

_PROBED, _SHOWN = 32, 3


class DataChangedError(ValueError):
    """The data are not those that a cache was made from.

    Attributes:
        new: Files that weren't there.
        gone: Files that are missing.
        changed: Files, or positions of items, whose content is another.
    """

    def __init__(self, cache: Path, new: Sequence[str], gone: Sequence[str], changed: Sequence[str]) -> None:
        self.new, self.gone, self.changed = tuple(new), tuple(gone), tuple(changed)
        parts = [
            f"{len(names):,} {word} (`{'`, `'.join(names[:_SHOWN])}`{', ...' if len(names) > _SHOWN else ''})"
            for word, names in (("new", self.new), ("gone", self.gone), ("changed", self.changed))
            if names
        ]
        super().__init__(
            f"The data changed since they were read into `{cache}`: {', '.join(parts)}. Bring the old data "
            "back, "
            "or read the new ones into another folder."
        )


def check_files(source: Source, then: Sequence[tuple[FileStamp, str]], cache: Path) -> bool:
    """See that the files are those of then: by size and time, and by content where these differ.

    A file that was left aside has no hash; it counts as the same while its size is.

    Args:
        source: What the files belong to.
        then: The files as they were read, with their contents' hashes.
        cache: For the message.

    Returns:
        Whether all times are as they were.

    Raises:
        DataChangedError: A file is new, gone, or has another content.
    """
    old = {stamp.name: (stamp, content) for stamp, content in then}
    now = {stamp.name: stamp for stamp in source.files()}
    touched = [name for name in now if name in old and now[name] != old[name][0]]
    changed = [name for name in touched if not _is_same(source, now[name], *old[name])]
    new, gone = [name for name in now if name not in old], [name for name in old if name not in now]
    if new or gone or changed:
        raise DataChangedError(cache, new, gone, changed)
    return not touched


def check_items(
    hashes_then: Sequence[str], hashes_now: Sequence[str], positions: Sequence[int], cache: Path
) -> None:
    """See that some items of an object in memory are those of then.

    Raises:
        DataChangedError: One is another.
    """
    changed = [f"item {i + 1}" for i, a, b in zip(positions, hashes_then, hashes_now, strict=True) if a != b]
    if changed:
        raise DataChangedError(cache, (), (), changed)


def probed(count: int) -> list[int]:
    """Places spread over a data set, at which an object in memory is compared."""
    places: list[int] = np.unique(np.linspace(0, count - 1, _PROBED).astype(int)).tolist()
    return places


def _is_same(source: Source, now: FileStamp, then: FileStamp, content: str) -> bool:
    if now.size != then.size:
        return False
    return not content or source.file_hash(now.name) == content
