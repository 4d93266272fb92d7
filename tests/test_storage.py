import os

import pytest

from proponent.storage import read_json, whole_file, write_json


def test_a_file_appears_when_the_block_ends(tmp_path):
    path = tmp_path / "new" / "folder" / "x.txt"
    with whole_file(path) as temporary:
        temporary.write_text("whole")
        assert not path.exists()
    assert path.read_text() == "whole"
    assert list(path.parent.iterdir()) == [path]


def test_an_error_leaves_the_old_file_alone(tmp_path):
    path = tmp_path / "x.txt"
    path.write_text("old")

    def fail():
        with whole_file(path) as temporary:
            temporary.write_text("half")
            raise RuntimeError("stop")

    with pytest.raises(RuntimeError, match="stop"):
        fail()
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_the_suffix_and_the_folder_are_kept_and_the_name_is_hidden(tmp_path):
    with whole_file(tmp_path / "scores.npy") as temporary:
        assert temporary.parent == tmp_path
        assert temporary.suffix == ".npy"
        assert temporary.name.startswith(".")
        assert str(os.getpid()) in temporary.name
        temporary.touch()


def test_two_writers_of_one_process_number_do_not_meet(tmp_path):
    with whole_file(tmp_path / "x") as first, whole_file(tmp_path / "x") as second:
        assert first != second
        first.write_text("a")
        second.write_text("a")


def test_a_block_that_writes_nothing_is_an_error(tmp_path):
    with pytest.raises(FileNotFoundError), whole_file(tmp_path / "x"):
        pass


def test_json_comes_back(tmp_path):
    record = {"unit": "nats", "values": [1, 2.5, None], "name": "β"}
    write_json(tmp_path / "x.json", record)
    assert read_json(tmp_path / "x.json") == record
    assert "β" in (tmp_path / "x.json").read_text("utf-8")


@pytest.mark.parametrize("content", [b"", b'{"a": 1', b"\xff\xfe{}"])
def test_damaged_json_is_named(tmp_path, content):
    path = tmp_path / "x.json"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"x.json` must be a JSON file, but it can't be read: .*cut short"):
        read_json(path)


def test_json_must_be_an_object(tmp_path):
    (tmp_path / "x.json").write_text("[1]")
    with pytest.raises(ValueError, match="must hold a JSON object, got a list"):
        read_json(tmp_path / "x.json")
