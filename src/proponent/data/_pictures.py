"""Pictures as samples: read, brought to one size, and named where they can't be."""

from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from PIL import Image

from proponent.data._decoding import check_pixels, has_frames, loaded, opened, upright_size
from proponent.data._fitting import fitted, within
from proponent.data._hashes import hash_bytes
from proponent.data._left_aside import LeftAside, UnusableError
from proponent.data._originals import Loader, Originals, counted
from proponent.data._source import Block, FileStamp, Source

_LARGEST_KEPT, _USUAL = 64, 32
# Tasks of several pictures each: handing over a single small one costs as much as decoding it.
_TOGETHER = 16
# So many encoded pictures of a table are in memory.
_AT_ONCE = 128


@dataclass(frozen=True, eq=False)
class PictureSource(Source):
    """Pictures, brought to numbers of one shape.

    Attributes:
        originals: Where they lie.
        size: The side of the square that each is resized to. Unless given, they are kept as they are where
            all have one size of at most 64 pixels; else it is 32.
        grey: Whether they become grey; unless said, they do where all are.
    """

    originals: Originals
    size: int | None
    grey: bool | None

    kind = "images"
    block_size = 256

    @property
    def name(self) -> str:  # type: ignore[override]
        """As messages call their source."""
        return self.originals.name

    @property
    def noun(self) -> str:  # type: ignore[override]
        """What a picture without a key is called."""
        return self.originals.noun

    @property
    def options(self) -> Mapping[str, Any]:  # type: ignore[override]
        """Path, form and settings."""
        return {**self.originals.options, "size": self.size, "grey": self.grey}

    def __len__(self) -> int:
        return len(self.originals)

    def read(self, start: int, stop: int, pool: Executor) -> Block:
        """Decode pictures, several at a time."""
        shape = self._shape  # found out by one thread, for all
        run = map if self.originals.in_turn else pool.map
        read: list[tuple[str, _Read | str]] = []
        for first in range(start, stop, _AT_ONCE):
            waiting = self.originals.loaders(first, min(first + _AT_ONCE, stop))
            groups = [waiting[i : i + _TOGETHER] for i in range(0, len(waiting), _TOGETHER)]
            read += [one for group in run(partial(self._read_group, shape), groups) for one in group]
        kept = [(start + i, key, one) for i, (key, one) in enumerate(read) if isinstance(one, _Read)]
        aside = [(start + i, key, one) for i, (key, one) in enumerate(read) if isinstance(one, str)]
        return Block(
            values=_stacked([one.values for *_, one in kept]),
            positions=np.array([position for position, *_ in kept], dtype=np.int64),
            keys=[key for _, key, _ in kept],
            hashes=[one.hash for *_, one in kept],
            left_aside=aside,
            facts={
                "width": np.array([one.width for *_, one in kept], dtype=np.int32),
                "height": np.array([one.height for *_, one in kept], dtype=np.int32),
                "frames": np.array([one.frames for *_, one in kept], dtype=np.bool_),
            },
        )

    def files(self) -> Sequence[FileStamp]:
        """The files that hold them."""
        return self.originals.files()

    def file_hash(self, name: str) -> str:
        """Hash the content of one of the files."""
        return self.originals.file_hash(name)

    def stamp(self, start: int, stop: int) -> object:
        """What the pictures from one position to another are made from."""
        return [self._shape, self.originals.stamp(start, stop)]

    def left_aside(self) -> Sequence[LeftAside]:
        """What was left aside before reading."""
        return self.originals.left_aside()

    def notes(self, blocks: Sequence[Block]) -> Sequence[str]:
        """How they were brought to one size, and what wasn't looked at."""
        said = list(self.originals.notes())
        sizes = {
            size for block in blocks for size in zip(block.facts["width"], block.facts["height"], strict=True)
        }
        if sizes - {(self._shape[1], self._shape[0])}:
            said.append(
                f"Pictures of {counted(len(sizes), 'size')}: the centre square of each was resized to "
                f"{self._shape[0]} x {self._shape[1]}."
            )
        frames = sum(int(block.facts["frames"].sum()) for block in blocks)
        if frames:
            said.append(f"{counted(frames, 'file')} with more than one picture: the first was taken.")
        return said

    def original(self, position: int, size: int | None) -> tuple[Image.Image, str] | None:
        """The picture as it lies in the source."""
        [(_, load)] = self.originals.loaders(position, position + 1)
        image, content, _ = _opened(load)
        return within(image, size), content

    def told(self, position: int) -> Mapping[str, str | float]:
        """What else there is to read of a picture."""
        return self.originals.told(position)

    def content_hash(self, position: int, pool: Executor) -> str:
        """Hash the content of one picture; empty where it can't be opened."""
        [(_, load)] = self.originals.loaders(position, position + 1)
        try:
            return _opened(load)[1]
        except UnusableError:
            return ""

    @cached_property
    def _shape(self) -> tuple[int, int]:
        """Height and width that pictures are brought to. Heads are read until that is known."""
        common = _common_shape(self.originals) if self.size is None else None
        return common or (self.size or _USUAL, self.size or _USUAL)

    def _read_group(
        self, shape: tuple[int, int], group: Sequence[tuple[str, Loader]]
    ) -> "list[tuple[str, _Read | str]]":
        return [(key, self._read_one(shape, load)) for key, load in group]

    def _read_one(self, shape: tuple[int, int], load: Loader) -> "_Read | str":
        try:
            image, content, frames = _opened(load)
            height, width = upright_size(image)
            values = fitted(image, None if (height, width) == shape else shape[0], self.grey)
            if values.shape[1:] != shape:  # the others have one size, and are no squares
                raise UnusableError(
                    f"{height} x {width} pixels high and wide, the others {shape[0]} x {shape[1]}"
                )
            return _Read(values, content, width, height, frames)
        except UnusableError as reason:
            return str(reason)
        except MemoryError:
            return "it does not fit into memory"


def _common_shape(originals: Originals) -> tuple[int, int] | None:
    """The size that all have; none where they differ or are large, which for photographs shows at once."""
    sizes: set[tuple[int, int]] = set()
    for start in range(0, len(originals), _AT_ONCE):
        for _, load in originals.loaders(start, min(start + _AT_ONCE, len(originals))):
            try:
                image, *_ = _opened(load, False)
            except UnusableError:
                continue
            size = upright_size(image)
            if size in sizes:
                continue
            try:
                loaded(image)  # a broken picture has no say
            except UnusableError:
                continue
            sizes.add(size)
            if len(sizes) > 1 or max(image.size) > _LARGEST_KEPT:
                return None
    return next(iter(sizes), None)


class _Read(NamedTuple):
    values: npt.NDArray[np.uint8]
    hash: str
    width: int
    height: int
    frames: bool


def _opened(load: Loader, hashed: bool = True) -> tuple[Image.Image, str, bool]:
    """A picture with its head read, the hash of its content, and whether there are more in its file."""
    content = load()
    if isinstance(content, bytes):
        image = opened(content)
        return image, hash_bytes(content) if hashed else "", has_frames(image)
    check_pixels(loaded(content))
    head = f"{content.mode} {content.size} ".encode()
    return content, hash_bytes(head, content.tobytes()) if hashed else "", False


def _stacked(pictures: Sequence[npt.NDArray[np.uint8]]) -> npt.NDArray[np.uint8]:
    """Pictures as one array; grey ones among colour get three channels of the same."""
    if not pictures:
        return np.empty((0, 1, 0, 0), dtype=np.uint8)
    channels = max(len(picture) for picture in pictures)
    return np.stack([np.broadcast_to(picture, (channels, *picture.shape[1:])) for picture in pictures])
