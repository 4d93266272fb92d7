"""The demo's data: handwritten digits with patches of photographs planted among them."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

FloatImages = npt.NDArray[np.float32]

_SIDE = 8
_GREY = np.array([0.299, 0.587, 0.114])  # ITU-R BT.601


@dataclass(frozen=True, eq=False)
class PlantedDigits:
    """A training set with foreign samples in known places, and digits held out of it.

    Attributes:
        images: The training set, ``[n, 8, 8]``, between 0 and 1; digits and patches in random order.
        ids: What each is, such as ``digit-0017`` or ``patch-03``: the position in its source.
        foreign: Which are patches, ``[n]``.
        held_out: Digits that are not in the training set, ``[q, 8, 8]``.
        held_out_ids: What each of those is.
        labels: The digit that each training image shows, -1 for a patch. Nothing learns from them.
        held_out_labels: The same for the digits held out.
    """

    images: FloatImages
    ids: npt.NDArray[Any]
    foreign: npt.NDArray[np.bool_]
    held_out: FloatImages
    held_out_ids: npt.NDArray[Any]
    labels: npt.NDArray[np.int64]
    held_out_labels: npt.NDArray[np.int64]


def digits_with_patches(
    patches: int = 90, held_out: int = 97, crop: int = 64, seed: int = 0
) -> PlantedDigits:
    """Plant patches of scikit-learn's two photographs among its 1,797 digits.

    A patch is a square of a photograph at a random place, in grey, reduced to 8x8 by averaging and
    stretched to the full range, so that brightness alone does not give it away.

    Args:
        patches: How many patches, taken from the photographs in turn.
        held_out: How many digits to hold out of the training set.
        crop: The side of the square in the photograph, in pixels; a multiple of 8.
        seed: What places and order belong to.

    Raises:
        ValueError: `patches` or `held_out` is under 1, no digit would be left, or `crop` is not a multiple
            of 8 that fits into a photograph.
    """
    from sklearn.datasets import load_digits, load_sample_images

    source = load_digits()
    digits = (source.images / 16).astype(np.float32)
    photographs = [image @ _GREY / 255 for image in load_sample_images().images]
    if patches < 1:
        raise ValueError(f"`patches` must be at least 1, got {patches}.")
    if not 1 <= held_out < len(digits):
        raise ValueError(f"`held_out` must be at least 1 and less than {len(digits)}, got {held_out}.")
    largest = min(min(photograph.shape) for photograph in photographs)
    if crop < _SIDE or crop % _SIDE or crop > largest:
        raise ValueError(f"`crop` must be a multiple of 8 from 8 to {largest}, got {crop}.")

    generator = np.random.default_rng(seed)
    planted = np.stack([_patch(photographs[i % len(photographs)], crop, generator) for i in range(patches)])
    shuffled = generator.permutation(len(digits))
    kept, out = np.sort(shuffled[held_out:]), np.sort(shuffled[:held_out])
    order = generator.permutation(len(kept) + patches)
    names = [f"digit-{i:04d}" for i in kept] + [f"patch-{i:02d}" for i in range(patches)]
    labels = np.concatenate([source.target[kept], np.full(patches, -1)])
    return PlantedDigits(
        images=np.concatenate([digits[kept], planted])[order],
        ids=np.array(names)[order],
        foreign=(labels == -1)[order],
        held_out=digits[out],
        held_out_ids=np.array([f"digit-{i:04d}" for i in out]),
        labels=labels[order].astype(np.int64),
        held_out_labels=source.target[out].astype(np.int64),
    )


def _patch(photograph: npt.NDArray[np.float64], crop: int, generator: np.random.Generator) -> FloatImages:
    height, width = photograph.shape
    while True:
        row, column = generator.integers(height - crop + 1), generator.integers(width - crop + 1)
        square = photograph[row : row + crop, column : column + crop]
        patch = square.reshape(_SIDE, crop // _SIDE, _SIDE, crop // _SIDE).mean((1, 3))
        contrast = np.ptp(patch)
        if contrast > 0:  # a square of one colour can't be stretched: take another
            stretched: FloatImages = ((patch - patch.min()) / contrast).astype(np.float32)
            return stretched
