import numpy as np
import pytest
from sklearn.datasets import load_digits

from proponent.data import digits_with_patches


def test_every_image_is_what_its_id_says():
    data = digits_with_patches()
    digits = load_digits().images / 16
    for image, name, foreign in zip(data.images, data.ids, data.foreign, strict=True):
        kind, number = name.split("-")
        assert foreign == (kind == "patch")
        if kind == "digit":
            np.testing.assert_array_equal(image, digits[int(number)].astype(np.float32))


def test_the_sets_are_apart_and_whole():
    data = digits_with_patches(patches=7, held_out=20)
    assert len(data.images) == 1797 - 20 + 7
    assert data.foreign.sum() == 7
    together = [*data.ids[~data.foreign], *data.held_out_ids]
    assert sorted(together) == [f"digit-{i:04d}" for i in range(1797)]


def test_labels_belong_to_the_digits():
    data = digits_with_patches()
    target = load_digits().target
    numbers = [int(name.split("-")[1]) for name in data.held_out_ids]
    np.testing.assert_array_equal(data.held_out_labels, target[numbers])
    assert (data.labels[data.foreign] == -1).all()
    kept = [int(name.split("-")[1]) for name in data.ids[~data.foreign]]
    np.testing.assert_array_equal(data.labels[~data.foreign], target[kept])


def test_patches_fill_the_range_of_the_digits():
    data = digits_with_patches()
    patches = data.images[data.foreign]
    np.testing.assert_array_equal(patches.min((1, 2)), 0)
    np.testing.assert_array_equal(patches.max((1, 2)), 1)
    assert len(np.unique(patches.reshape(len(patches), -1), axis=0)) == len(patches)


def test_the_seed_decides():
    first, again, other = (digits_with_patches(seed=seed).images for seed in (0, 0, 1))
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other)


def test_patches_must_be_planted():
    with pytest.raises(ValueError, match="`patches` must be at least 1, got 0"):
        digits_with_patches(patches=0)


@pytest.mark.parametrize("held_out", [0, 1797])
def test_digits_must_be_left(held_out):
    with pytest.raises(ValueError, match=f"`held_out` must be at least 1 and less than 1797, got {held_out}"):
        digits_with_patches(held_out=held_out)


@pytest.mark.parametrize("crop", [0, 12, 432])
def test_a_crop_must_reduce_to_eight_pixels(crop):
    with pytest.raises(ValueError, match=f"`crop` must be a multiple of 8 from 8 to 427, got {crop}"):
        digits_with_patches(crop=crop)
