import gzip

import numpy as np
import pytest
from data_toys import reasons

from proponent.data import _room, open_data


def read(tmp_path, text, name="x.csv", encoding="utf-8", **settings):
    content = text if isinstance(text, bytes) else text.encode(encoding)
    (tmp_path / name).write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    return open_data(tmp_path / name, **settings)


def test_numbers_under_a_head(tmp_path):
    data = read(tmp_path, "age,city,height\n1,Rome,2.5\n3,Oslo,4.5\n")
    assert data.columns == ("age", "height")
    assert data.values.tolist() == [[1, 2.5], [3, 4.5]]
    assert data.captions.tolist() == ["row 1", "row 2"]
    assert data.describe(1) == {"age": 3.0, "height": 4.5, "city": "Oslo"}


@pytest.mark.parametrize("name", ["x.csv", "x.csv.gz", "x.txt"])
def test_without_a_head(name, tmp_path):
    data = read(tmp_path, "1,2\n3,4\n", name)
    assert data.values.tolist() == [[1, 2], [3, 4]]
    assert data.columns == ("column 1", "column 2")
    assert data.notes == (f"`{name}` has no head: its columns are numbered.",)


@pytest.mark.parametrize("mark", [",", ";", "\t", "|"])
def test_separators(mark, tmp_path):
    assert read(tmp_path, f"a{mark}b\n1.5{mark}2\n").values.tolist() == [[1.5, 2]]


def test_decimal_commas(tmp_path):
    assert read(tmp_path, "a;b\n1,5;2\n-0,25;3\n").values.tolist() == [[1.5, 2], [-0.25, 3]]
    assert read(tmp_path, "1,5;2\n0,25;3\n").values.tolist() == [[1.5, 2], [0.25, 3]]


def test_other_encodings(tmp_path):
    for encoding in ("utf-8-sig", "cp1252", "utf-16"):
        data = read(tmp_path, "größe,x\n1,2\n", encoding=encoding)
        assert data.columns == ("größe", "x")
    assert read(tmp_path, b"a,\x81\x8d\n1,2\n").values.tolist() == [[1, 2]]


def test_keys(tmp_path):
    data = read(tmp_path, ",a\nx,1\ny,2\nx,3\n")
    assert data.ids.tolist() == ["x", "y", "x-2"]
    assert data.columns == ("a",)


def test_text_among_numbers_is_named(tmp_path):
    data = read(tmp_path, "a,b\n1,2\nunknown,3\n4,NA\n5,6\n,7\n")
    assert data.values.tolist() == [[1, 2], [5, 6]]
    assert reasons(data) == {
        "row 2": "`a` is 'unknown', no number",
        "row 3": "`b` is empty or no number",
        "row 5": "`a` is empty or no number",
    }


def test_text_with_a_few_numbers_is_text(tmp_path):
    data = read(tmp_path, "a,b\nx,1\ny,2\n3,3\n")
    assert data.columns == ("b",)
    assert data.notes == ("Columns left out, since they hold no numbers: 'a'.",)


def test_text_far_down_is_named_too(tmp_path):
    rows = "".join(
        f"{i},{i}.{5:060}\n" for i in range(20_000)
    )  # beyond a megabyte, from which types are guessed
    data = read(tmp_path, f"a,b\n{rows}oops,1\n")
    assert reasons(data) == {"row 20001": "`a` is 'oops', no number"}
    assert len(data) == 20_000


def test_ragged_rows_are_named(tmp_path):
    data = read(tmp_path, "a,b\n1,2\n3\n4,5\n6,7,8\n9,nan\n10,11\n")
    assert data.values.tolist() == [[1, 2], [4, 5], [10, 11]]
    assert reasons(data) == {
        "row 2": "1 cells, where there should be 2",
        "row 4": "3 cells, where there should be 2",
        "row 5": "`b` is empty or no number",
    }
    assert data.captions.tolist() == ["row 1", "row 3", "row 6"]
    data = read(tmp_path, "1,2\n3\n4,5\n")
    assert list(reasons(data)) == ["row 2"]


def test_line_breaks_in_quotes(tmp_path):
    data = read(tmp_path, 'a,note\n1,"two\nlines"\n2,"one"\n')
    assert data.values.tolist() == [[1], [2]]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("\n\n", "must hold rows of numbers, but is empty"),
        ("a,b\n", "must hold rows of numbers, but has none"),
        ("a,b\n1\n2\n", "but has none that fit its head"),
        ("a,b\nx,y\n", "must have a column of numbers or of pictures"),
        (b"a,b\n1,\x002\n", "must be a text of rows, but holds other bytes"),
    ],
)
def test_no_table(text, message, tmp_path):
    with pytest.raises(ValueError, match=message):
        read(tmp_path, text)


def test_a_row_that_is_not_text(tmp_path):
    with pytest.raises(ValueError, match=r"can't be read as CSV"):
        read(tmp_path, b"\xff\xfea\x00,\x00\x00\xd8\n\x001\x00")


def test_damaged_gzip(tmp_path):
    content = gzip.compress(b"a,b\n" + b"1,2\n" * 1000)
    (tmp_path / "x.csv.gz").write_bytes(content[:-20])
    with pytest.raises(ValueError, match=r"can't be unpacked: .*cut short"):
        open_data(tmp_path / "x.csv.gz")


def test_a_bomb_is_not_unpacked(tmp_path, monkeypatch):
    monkeypatch.setattr(_room, "_memory", lambda: 200_000)
    with pytest.raises(ValueError, match=r"What `.*x.csv.gz` unpacks to has .* or more, over the 97.66 KiB"):
        read(tmp_path, b"1,2\n" * 100_000, "x.csv.gz")
    with pytest.raises(ValueError, match=r"x.csv` has 390.6 KiB or more.*Convert it to Parquet"):
        read(tmp_path, b"1,2\n" * 100_000)


def test_room_on_a_machine_that_does_not_say(monkeypatch):
    monkeypatch.delattr("os.sysconf")
    assert _room._memory() == 8 << 30


def test_many_columns(tmp_path):
    head = ",".join(f"c{i}" for i in range(3000))
    row = ",".join("0.125" for _ in range(3000))
    data = read(tmp_path, f"{head}\n{row}\n{row}\n")
    assert data.values.shape == (2, 3000)
    assert np.all(data.values == 0.125)
