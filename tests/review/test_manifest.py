import csv

import numpy as np
import pandas as pd
import pytest

from proponent.review import Decision
from proponent.review._apply import write_manifest

IDS = np.array(["a", 'b,"c"', "=d", "é e"], dtype=object)
VERDICTS = {
    "a": Decision(1, "a", "keep"),
    IDS[1]: Decision(2, IDS[1], "discard"),
    "=d": Decision(3, "=d", "unsure"),
    "gone": Decision(4, "gone", "discard"),
}
KINDS = (".parquet", ".csv", ".txt")


def test_a_parquet_manifest_has_a_row_a_sample(tmp_path):
    counts = write_manifest(tmp_path / "m.parquet", IDS, VERDICTS)
    assert counts == {"keep": 1, "discard": 1, "unsure": 1, "left": 1}
    frame = pd.read_parquet(tmp_path / "m.parquet")
    assert frame["id"].tolist() == IDS.tolist()
    assert frame["verdict"].tolist() == ["keep", "discard", "unsure", ""]
    assert frame["keep"].tolist() == [True, False, True, True]


def test_a_csv_manifest_says_the_same(tmp_path):
    write_manifest(tmp_path / "m.csv", IDS, VERDICTS)
    with (tmp_path / "m.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["id"] for row in rows] == IDS.tolist()
    assert [row["keep"] for row in rows] == ["True", "False", "True", "True"]


def test_a_text_manifest_lists_what_stays(tmp_path):
    write_manifest(tmp_path / "m.txt", IDS, VERDICTS)
    assert (tmp_path / "m.txt").read_text("utf-8") == "a\n=d\né e\n"


@pytest.mark.parametrize("kind", KINDS)
def test_a_manifest_is_written_anew(tmp_path, kind):
    path = tmp_path / f"m{kind}"
    write_manifest(path, IDS, {})
    before = path.read_bytes()
    write_manifest(path, IDS, VERDICTS)
    assert path.read_bytes() != before
    write_manifest(path, IDS, {})
    assert path.read_bytes() == before


@pytest.mark.parametrize("kind", KINDS)
def test_other_files_are_left_alone(tmp_path, kind):
    path = tmp_path / f"photos{kind}"
    frame = pd.DataFrame({"id": ["a"], "pixels": [1]})
    write = {
        ".parquet": frame.to_parquet,
        ".csv": frame.to_csv,
        ".txt": lambda path: path.write_text("mine\n"),
    }
    write[kind](path)
    before = path.read_bytes()
    with pytest.raises(
        ValueError, match=r"is no manifest of these samples\. Nothing of yours is overwritten"
    ):
        write_manifest(path, IDS, VERDICTS)
    assert path.read_bytes() == before


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("content", [b"\xff\xfe\x00broken", b"PAR1" * 10])
def test_broken_files_are_left_alone(tmp_path, kind, content):
    path = tmp_path / f"m{kind}"
    path.write_bytes(content)
    with pytest.raises(ValueError, match="is no manifest"):
        write_manifest(path, IDS, VERDICTS)
    assert path.read_bytes() == content


def test_a_folder_is_left_alone(tmp_path):
    (tmp_path / "m.csv").mkdir()
    with pytest.raises(ValueError, match="is no manifest"):
        write_manifest(tmp_path / "m.csv", IDS, VERDICTS)


def test_other_kinds_are_refused(tmp_path):
    with pytest.raises(ValueError, match=r"must be a \.parquet, \.csv, \.txt file, got `m\.json`"):
        write_manifest(tmp_path / "m.json", IDS, VERDICTS)


@pytest.mark.parametrize("id_", ["a\nb", "a\rb", "a\u2028b"])
def test_ids_of_several_lines_are_no_list(tmp_path, id_):
    ids = np.array([id_], dtype=object)
    with pytest.raises(ValueError, match=r"must stand in one line each to be listed in `m\.txt`, but"):
        write_manifest(tmp_path / "m.txt", ids, {})
    write_manifest(tmp_path / "m.csv", ids, {})
    with (tmp_path / "m.csv").open(encoding="utf-8", newline="") as file:
        assert next(csv.DictReader(file))["id"] == id_
