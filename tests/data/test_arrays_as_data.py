import struct
import zipfile

import numpy as np
import pytest
import torch
from data_toys import idx_bytes, reasons, write_idx
from PIL import Image

from proponent.data import _array_file, _arrays, _cache, open_data, read_array

RNG = np.random.default_rng(0)
BYTES = RNG.integers(0, 256, (5, 12, 10), dtype=np.uint8)


@pytest.mark.parametrize(
    ("array", "kind", "shape"),
    [
        (BYTES, "images", (5, 1, 12, 10)),
        (BYTES[:, None], "images", (5, 1, 12, 10)),
        (np.repeat(BYTES[:, None], 3, 1), "images", (5, 3, 12, 10)),
        (np.repeat(BYTES[..., None], 3, 3), "images", (5, 3, 12, 10)),
        (np.repeat(BYTES[..., None], 4, 3), "arrays", (5, 12, 10, 4)),
        (BYTES[:, :7], "arrays", (5, 7, 10)),
        (BYTES.reshape(5, 120), "arrays", (5, 120)),
        (RNG.random((5, 9, 9)), "images", (5, 1, 9, 9)),
        (RNG.random((5, 9, 9)) - 0.5, "arrays", (5, 9, 9)),
        (RNG.random(5), "arrays", (5, 1)),
        (RNG.integers(-5, 5, (5, 9, 9)), "arrays", (5, 9, 9)),
    ],
)
def test_what_an_array_holds(array, kind, shape):
    data = open_data(array)
    assert (data.kind, data.values.shape) == (kind, shape)
    assert data.values.dtype == (np.uint8 if array.dtype == np.uint8 else np.float32)
    assert data.captions[0] == "item 1"


def test_channels_last_are_moved_first():
    colours = RNG.integers(0, 256, (5, 12, 10, 3), dtype=np.uint8)
    np.testing.assert_array_equal(open_data(colours).values, np.moveaxis(colours, 3, 1))


def test_integers_taken_for_pixels():
    data = open_data(BYTES.astype(np.int64), size=None)
    np.testing.assert_array_equal(data.values[:, 0], BYTES)
    assert data.values.dtype == np.uint8
    assert data.notes[0].endswith("taken for pixels of 8 bits.")


@pytest.mark.parametrize("dtype", [np.bool_, np.int32])
def test_black_and_white(dtype):
    data = open_data((BYTES > 99).astype(dtype))
    np.testing.assert_array_equal(data.values[:, 0], (BYTES > 99) * 255)


def test_floats_keep_their_values():
    floats = RNG.random((5, 9, 9))
    data = open_data(floats)
    np.testing.assert_array_equal(data.values[:, 0], floats.astype(np.float32))
    assert data.describe(2)["shape"] == "1 x 9 x 9"
    np.testing.assert_array_equal(np.asarray(data.picture(2)), np.rint(floats[2] * 255))


@pytest.mark.parametrize("dtype", [np.uint8, np.float32])
@pytest.mark.parametrize("size", [5, 20])
def test_pictures_are_resized(dtype, size):
    flat = np.full((2, 3, 10, 30), 0.5 if dtype == np.float32 else 100, dtype=dtype)
    flat[..., :10] = flat[..., 20:] = 0
    data = open_data(flat, size=size)
    assert data.values.shape == (2, 3, size, size)
    assert np.ptp(data.values) == 0
    assert data.values.dtype == dtype


def test_samples_that_are_not_finite_are_left_aside():
    numbers = RNG.normal(size=(6, 3))
    numbers[1, 2], numbers[3, 0], numbers[4, 1] = np.nan, np.inf, 1e200
    data = open_data(numbers)
    assert reasons(data) == {
        "item 2": "it holds NaN or infinity",
        "item 4": "it holds NaN or infinity",
        "item 5": "it holds numbers too large for 32 bits",
    }
    assert data.positions.tolist() == [0, 2, 5]


@pytest.mark.parametrize("cached", [False, True])
def test_single_floats_that_are_not_finite_are_left_aside(cached, tmp_path):
    numbers = RNG.normal(size=(5000, 3)).astype(np.float32)
    numbers[4500, 2] = np.nan
    kept = np.delete(numbers, 4500, 0)
    data = open_data(numbers, tmp_path / "cache" if cached else None)
    np.testing.assert_array_equal(data.values, kept)
    if cached:
        np.testing.assert_array_equal(open_data(numbers, tmp_path / "cache").values, kept)


def test_pictures_with_nan_are_still_pictures():
    floats = RNG.random((3, 9, 9))
    floats[1, 0, 0] = np.nan
    data = open_data(floats)
    assert (data.kind, len(data)) == ("images", 2)


@pytest.mark.parametrize("array", [np.zeros((0, 3)), np.zeros((3, 0)), np.float32(1)])
def test_no_samples(array):
    with pytest.raises((ValueError, TypeError), match=r"(samples along the first axis|must be a folder)"):
        open_data(array)
    with pytest.raises(ValueError, match=r"must hold samples along the first axis, got an array of shape"):
        open_data(torch.as_tensor(array))


def test_no_numbers():
    with pytest.raises(ValueError, match=r"the ndarray must hold numbers, got dtype <U1"):
        open_data(np.array(["a"]))


def test_tensors():
    tensor = torch.rand(4, 3, 9, 9, requires_grad=True)
    np.testing.assert_array_equal(open_data(tensor).values, tensor.detach().numpy())
    assert open_data(tensor.bfloat16()).values.shape == (4, 3, 9, 9)


def test_large_files_are_mapped(tmp_path, monkeypatch):
    for module in (_array_file._SMALL, _cache._IN_MEMORY):
        assert module == 256 << 20
    monkeypatch.setattr(_array_file, "_SMALL", 100)
    monkeypatch.setattr(_cache, "_IN_MEMORY", 100)
    monkeypatch.setattr(_arrays, "_CHUNK", 100)
    np.save(tmp_path / "x.npy", numbers := RNG.normal(size=(500, 20)).astype(np.float32))
    for _ in range(2):
        data = open_data(tmp_path / "x.npy", tmp_path / "cache")
        np.testing.assert_array_equal(data.values, numbers)
        assert isinstance(data.values, np.memmap)
        data.values[0] = 0  # changes no file
    assert not (tmp_path / "cache" / "samples.npy").exists()
    np.save(tmp_path / "doubles.npy", numbers.astype(np.float64))
    data = open_data(tmp_path / "doubles.npy", tmp_path / "cache 2")
    np.testing.assert_array_equal(data.values, numbers)
    assert isinstance(data.values, np.memmap)
    np.testing.assert_array_equal(read_array(tmp_path / "x.npy", mapped=True), numbers)
    (tmp_path / "x.npy").write_bytes((tmp_path / "x.npy").read_bytes()[:-1])
    with pytest.raises(ValueError, match=r"can't be read: .*cut short"):
        open_data(tmp_path / "x.npy")


def test_archives(tmp_path):
    np.savez_compressed(tmp_path / "x.npz", x=BYTES, y=np.arange(5))
    assert open_data(tmp_path / "x.npz", array="x").values.shape == (5, 1, 12, 10)
    with pytest.raises(ValueError, match=r"holds 2 arrays"):
        open_data(tmp_path / "x.npz")
    (tmp_path / "no.npz").write_text("text")
    with pytest.raises(ValueError, match=r"is not an array file"):
        open_data(tmp_path / "no.npz")


def test_an_archive_that_lies_about_its_size(tmp_path):
    with zipfile.ZipFile(tmp_path / "x.npz", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("x.npy", b"\x93NUMPY\x01\x00" + bytes(1 << 20))
    with pytest.raises(ValueError, match=r"can't be read"):
        open_data(tmp_path / "x.npz")


@pytest.mark.parametrize("name", ["images-idx3-ubyte", "images-idx3-ubyte.gz", "x.idx", "x.bin"])
def test_idx(name, tmp_path):
    data = open_data(write_idx(tmp_path / name, BYTES))
    np.testing.assert_array_equal(data.values[:, 0], BYTES)


@pytest.mark.parametrize(("code", "dtype"), [(9, ">i1"), (11, ">i2"), (12, ">i4"), (13, ">f4"), (14, ">f8")])
def test_idx_of_other_numbers(code, dtype, tmp_path):
    numbers = (RNG.normal(size=(5, 3)) * 50).astype(dtype)
    data = open_data(write_idx(tmp_path / "x.idx", numbers, code))
    np.testing.assert_array_equal(data.values, numbers.astype(np.float32))


@pytest.mark.parametrize("name", ["x.idx", "x.idx.gz"])
@pytest.mark.parametrize(
    ("content", "message"),
    [
        (idx_bytes(np.zeros(5, dtype=np.uint8)), "holds one number a sample, as files of labels do"),
        (idx_bytes(np.zeros((0, 3), dtype=np.uint8)), "must hold samples along the first axis"),
        (idx_bytes(BYTES)[:6], "was cut short in its head"),
        (idx_bytes(BYTES)[:-1], r"(must have 600 bytes of numbers .* but has 599|but holds fewer)"),
        (idx_bytes(BYTES) + b"1", r"(must have 600 bytes of numbers .* but has 601|but holds more)"),
        (
            struct.pack(">HBB3I", 0, 8, 3, 2**31, 2**31, 9),
            r"(but has 0|more than any gzip file of its size can)",
        ),
    ],
)
def test_damaged_idx(name, content, message, tmp_path):
    import gzip

    (tmp_path / name).write_bytes(gzip.compress(content) if name.endswith("gz") else content)
    with pytest.raises(ValueError, match=message):
        open_data(tmp_path / name)


def test_idx_packed_and_cut(tmp_path):
    path = write_idx(tmp_path / "x.gz", BYTES)
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(ValueError, match=r"can't be unpacked"):
        open_data(path)


def test_what_is_no_idx(tmp_path):
    from proponent.data._idx import read_idx

    (tmp_path / "x").write_bytes(b"12345")
    with pytest.raises(ValueError, match=r"must be an IDX file, but begins with b'1234'"):
        read_idx(tmp_path / "x")


def test_arrays_are_drawn():
    curves = open_data(np.sin(np.linspace(0, 9, 50))[None].repeat(2, 0) * 3)
    assert curves.thumbnail(0).size == (128, 128)
    assert np.asarray(curves.thumbnail(0)).min() < 100
    assert curves.picture(0, 40).size == (40, 40)
    one = open_data(np.arange(4.0))
    assert np.asarray(one.thumbnail(2)).min() < 100
    grids = open_data(RNG.normal(size=(2, 3, 7, 5)))
    assert grids.picture(0).size == (5, 21)
    assert np.asarray(grids.picture(0)).max() == 255
    constant = open_data(np.ones((2, 6)))
    assert constant.thumbnail(0).size == (128, 128)


def test_rows_are_drawn():
    import pandas as pd

    data = open_data(pd.DataFrame({"a": [1.0, 2, 9], "b": [5.0, 5, 5], "c": [3.0, 1, 2]}))
    tall = np.asarray(data.picture(2, 64))
    assert tall.shape == (64, 64, 3)
    assert (tall[:30, 5] != 255).any()  # high above the middle
    assert (tall[40:, 5] == 255).all()
    assert isinstance(data.thumbnail(0), Image.Image)
