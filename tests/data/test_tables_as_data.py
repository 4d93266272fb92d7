import datetime
import decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from data_toys import encoded, make_image, reasons, write_hub_parquet, write_pictures

from proponent.data import open_data
from proponent.data._tables import ParquetTable

PICTURES = [encoded(make_image(12, 12, seed=i)) for i in range(20)]


def write(path, **columns):
    pq.write_table(pa.table(columns), path / "x.parquet")
    return path / "x.parquet"


def test_pictures_are_named_by_their_paths(tmp_path):
    paths = [f"{i:05d}.png" for i in range(20)]
    path = write_hub_parquet(tmp_path / "x.parquet", PICTURES, paths, label=pa.array(range(20)))
    data = open_data(path)
    assert data.ids.tolist() == data.captions.tolist() == paths
    assert data.describe(13) == {"size": "12 x 12", "label": "13"}
    for i in (19, 0, 8, 7, 13):
        np.testing.assert_array_equal(np.asarray(data.picture(i)), np.asarray(make_image(12, 12, seed=i)))


def test_pictures_without_paths_are_named_by_content(tmp_path):
    data = open_data(write_hub_parquet(tmp_path / "x.parquet", [*PICTURES, PICTURES[3]]))
    assert data.ids[3].startswith("sha256:")
    assert data.ids[20] == f"{data.ids[3]}-2"
    assert data.captions[3] == "row 4"


def test_a_key_column_names_the_rows(tmp_path):
    path = write_hub_parquet(
        tmp_path / "x.parquet", PICTURES[:3], ["a", "b", "c"], ID=pa.array(["k1", "k2", None])
    )
    data = open_data(path)
    assert data.ids[:2].tolist() == ["k1", "k2"]
    assert data.ids[2].startswith("sha256:")


def test_broken_cells_are_named(tmp_path):
    contents = [PICTURES[0], b"", PICTURES[1][:50], None, ..., b"text", PICTURES[2]]
    paths = [None, None, None, "/etc/passwd", None, "six.png", None]
    data = open_data(write_hub_parquet(tmp_path / "x.parquet", contents, paths))
    assert len(data) == 2
    found = reasons(data)
    assert found["row 2"] == "an empty file"
    assert found["row 3"].startswith("can't be decoded")
    assert found["/etc/passwd"] == "no picture in it, only the path of one elsewhere"
    assert found["row 5"] == "an empty cell"
    assert found["six.png"].startswith("not a picture")


def test_rows_use_all_numbers(tmp_path):
    path = write(
        tmp_path,
        name=["Ada", "Bea", "Cleo"],
        age=pa.array([30, 41, 52], pa.int16()),
        tall=[True, False, True],
        born=[datetime.date(1990, 1, 1)] * 3,
        wage=pa.array([decimal.Decimal("1.25"), decimal.Decimal("2.50"), decimal.Decimal("0.75")]),
        height=pa.array([1.5, 1.75, 2.0], pa.float16()),
    )
    data = open_data(path)
    assert data.columns == ("age", "tall", "wage", "height")
    np.testing.assert_array_equal(data.values, [[30, 1, 1.25, 1.5], [41, 0, 2.5, 1.75], [52, 1, 0.75, 2]])
    assert data.notes == ("Columns left out, since they hold no numbers: 'name', 'born'.",)
    assert data.describe(1) == {
        "age": 41.0,
        "tall": 0.0,
        "wage": 2.5,
        "height": 1.75,
        "name": "Bea",
        "born": "1990-01-01",
    }


def test_rows_with_empty_cells_are_left_aside(tmp_path):
    columns = {name: np.ones(6) for name in "abcde"}
    columns["a"][1] = np.nan
    columns["b"][2] = np.inf
    columns["c"][3] = 1e300
    for name in "abcde":
        columns[name][4] = np.nan
    data = open_data(write(tmp_path, **columns, f=pa.array([1, None, 1, 1, 1, 1])))
    assert reasons(data) == {
        "row 2": "`a` is empty or no number, `f` is empty or no number",
        "row 3": "`b` is inf",
        "row 4": "`c` is 1e+300",
        "row 5": "`a` is empty or no number, `b` is empty or no number, `c` is empty or no number, and 2 "
        "more",
    }
    assert data.positions.tolist() == [0, 5]
    assert data.captions.tolist() == ["row 1", "row 6"]


def test_no_row_is_whole(tmp_path):
    with pytest.raises(ValueError, match=r"No sample of .*x.parquet` can be used: `row 1`: `a` is empty"):
        open_data(write(tmp_path, a=pa.array([None, None], pa.float64())))


def test_columns_that_are_asked_for(tmp_path):
    path = write(tmp_path, a=[1, 2], b=[3, 4], c=["x", "y"], id=[7, 8])
    assert open_data(path).columns == ("a", "b")
    data = open_data(path, column=["b", "id"])
    assert (data.columns, data.ids[0][:7]) == (("b", "id"), "sha256:")
    data = open_data(path, column="a")
    assert data.values.tolist() == [[1], [2]]
    assert data.ids.tolist() == ["7", "8"]
    assert data.source["column"] == ["a"]
    assert data.describe(0) == {"a": 1.0, "b": "3", "c": "x"}


@pytest.mark.parametrize(
    ("column", "message"),
    [
        ("z", "has no column `z`; it has `a`, `c`, `x`, `y`, `l`"),
        ("c", r"must name numbers, or one column of pictures or of lists, got `c` of .*`c` \(string\)"),
        (["a", "a"], "must name numbers"),
        ([], "must name numbers"),
        (["a", "x"], "must name numbers"),
        (["x", "y"], "must name one column of pictures or of lists, got `x`, `y`"),
    ],
)
def test_columns_that_cannot_be_used(column, message, tmp_path):
    path = write(tmp_path, a=[1], c=["x"], x=[b"1"], y=[b"1"], l=[[1]])
    with pytest.raises(ValueError, match=message):
        open_data(path, column=column)


def test_no_numeric_column(tmp_path):
    path = write(tmp_path, a=["x"], b=[datetime.date(1990, 1, 1)])
    with pytest.raises(
        ValueError, match=r"a column of numbers or of pictures, but has `a` \(string\), `b` \(date32"
    ):
        open_data(path)


def test_a_table_without_columns_or_rows(tmp_path):
    with pytest.raises(ValueError, match=r"must hold at least one row, got none"):
        open_data(write(tmp_path, a=pa.array([], pa.float64())))
    with pytest.raises(
        ValueError, match=r"a column of numbers or of pictures, but has `c0` \(large_string\).*, \.\.\."
    ):
        open_data(pd.DataFrame({f"c{i}": ["x"] for i in range(30)}))


def test_two_columns_of_one_name(tmp_path):
    table = pa.table([[1], [2]], names=["a", "a"])
    with pytest.raises(ValueError, match=r"columns of different names, got `a` twice"):
        open_data(table)


def test_several_columns_of_pictures_or_lists(tmp_path):
    with pytest.raises(ValueError, match=r"several columns of pictures, `a`, `b`. Say which one by `column`"):
        open_data(write(tmp_path, a=[b"1"], b=[b"2"]))
    with pytest.raises(ValueError, match=r"several columns of lists of numbers, `a`, `b`"):
        open_data(write(tmp_path, a=[[1]], b=[[2]]))


def test_lists_are_arrays(tmp_path):
    cells = [[1.0, 2, 3], [4, 5, 6], [7, 8], None, [1, None, 2], [1, float("inf"), 2], [1e300, 0, 0]]
    data = open_data(write(tmp_path, curve=pa.array(cells), key=range(7)))
    assert data.kind == "arrays"
    np.testing.assert_array_equal(data.values, [[1, 2, 3], [4, 5, 6]])
    assert reasons(data) == {
        "row 3": "2 numbers, where others have 3",
        "row 4": "an empty cell",
        "row 5": "it holds NaN, infinity or an empty place",
        "row 6": "it holds NaN, infinity or an empty place",
        "row 7": "it holds numbers too large for 32 bits",
    }
    assert data.describe(0) == {"key": "0", "shape": "3", "smallest": 1.0, "mean": 2.0, "largest": 3.0}


def test_lists_of_lists_are_arrays(tmp_path):
    cells = [[[1, 2], [3, 4]], [[5, 6], [7, 8]], [[1, 2], [3]], [[1, 2], None]]
    data = open_data(write(tmp_path, grid=pa.array(cells)))
    assert data.values.shape == (2, 2, 2)
    assert set(reasons(data).values()) == {"a list of lists of several lengths, or with an empty place"}


def test_lists_that_are_all_empty(tmp_path):
    with pytest.raises(
        ValueError, match=r"Column `a` .* must hold lists of numbers, but the first are empty"
    ):
        open_data(write(tmp_path, a=pa.array([[], None], pa.list_(pa.int64()))))
    with pytest.raises(ValueError, match=r"must hold lists of numbers"):
        open_data(write(tmp_path, a=pa.array([[[1], [2, 3]]])))


def test_a_folder_of_parquet_files(tmp_path):
    for i in range(3):
        name = f"train-{i:05d}-of-00003.parquet"
        (tmp_path / "data").mkdir(exist_ok=True)
        write_hub_parquet(
            tmp_path / "data" / name, PICTURES[i * 5 : i * 5 + 5], [f"{j}.png" for j in range(5)]
        )
    data = open_data(tmp_path)
    assert data.ids.tolist() == [f"{j}.png{end}" for end in ("", "-2", "-3") for j in range(5)]
    np.testing.assert_array_equal(np.asarray(data.picture(11)), np.asarray(make_image(12, 12, seed=11)))
    for name in ("test-00000-of-00001.parquet", "valid-00000-of-00001.parquet"):
        write_hub_parquet(tmp_path / "data" / name, PICTURES)
    with pytest.raises(
        ValueError, match=r"holds several tables, `data/test-0.*, \.\.\., and it isn't clear which"
    ):
        open_data(tmp_path)


def test_parquet_files_of_several_schemas(tmp_path):
    pq.write_table(pa.table({"a": [1]}), tmp_path / "x-00000-of-00002.parquet")
    pq.write_table(pa.table({"b": [1]}), tmp_path / "x-00001-of-00002.parquet")
    with pytest.raises(
        ValueError, match=r"must have the same columns, but `x-00001-of-00002.parquet` has others"
    ):
        open_data(tmp_path)


@pytest.mark.parametrize("length", [3, 4, 8, 100, 400, -1, -9])
def test_a_cut_file(length, tmp_path):
    path = write_hub_parquet(tmp_path / "x.parquet", PICTURES)
    path.write_bytes(path.read_bytes()[:length])
    with pytest.raises(ValueError, match=r"can't be read as Parquet: .*It was cut short, or is damaged"):
        open_data(path)


def test_a_file_damaged_inside(tmp_path):
    path = write_hub_parquet(tmp_path / "x.parquet", PICTURES)
    content = bytearray(path.read_bytes())
    content[4:2000] = bytes(1996)
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"can't be read as Parquet"):
        open_data(path)


def test_any_part_of_a_table_can_be_had(tmp_path):
    path = write_hub_parquet(tmp_path / "x.parquet", PICTURES, key=pa.array(range(20)))
    table = ParquetTable([path], path)
    for start, stop in [(0, 3), (3, 9), (9, 20), (2, 4), (13, 14), (14, 15), (0, 20), (19, 20), (7, 7)]:
        assert table.rows(start, stop, ["key"]).column(0).to_pylist() == list(range(start, stop))
    assert table.rows(15, 17, ["image", "key"]).column(1).to_pylist() == [15, 16]


def test_a_data_frame_with_its_index(tmp_path):
    frame = pd.DataFrame({"a": [1.5, 2.5]}, index=pd.Index(["x", "y"]))
    data = open_data(frame)
    assert data.columns == ("a",)
    frame.to_parquet(tmp_path / "x.parquet")
    data = open_data(tmp_path / "x.parquet")
    assert data.ids.tolist() == ["x", "y"]
    assert data.notes == ("Column `__index_level_0__` names the rows.",)


class HubLike:
    """Does what a data set of `datasets` does as far as it is asked."""

    def __init__(self, table, column_names=None):
        self.table, self.features = table, {}
        self.column_names = table.column_names

    def __len__(self):
        return len(self.table)

    def __getitem__(self, place):
        return self.table[place]

    def select_columns(self, names):
        return HubLike(self.table.select(names))

    def with_format(self, form):
        assert form == "arrow"
        return self


class HubStream:
    features = None

    def with_format(self, form):
        raise AssertionError


def hub_table(cells):
    return pa.table({"image": pa.array(cells, pa.struct({"bytes": pa.binary(), "path": pa.string()}))})


def test_data_sets_of_the_hub(tmp_path):
    folder = write_pictures(tmp_path / "x", 1, 12, 12)
    cells = [{"bytes": content, "path": None} for content in PICTURES[:3]]
    cells += [
        {"bytes": None, "path": str(folder / "0.png")},
        {"bytes": None, "path": str(folder / "gone.png")},
    ]
    cells += [{"bytes": None, "path": str(folder)}]
    data = open_data(HubLike(hub_table(cells)), tmp_path / "cache")
    assert data.values.shape == (4, 3, 12, 12)
    assert list(reasons(data).values()) == ["the file that it names is gone"] * 2
    assert data.source["path"] is None
    assert open_data(HubLike(hub_table(cells)), tmp_path / "cache").fingerprint == data.fingerprint


def test_extension_types_of_the_hub():
    storage = pa.array([[[1.0, 2.0]], [[3.0, 4.0]]])

    class Grid(pa.ExtensionType):
        def __init__(self):
            super().__init__(storage.type, "test.grid")

        def __arrow_ext_serialize__(self):
            return b""

        @classmethod
        def __arrow_ext_deserialize__(cls, storage_type, serialized):
            return cls()

    table = pa.table({"x": pa.ExtensionArray.from_storage(Grid(), storage)})
    assert open_data(HubLike(table)).values.tolist() == [[[1, 2]], [[3, 4]]]


def test_streams_of_the_hub():
    with pytest.raises(TypeError, match=r"is a stream, whose samples can't be had again. Load it without"):
        open_data(HubStream())


def test_the_real_package():
    datasets = pytest.importorskip("datasets")
    source = datasets.Dataset.from_dict({"a": [1.0, 2.0], "b": ["x", "y"]})
    assert open_data(source).columns == ("a",)
