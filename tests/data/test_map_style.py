import numpy as np
import pytest
import torch
from data_toys import make_image, reasons
from PIL import Image

from proponent.data import DataChangedError, RandomDataWarning, open_data

RNG = np.random.default_rng(0)


class Items(torch.utils.data.Dataset):
    """What a user writes."""

    def __init__(self, items, change=lambda item: item):
        self.items, self.change, self.reads = items, change, []

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        self.reads.append(i)
        if isinstance(self.items[i], Exception):
            raise self.items[i]
        return self.change(self.items[i])


TENSORS = list(torch.rand(10, 1, 9, 9))


@pytest.mark.parametrize(
    "change",
    [
        lambda item: item,
        lambda item: (item, 3),
        lambda item: {"image": item, "label": 3},
        lambda item: {"anything": item},
        lambda item: item.numpy(),
    ],
)
def test_items_and_parts_of_them(change):
    data = open_data(Items(TENSORS, change))
    assert data.kind == "images"
    np.testing.assert_array_equal(data.values, torch.stack(TENSORS))
    assert data.captions[0] == "item 1"
    assert data.source["form"] == "Items"


def test_the_part_that_is_asked_for(tmp_path):
    source = Items(TENSORS, lambda item: {"image": item, "other": item[0, 0]})
    assert open_data(source, column="other").values.shape == (10, 9)
    with pytest.raises(
        ValueError, match=r"the first can't be used: no 'none' among 'image', 'other'; say which by"
    ):
        open_data(source, column="none")
    with pytest.raises(ValueError, match=r"which has no part `image`"):
        open_data(Items(TENSORS), column="image")
    with pytest.raises(ValueError, match=r"`column` must be one name for the items of"):
        open_data(source, column=["image", "other"])


def test_pictures():
    source = Items([make_image(20, 20, seed=i) for i in range(4)])
    data = open_data(source)
    assert data.values.shape == (4, 3, 20, 20)
    np.testing.assert_array_equal(np.asarray(data.picture(2)), np.asarray(make_image(20, 20, seed=2)))


def test_pictures_among_other_things():
    source = Items([make_image(20, 20), "text", Image.new("L", (0, 3)), make_image(20, 20, 1)])
    data = open_data(source)
    assert reasons(data) == {"item 2": "a str, where others are pictures", "item 3": "no pixels: 0 x 3"}


def test_a_gigantic_picture(monkeypatch):
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 500)
    data = open_data(Items([make_image(20, 20), make_image(30, 30)]))
    assert reasons(data) == {"item 2": "too many pixels: 30 x 30, over the limit of 500"}


def test_paths_of_data_sets_that_keep_them(tmp_path):
    source = Items([make_image(20, 20, seed=i) for i in range(3)])
    source.root = str(tmp_path)
    source.samples = [(str(tmp_path / "cat" / f"{i}.png"), 0) for i in range(3)]
    assert open_data(source).ids.tolist() == ["cat/0.png", "cat/1.png", "cat/2.png"]
    source.samples = [1, 2, 3]
    assert open_data(source).ids[0].startswith("sha256:")


def test_items_that_cannot_be_used_are_named():
    items = [*TENSORS * 7, torch.rand(2, 9), OSError("gone"), torch.full((1, 9, 9), torch.nan), "text"]
    items += [torch.full((1, 9, 9), 7.0), torch.zeros(0), Ragged()]
    data = open_data(Items(items))
    assert len(data) == 70
    assert reasons(data) == {
        "item 71": "shape (2, 9), where others have (1, 9, 9)",
        "item 72": "the data set raised OSError: gone",
        "item 73": "it holds NaN or infinity",
        "item 74": "a str of dtype <U4 and shape (), no numbers",
        "item 75": "numbers from 7 to 7, where others are pixels from 0 to 1",
        "item 76": "a Tensor of dtype float32 and shape (0,), no numbers",
        "item 77": "no array: no",
    }


class Ragged:
    def __array__(self, dtype=None, copy=None):
        raise ValueError("no")


def test_dtypes():
    whole = [np.arange(81).reshape(9, 9)] * 64
    data = open_data([*whole, np.full((9, 9), 0.5), np.full((9, 9), 300)])
    assert data.values.dtype == np.uint8
    assert reasons(data) == {
        "item 65": "numbers of dtype float64, where others have int64",
        "item 66": "numbers from 300 to 300, where others are pixels from 0 to 255",
    }


def test_a_block_in_which_nothing_can_be_used():
    data = open_data([*[np.arange(3.0)] * 64, *["text"] * 600, np.arange(3.0)])
    assert (len(data), len(data.left_aside)) == (65, 600)


def test_single_numbers():
    assert open_data([1.0, 2.0, 3.5]).values.tolist() == [[1], [2], [3.5]]


def test_no_items():
    with pytest.raises(ValueError, match=r"The data set `list` must hold at least one sample, got none"):
        open_data([])
    with pytest.raises(
        ValueError, match=r"must be arrays, tensors or pictures.*the first can't be used: a str"
    ):
        open_data(["a.jpg", "b.jpg"])


def test_random_augmentation_is_noticed():
    with pytest.warns(RandomDataWarning, match=r"items of the data set `Items` are others each time"):
        data = open_data(Items(TENSORS, lambda item: item + torch.rand(())))
    assert data.is_random
    with pytest.warns(RandomDataWarning):
        assert open_data(
            Items([make_image(20, 20)], lambda item: make_image(20, 20, seed=RNG.integers(999)))
        ).is_random


def test_random_data_are_kept_as_they_were_read(tmp_path):
    def opened():
        with pytest.warns(RandomDataWarning):
            return open_data(Items(TENSORS, lambda item: item * torch.rand(())), tmp_path / "cache")

    np.testing.assert_array_equal(opened().values, opened().values)


def test_each_item_is_read_once(tmp_path):
    source = Items(TENSORS * 60)
    open_data(source, tmp_path / "cache")
    assert np.bincount(source.reads).max() <= 4  # a look at the first, two at some, and the reading
    assert (np.bincount(source.reads)[64:] == 1).sum() > 520
    again = Items(TENSORS * 60)
    open_data(again, tmp_path / "cache")
    assert len(again.reads) < 120


def test_items_that_changed_since(tmp_path):
    open_data(Items(TENSORS), tmp_path / "cache")
    changed = [*TENSORS[:4], TENSORS[4] * 0.5, *TENSORS[5:]]
    with pytest.raises(DataChangedError, match=r"1 changed \(`item 5`\)"):
        open_data(Items(changed), tmp_path / "cache")
    with pytest.raises(DataChangedError, match=r"1 changed \(`item 5`\)"):
        open_data(Items([*TENSORS[:4], OSError("gone"), *TENSORS[5:]]), tmp_path / "cache")
    with pytest.raises(ValueError, match=r"10 samples then, 9 now"):
        open_data(Items(TENSORS[:9]), tmp_path / "cache")
