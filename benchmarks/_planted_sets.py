"""Data sets with foreign samples in known places, from public images: six sets, each in several repeats.

    python benchmarks/_planted_sets.py FOLDER OUT

decodes what they are made of, into small `.npz` files. FOLDER holds folders in the layout of the Hugging
Face hub (`NAME/train-*.parquet` with a column `image`, and `label`): `mnist`, `omniglot_letters_1k`,
`cifar10` and `celeba_1k`. `planted_set` then builds a set from its name and the number of the repeat alone,
with NumPy, so it is the same on every machine.

| set | normal | foreign |
|---|---|---|
| letters | MNIST | Omniglot letters |
| blends | MNIST | the mean or the maximum of two digits of different classes |
| flipped | MNIST | digits 2, 3, 4, 5 and 7 turned upside down |
| mixed | MNIST | a third each of the above |
| faces | CIFAR-10 | CelebA faces |
| digits | scikit-learn's digits | patches of photographs |

0, 1 and 8 look the same upside down and 6 becomes 9, so no reviewer could tell these. MNIST puts the centre
of mass on pixel 14 of 28; turned, it is on pixel 13, which alone would give a digit away, so turned digits
are moved back by one.
"""

import sys
import zlib
from dataclasses import dataclass
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

SETS = ("letters", "blends", "flipped", "faces", "digits", "mixed")
KINDS = ("normal", "letter", "mean of two", "maximum of two", "flipped", "face", "patch")
NORMAL, FOREIGN = 4750, 250
FLIPPED = (2, 3, 4, 5, 7)
POOLS = {"mnist": ("mnist", 10_000, "L", None), "letters": ("omniglot_letters_1k", 1000, "L", None),
         "cifar": ("cifar10", 5500, "RGB", None), "faces": ("celeba_1k", 1000, "RGB", 32)}  # fmt: skip
DIGIT_REPEATS = 10

Pool = dict[str, npt.NDArray[Any]]


@dataclass(frozen=True, eq=False)
class PlantedSet:
    """A data set with foreign samples.

    Attributes:
        pixels: The samples, ``[n, d]``, uint8.
        kind: What each is, ``[n]``: a position in `KINDS`.
        label: The class of a digit or letter, ten times one and the other of a blend; -1 elsewhere.
    """

    pixels: npt.NDArray[np.uint8]
    kind: npt.NDArray[np.int8]
    label: npt.NDArray[np.int16]

    @property
    def foreign(self) -> npt.NDArray[np.bool_]:
        """Which samples are foreign, ``[n]``."""
        return self.kind > 0

    @property
    def checksum(self) -> int:
        """Of the pixels, to see that two machines built the same."""
        return zlib.crc32(self.pixels.tobytes())


def planted_set(name: str, repeat: int, folder: str | Path) -> PlantedSet:
    """Build a set.

    Args:
        name: One of `SETS`.
        repeat: Which draw of it.
        folder: Where the decoded images are.
    """
    random = np.random.default_rng([zlib.crc32(name.encode()), repeat])
    if name == "digits":
        digits = read_pool(folder, "digits")
        foreign = digits["foreign"][repeat]
        return _set(digits["images"][repeat], np.where(foreign, 6, 0), digits["labels"][repeat])
    base = read_pool(folder, "cifar" if name == "faces" else "mnist")
    order = random.permutation(len(base["images"]))
    normal, spare = order[:NORMAL], order[NORMAL:]
    parts = [(base["images"][normal], np.zeros(NORMAL, int), base["labels"][normal])]
    third = FOREIGN // 3
    counts = {
        "letters": {"letters": FOREIGN},
        "blends": {"blends": FOREIGN},
        "flipped": {"flipped": FOREIGN},
        "faces": {"faces": FOREIGN},
        "mixed": {"letters": FOREIGN - 2 * third, "blends": third, "flipped": third},
    }[name]
    for what, count in counts.items():
        if what in ("letters", "faces"):
            parts.append(_from_pool(read_pool(folder, what), 1 if what == "letters" else 5, count, random))
        else:
            make = _blends if what == "blends" else _flipped
            part, used = make(base, spare, count)
            parts.append(part)
            spare = spare[~np.isin(spare, used)]
    images, kinds, labels = (np.concatenate(values) for values in zip(*parts, strict=True))
    shuffled = random.permutation(len(images))
    return _set(images[shuffled], kinds[shuffled], labels[shuffled])


@cache
def read_pool(folder: str | Path, name: str) -> Pool:
    """The images that sets are made of."""
    with np.load(Path(folder) / f"{name}.npz") as file:
        return {key: file[key] for key in file.files}


def _set(images: Any, kinds: Any, labels: Any) -> PlantedSet:
    pixels = np.ascontiguousarray(images.reshape(len(images), -1))
    return PlantedSet(pixels, np.asarray(kinds, np.int8), np.asarray(labels, np.int16))


def _from_pool(pool: Pool, kind: int, count: int, random: np.random.Generator) -> Any:
    chosen = random.choice(len(pool["images"]), count, replace=False)
    labels = pool["labels"][chosen] if "labels" in pool else np.full(count, -1)
    return pool["images"][chosen], np.full(count, kind), labels


def _flipped(base: Pool, spare: Any, count: int) -> Any:
    """Digits upside down, with the centre of mass where MNIST has it."""
    chosen = spare[np.isin(base["labels"][spare], FLIPPED)][:count]
    turned = np.roll(base["images"][chosen][:, ::-1, ::-1], (1, 1), (1, 2))
    return (turned, np.full(count, 4), base["labels"][chosen]), chosen


def _blends(base: Pool, spare: Any, count: int) -> Any:
    """Pairs of different digits, each used once: by turns their mean and their maximum."""
    ones: list[int] = []
    others: list[int] = []
    for i in spare.tolist():
        if len(ones) == len(others):
            ones.append(i)
        elif base["labels"][i] != base["labels"][ones[-1]]:
            others.append(i)
        if len(others) == count:
            break
    one, other = (base["images"][chosen].astype(np.uint16) for chosen in (ones, others))
    by_mean = np.arange(count) % 2 == 0
    blended = np.where(by_mean[:, None, None], (one + other) // 2, np.maximum(one, other)).astype(np.uint8)
    labels = base["labels"][ones].astype(int) * 10 + base["labels"][others]
    return (blended, np.where(by_mean, 2, 3), labels), ones + others


def decode(source: Path, out: Path) -> None:
    """Write the pools."""
    from proponent.data import digits_with_patches

    out.mkdir(parents=True, exist_ok=True)
    for name, (folder, count, mode, size) in POOLS.items():
        np.savez_compressed(out / f"{name}.npz", **_decoded(source / folder, count, mode, size))
    repeats = [digits_with_patches(seed=repeat) for repeat in range(DIGIT_REPEATS)]
    np.savez_compressed(
        out / "digits.npz",
        images=np.stack([(each.images * 255).round().astype(np.uint8) for each in repeats]),
        foreign=np.stack([each.foreign for each in repeats]),
        labels=np.stack([each.labels for each in repeats]).astype(np.int8),
    )


def _decoded(folder: Path, count: int, mode: str, size: int | None) -> Pool:
    import pyarrow.parquet as pq
    from PIL import Image

    images: list[Any] = []
    labels: list[int] = []
    for batch in pq.ParquetFile(sorted(folder.glob("train-*.parquet"))[0]).iter_batches(500):
        for row in batch.to_pylist():
            image = Image.open(BytesIO(row["image"]["bytes"])).convert(mode)
            images.append(np.asarray(image.resize((size, size), Image.Resampling.BOX) if size else image))
            labels.append(row.get("label", -1))
        if len(images) >= count:
            break
    return {"images": np.stack(images[:count]), "labels": np.array(labels[:count], np.int16)}


if __name__ == "__main__":
    decode(Path(sys.argv[1]), Path(sys.argv[2]))
