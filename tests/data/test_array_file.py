import io
import zipfile

import numpy as np
import pytest

from proponent.data import read_array

X = np.random.default_rng(0).normal(size=(20, 3))


@pytest.fixture
def npy(tmp_path):
    np.save(tmp_path / "x.npy", X)
    return tmp_path / "x.npy"


@pytest.fixture
def npz(tmp_path):
    np.savez_compressed(tmp_path / "x.npz", x=X, y=np.arange(20))
    return tmp_path / "x.npz"


def test_reads_an_array(npy):
    np.testing.assert_array_equal(read_array(npy), X)


@pytest.mark.parametrize(("name", "expected"), [("x", X), ("y", np.arange(20))])
def test_reads_a_named_array(npz, name, expected):
    np.testing.assert_array_equal(read_array(npz, name), expected)


def test_an_only_array_needs_no_name(tmp_path):
    np.savez(tmp_path / "x.npz", anything=X)
    np.testing.assert_array_equal(read_array(str(tmp_path / "x.npz")), X)


def test_missing_file(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"must be a `.npy` or `.npz` file, but .* does not exist"):
        read_array(tmp_path / "no.npy")


def test_folder(tmp_path):
    with pytest.raises(FileNotFoundError, match="is a folder"):
        read_array(tmp_path)


def test_other_suffix(tmp_path):
    (tmp_path / "x.csv").write_text("1,2\n")
    with pytest.raises(ValueError, match=r"got `x.csv`. Save the array with `numpy.save`"):
        read_array(tmp_path / "x.csv")


def test_a_single_array_has_no_name(npy):
    with pytest.raises(ValueError, match="holds one array without a name, but `x` was asked"):
        read_array(npy, "x")


def test_several_arrays_need_a_name(npz):
    with pytest.raises(ValueError, match="holds 2 arrays, `x`, `y`: say which one"):
        read_array(npz)


def test_unknown_name(npz):
    with pytest.raises(ValueError, match="has no array `z`; it holds `x`, `y`"):
        read_array(npz, "z")


def test_empty_archive(tmp_path):
    with zipfile.ZipFile(tmp_path / "x.npz", "w"):
        pass
    with pytest.raises(ValueError, match="holds 0 arrays, none"):
        read_array(tmp_path / "x.npz")


@pytest.mark.parametrize("length", [0, 1, 7, 9, 50, 127, 128, 200])
def test_a_cut_array_is_refused(npy, length):
    npy.write_bytes(npy.read_bytes()[:length])
    with pytest.raises(ValueError, match=r"(can't be read: .*cut short|is not an array file)"):
        read_array(npy)


@pytest.mark.parametrize("length", [0, 1, 3, 30, 300, -1])
def test_a_cut_archive_is_refused(npz, length):
    npz.write_bytes(npz.read_bytes()[:length])
    with pytest.raises(ValueError, match=r"(can't be read: .*cut short|is not an array file)"):
        read_array(npz, "x")


def test_a_damaged_member_is_refused(npz):
    content = bytearray(npz.read_bytes())
    content[150:250] = bytes(100)
    npz.write_bytes(content)
    with pytest.raises(ValueError, match="can't be read"):
        read_array(npz, "x")


def test_a_header_that_claims_the_moon_is_refused(npy):
    content = npy.read_bytes().replace(b"(20, 3), }" + b" " * 16, b"(99999999999999, 9999999),}")
    npy.write_bytes(content)
    with pytest.raises(ValueError, match="can't be read"):
        read_array(npy)


def test_objects_are_refused_unread(tmp_path):
    np.save(tmp_path / "x.npy", np.array([{}], dtype=object), allow_pickle=True)
    with pytest.raises(ValueError, match="holds Python objects, or is not an array file"):
        read_array(tmp_path / "x.npy")


def test_objects_in_an_archive_are_refused_unread(tmp_path):
    np.savez(tmp_path / "x.npz", x=np.array([{}], dtype=object))
    with pytest.raises(ValueError, match="holds Python objects"):
        read_array(tmp_path / "x.npz")


def test_text_is_refused(tmp_path):
    np.save(tmp_path / "x.npy", np.array(["a"]))
    with pytest.raises(ValueError, match="must hold numbers, got dtype <U1"):
        read_array(tmp_path / "x.npy")


@pytest.mark.parametrize("array", [np.float64(1), np.zeros((0, 3))])
def test_no_samples_are_refused(tmp_path, array):
    np.save(tmp_path / "x.npy", array)
    with pytest.raises(ValueError, match="must hold samples along the first axis, got an array of shape"):
        read_array(tmp_path / "x.npy")


def test_an_archive_that_calls_itself_an_array(npz):
    with pytest.raises(ValueError, match=r"is a `.npz` file by its content: rename it"):
        read_array(npz.rename(npz.with_suffix(".npy")))


def test_an_array_that_calls_itself_an_archive(npy):
    with pytest.raises(ValueError, match=r"is a `.npy` file by its content: rename it"):
        read_array(npy.rename(npy.with_suffix(".npz")))


def test_bytes_of_noise_are_refused(tmp_path):
    for seed in range(20):
        noise = np.random.default_rng(seed).bytes(400)
        for path, start in ((tmp_path / "x.npy", b"\x93NUMPY\x01\x00"), (tmp_path / "x.npz", b"PK\x03\x04")):
            path.write_bytes(io.BytesIO(start + noise).getvalue())
            with pytest.raises(ValueError, match=r"(can't be read|not an array file)"):
                read_array(path)
