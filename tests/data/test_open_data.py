"""What holds for data of every form."""

from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import torch
from data_toys import encoded, make_image, write_hub_parquet, write_idx, write_pictures
from PIL import Image

from proponent.data import DataSet, open_data

NUMBERS = np.random.default_rng(0).normal(size=(9, 4)).astype(np.float32)
PIXELS = np.random.default_rng(0).integers(0, 256, (9, 12, 12), dtype=np.uint8)


def folder(path):
    return write_pictures(path / "folder", 9, 70, 90, form="JPEG")


def hub_parquet(path):
    contents = [encoded(make_image(12, 12, seed=i)) for i in range(9)]
    return write_hub_parquet(path / "x.parquet", contents, label=pa.array(range(9)))


def binary_parquet(path):
    contents = [encoded(make_image(12, 12, 1, seed=i)) for i in range(9)]
    pq.write_table(pa.table({"picture": contents}), path / "x.parquet")
    return path / "x.parquet"


def number_parquet(path):
    pq.write_table(pa.table({name: NUMBERS[:, i] for i, name in enumerate("abcd")}), path / "x.parquet")
    return path / "x.parquet"


def list_parquet(path):
    pq.write_table(pa.table({"curve": list(NUMBERS)}), path / "x.parquet")
    return path / "x.parquet"


def csv(path):
    pd.DataFrame(NUMBERS, columns=list("abcd")).to_csv(path / "x.csv", index=False)
    return path / "x.csv"


def npy(path):
    np.save(path / "x.npy", NUMBERS)
    return path / "x.npy"


def npz(path):
    np.savez(path / "x.npz", pixels=PIXELS)
    return path / "x.npz"


def idx(path):
    return write_idx(path / "x-idx3-ubyte.gz", PIXELS)


def frame(path):
    return pd.DataFrame(NUMBERS, columns=list("abcd"))


def tensor(path):
    return torch.from_numpy(NUMBERS)


def pairs(path):
    return torch.utils.data.TensorDataset(torch.from_numpy(NUMBERS), torch.arange(9))


def pictures_in_a_list(path):
    return [make_image(70, 50, seed=i) for i in range(9)]


FORMS = [
    *(folder, hub_parquet, binary_parquet, number_parquet, list_parquet, csv, npy, npz, idx, frame),
    *(tensor, pairs, pictures_in_a_list),
]
KINDS = {
    **dict.fromkeys((folder, hub_parquet, binary_parquet, npz, idx, pictures_in_a_list), "images"),
    **dict.fromkeys((number_parquet, csv, frame), "rows"),
    **dict.fromkeys((list_parquet, npy, tensor, pairs), "arrays"),
}


def assert_same(one, other):
    np.testing.assert_array_equal(one.values, other.values)
    for name in ("ids", "captions", "hashes", "duplicates", "positions"):
        assert getattr(one, name).tolist() == getattr(other, name).tolist()
    for name in ("kind", "left_aside", "columns", "fingerprint", "notes", "is_random", "source"):
        assert getattr(one, name) == getattr(other, name)
    assert {name: fact.tolist() for name, fact in one.facts.items()} == {
        name: fact.tolist() for name, fact in other.facts.items()
    }


@pytest.fixture(params=FORMS, ids=lambda form: form.__name__)
def form(request):
    return request.param


def test_the_record(form, tmp_path):
    data = open_data(form(tmp_path))
    assert isinstance(data, DataSet)
    assert data.kind == KINDS[form]
    assert len(data) == len(data.ids) == len(data.captions) == len(data.hashes) == len(data.duplicates) == 9
    assert len(set(data.ids.tolist())) == 9
    assert data.values.dtype == (np.uint8 if data.kind == "images" else np.float32)
    assert data.values.ndim == (4 if data.kind == "images" else 2)
    assert (data.duplicates == -1).all()
    assert data.fingerprint.startswith("sha256:")
    assert data.left_aside == ()
    assert not data.is_random
    assert data.positions.tolist() == list(range(9))
    assert repr(data).startswith(f"<DataSet of {data.kind}, 9 x ")


def test_read_again_it_is_the_same(form, tmp_path):
    source = form(tmp_path)
    assert_same(open_data(source), open_data(source))


def test_read_through_a_cache_it_is_the_same(form, tmp_path):
    source, cache = form(tmp_path), tmp_path / "cache"
    plain = open_data(source)
    assert_same(open_data(source, cache), plain)
    assert_same(open_data(source, cache), plain)
    assert not (cache / "shards").exists()


def test_every_sample_can_be_looked_at(form, tmp_path):
    data = open_data(form(tmp_path))
    for i in (0, 8):
        assert data.describe(i)
        assert isinstance(data.picture(i), Image.Image)
        small = data.thumbnail(i, 16)
        assert max(small.size) <= 16
        assert small.mode in ("L", "RGB")


def test_progress_reaches_the_end(form, tmp_path):
    source, told = form(tmp_path), []
    for _ in range(2):
        open_data(source, tmp_path / "cache", progress=lambda done, total: told.append((done, total)))
        assert told[-1] == (9, 9)
        told.clear()


def test_its_own_record_opens_it_again(form, tmp_path):
    data = open_data(form(tmp_path))
    if data.source["path"] is None:
        return
    options = {name: data.source.get(name) for name in ("size", "column", "array", "grey")}
    assert_same(open_data(data.source["path"], **options), data)
    assert open_data(Path(data.source["path"])).source["form"] == data.source["form"]


def test_content_ids_survive_another_order():
    order = np.random.default_rng(1).permutation(9)
    data, mixed = open_data(NUMBERS), open_data(NUMBERS[order])
    assert data.ids[order].tolist() == mixed.ids.tolist()
    assert all(name.startswith("sha256:") and len(name) == 23 for name in data.ids)
    assert data.fingerprint != mixed.fingerprint


def test_exact_duplicates_are_grouped_and_named_apart():
    data = open_data(NUMBERS[[0, 1, 0, 2, 1, 0]])
    assert data.duplicates.tolist() == [0, 1, 0, -1, 1, 0]
    first = data.ids[0]
    assert data.ids[[0, 2, 5]].tolist() == [first, f"{first}-2", f"{first}-3"]


@pytest.mark.parametrize(
    ("make", "settings", "name"),
    [
        (npy, {"column": "a"}, "column"),
        (npy, {"grey": True}, "grey"),
        (idx, {"array": "x"}, "array"),
        (number_parquet, {"size": 16}, "size"),
        (list_parquet, {"grey": False}, "grey"),
        (folder, {"column": "x"}, "column"),
        (tensor, {"column": "x"}, "column"),
        (pairs, {"array": "x"}, "array"),
        (pairs, {"grey": True}, "grey"),
    ],
)
def test_settings_without_a_use_are_refused(make, settings, name, tmp_path):
    with pytest.raises(ValueError, match=rf"`{name}` is for .*has no use for it. Leave it out"):
        open_data(make(tmp_path), **settings)


@pytest.mark.parametrize("size", [0, -3, 5000])
def test_size_has_limits(size, tmp_path):
    with pytest.raises(ValueError, match=f"`size` must be from 1 to 1024 pixels, got {size}"):
        open_data(folder(tmp_path), size=size)


@pytest.mark.parametrize("make", [npy, tensor, pairs])
def test_size_is_for_pictures(make, tmp_path):
    with pytest.raises(ValueError, match=r"`size` is for pictures, but .* arrays of shape"):
        open_data(make(tmp_path), size=16)


def test_no_such_path(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"must be a folder of pictures.*`.*none.npy` does not exist"):
        open_data(tmp_path / "none.npy")
    with pytest.raises(FileNotFoundError, match=r"`datasets.load_dataset` first"):
        open_data("ylecun/mnist")
    with pytest.raises(FileNotFoundError, match=r"does not exist"):
        open_data("a\0b")


def test_an_empty_file(tmp_path):
    (tmp_path / "x.parquet").touch()
    with pytest.raises(ValueError, match=r"must hold samples, but is an empty file"):
        open_data(tmp_path / "x.parquet")


@pytest.mark.parametrize("source", [3, {"train": 1, "test": 2}, None, iter([])])
def test_other_objects(source):
    with pytest.raises(TypeError, match=r"or an object with a length and items, got"):
        open_data(source)


def test_a_cache_that_is_a_file(tmp_path):
    (tmp_path / "cache").touch()
    with pytest.raises(ValueError, match=r"`cache` must be a folder, but .* is a file"):
        open_data(NUMBERS, tmp_path / "cache")


@pytest.mark.parametrize(
    ("name", "content", "advice"),
    [
        ("x.bin", b"12345678", "begins with b'12345678'"),
        ("x", b"12345678", "begins with"),
        ("x.jpg", encoded(make_image(4, 4), "JPEG"), "is a single picture: name its folder"),
        ("x", encoded(make_image(4, 4)), "is a single picture"),
        ("x.zip", b"PK\3\4", "is none: unpack it and name the folder"),
        ("x.docx", b"PK\3\4", "is an archive: unpack it"),
        ("x.pt", b"PK\3\4", r"reading it may execute code; save the array with `numpy.save`"),
        ("x.xlsx", b"PK\3\4", "save the sheet as CSV"),
        ("x.jsonl", b"{}", "convert it to Parquet or CSV"),
        ("x.gz", b"\x1f\x8b123", "begins with"),
        ("x.parquet", b"PAR1123", "can't be read as Parquet"),
    ],
)
def test_files_of_other_forms(name, content, advice, tmp_path):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(ValueError, match=advice):
        open_data(tmp_path / name)
