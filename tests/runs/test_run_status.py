import pytest
from run_toys import SMALL, X, make_array

from proponent.runs import influence, open_run, rank, status, train
from proponent.runs._seconds import read_seconds, timed


def states(found):
    return {stage.name: stage.state for stage in found.stages}


def details(found):
    return {stage.name: stage.detail for stage in found.stages}


def test_a_run_from_its_beginning_to_its_end(tmp_path):
    folder = train(make_array(tmp_path), tmp_path / "run", SMALL)
    found = status(folder)
    assert list(states(found).values()) == ["done", "done", *["open"] * 6]
    assert details(found)["data"] == "40 arrays"
    assert details(found)["training"] == "20 of 20 steps, 2 checkpoints"
    assert found.next == f"proponent rank {folder.path}"
    assert found.problem == ""
    rank(folder, pairs=1, draws=2)
    influence(folder, X[:1], name="odd")
    found = status(folder.path)
    assert list(states(found).values()) == ["done"] * 6 + ["open"] * 2
    assert details(found)["half models"] == "2 models"
    assert details(found)["rankings"] == "10; begin with `combined`"
    assert details(found)["influence"] == "1 kept, the newest `odd`"
    assert found.next == f"proponent review {folder.path}"
    by_name = {stage.name: stage for stage in found.stages}
    assert by_name["training"].bytes > 1000
    assert by_name["training"].seconds > 0
    assert by_name["report"].seconds is None


def test_what_was_stopped_is_seen(tmp_path):
    folder = train(make_array(tmp_path), tmp_path / "run", SMALL)
    rank(folder, pairs=2, draws=2)
    folder.rankings.unlink()
    folder.self_influence.unlink()
    next(folder.path.glob("jobs/rankings-*/tasks/pair-1.npz")).unlink()
    found = status(folder)
    assert (
        states(found)["half models"] == states(found)["rankings"] == states(found)["self-influence"] == "part"
    )
    assert details(found)["half models"] == "2 of 4 finished"
    assert found.next == f"proponent rank {folder.path}"
    (folder.trajectory / "checkpoint-00000020.safetensors").unlink()
    assert details(status(folder))["training"] == "10 of 20 steps, 1 checkpoints"
    assert status(folder).next.startswith("proponent train ")


def test_a_run_whose_data_are_being_read(tmp_path):
    folder = train(make_array(tmp_path), tmp_path / "run", SMALL)
    record = folder.record.read_text("utf-8")
    folder.record.write_text(record[: record.index("[data]")], "utf-8")
    (folder.trajectory / "trajectory.json").unlink()
    (folder.data / "data.json").unlink()
    (folder.data / "shards").mkdir()
    (folder.data / "shards" / "000000.npz").touch()
    found = status(folder)
    assert states(found)["data"] == "part"
    assert details(found)["data"] == "1 parts read"
    assert states(found)["training"] == "open"


def test_changed_data_and_damaged_files_are_said(tmp_path):
    folder = train(make_array(tmp_path), tmp_path / "run", SMALL)
    rank(folder, pairs=0, own=False, draws=2)
    folder.rankings.write_bytes(b"PAR1")
    folder.influence.write_text("{")
    make_array(tmp_path, X[::-1])
    found = status(folder)
    assert "was cut short or is not a Parquet file" in details(found)["rankings"]
    assert states(found)["influence"] == "part"
    assert "The data changed under the run" in found.problem


def test_no_run(tmp_path):
    with pytest.raises(FileNotFoundError, match="it has no `run"):
        status(tmp_path)


def test_data_of_a_caller_are_not_looked_for(tmp_path):
    folder = train(make_array(tmp_path), tmp_path / "run", SMALL)
    text = folder.record.read_text("utf-8")
    folder.record.write_text(
        "\n".join(line for line in text.splitlines() if not line.startswith("path =")), "utf-8"
    )
    assert status(folder).problem == ""
    with pytest.raises(ValueError, match="were in memory"):
        open_run(folder)


def test_seconds_add_up(tmp_path):
    path = tmp_path / "seconds.json"
    for _ in range(2):
        with timed(path, "a") as tick:
            tick()
    with pytest.raises(KeyError), timed(path, "b"):
        raise KeyError
    assert set(read_seconds(path)) == {"a", "b"}
    path.write_text("{")
    assert read_seconds(path) == {}


def test_seconds_are_kept_while_it_lasts(tmp_path, monkeypatch):
    path = tmp_path / "seconds.json"
    monkeypatch.setattr("proponent.runs._seconds._EVERY", 0.0)
    with timed(path, "a") as tick:
        tick()
        assert path.exists()
