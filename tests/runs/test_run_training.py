import tomllib
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
from run_toys import SMALL, X, make_array, make_pictures, make_table

from proponent.runs import Settings, open_run, train
from proponent.runs._training import command_of, default_out


def told(*arguments, **options):
    lines = []
    folder = train(*arguments, tell=lines.append, **options)
    return folder, "\n".join(lines)


def test_pictures_train_a_run_with_their_paths_as_ids(tmp_path):
    photos = make_pictures(tmp_path / "photos")
    (photos / "broken.png").write_bytes(b"no picture")
    (photos / "again.png").write_bytes((photos / "p00.png").read_bytes())
    folder, lines = told(photos, tmp_path / "run", SMALL)
    assert "1 left aside that can't be used, the first `broken.png`: not a picture" in lines
    assert "2 samples are exact copies of each other, in 1 groups." in lines
    run = open_run(folder)
    assert sorted(run.data.ids)[:2] == ["again.png", "deep/p01.png"]
    assert run.samples.shape == (13, 3, 8, 8)
    np.testing.assert_array_equal(run.samples, run.data.values.astype(np.float32) / 255)
    record = tomllib.loads(folder.record.read_text("utf-8"))
    assert record["data"]["left_aside"] == 1
    assert record["data"]["fingerprint"] == run.data.fingerprint
    assert record["scaling"] == {"form": "bytes"}


def test_rows_keep_their_scaling(tmp_path):
    run = open_run(train(make_table(tmp_path / "t.csv"), tmp_path / "run", SMALL))
    assert run.data.ids[0] == "r0"
    assert run.tables["scaling"]["dropped"] == ["same"]
    assert run.samples.shape == (30, 2)
    assert run.objective.likelihood == "gaussian"


def test_the_opened_model_is_the_trained_one(tmp_path):
    run = open_run(train(make_array(tmp_path), tmp_path / "run", SMALL))
    last = run.trajectory[len(run.trajectory) - 1].state()
    assert all(torch.equal(value, last[name]) for name, value in run.model.state_dict().items())
    assert not run.model.training


def test_the_folder_is_named_after_the_data():
    assert default_out("some/photos/") == Path("runs/photos")
    assert default_out(Path("x.npy")) == Path("runs/x")
    assert default_out(X) == Path("runs/ndarray")


def test_without_a_setting_but_the_steps(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    make_pictures(tmp_path / "photos", count=4)
    folder = train("photos", settings=Settings(steps=3))
    assert folder.path == Path("runs/photos")
    assert folder.read()["training"]["checkpoints"] == 3


def test_an_unfinished_run_is_taken_up_without_saying_its_settings_again(tmp_path):
    data = make_pictures(tmp_path / "photos")
    folder = train(data, tmp_path / "run", SMALL, size=6)
    before = folder.record.read_bytes()
    _, lines = told(data, tmp_path / "run")
    assert "Taking up" in lines
    assert folder.record.read_bytes() == before
    assert open_run(folder).samples.shape == (12, 3, 6, 6)


def test_the_command_has_every_option(tmp_path):
    data = make_pictures(tmp_path / "photos")
    folder = train(data, tmp_path / "run", SMALL, size=6, grey=True)
    command = folder.read()["made"]["command"]
    assert f"proponent train {data} --out {folder.path} --size 6 --grey --latent-dim 2" in command
    assert "--model mlp" in command
    assert "--steps 20" in command


def test_commands_are_spelt_for_a_shell():
    command = command_of("a b", Path("r"), {"column": ["x", "y"], "grey": False})
    assert command == "proponent train 'a b' --out r --column x --column y --colour"
    assert command_of(X, Path("r"), {}) == "proponent.runs.train(..., 'r')"


@pytest.mark.parametrize("form", ["array", "tensor", "table"])
def test_data_in_memory_are_kept_with_the_run(tmp_path, form):
    values = {"array": X, "tensor": torch.from_numpy(X), "table": pd.DataFrame(X, columns=list("abcdef"))}
    folder = train(values[form], tmp_path / "run", SMALL)
    moved = tmp_path / "moved"
    folder.path.rename(moved)
    assert open_run(moved).samples.shape == X.shape
    train(values[form], moved, SMALL)
    with pytest.raises(ValueError, match="The data changed under the run"):
        train(values[form] * 2, moved, SMALL)


def test_data_that_only_the_caller_has_are_passed_again(tmp_path):
    class Pairs(torch.utils.data.Dataset):
        def __len__(self):
            return len(X)

        def __getitem__(self, i):
            return X[i], i

    folder = train(Pairs(), tmp_path / "run", SMALL)
    with pytest.raises(ValueError, match=r"were in memory \(.*\): pass them as `data` again"):
        open_run(folder)
    assert open_run(folder, Pairs()).samples.shape == X.shape


def test_renamed_data_are_known_by_their_content(tmp_path):
    folder = train(make_array(tmp_path), tmp_path / "run", SMALL)
    (tmp_path / "x.npy").rename(tmp_path / "y.npy")
    with pytest.raises(FileNotFoundError, match="are gone from"):
        open_run(folder)
    assert open_run(folder, tmp_path / "y.npy").samples.shape == X.shape
    make_array(tmp_path, X[::-1], "z.npy")
    with pytest.raises(ValueError, match=r"it was made from 40 x 6 numbers .*, and now there are 40 x 6"):
        open_run(folder, tmp_path / "z.npy")


def test_changed_pictures_are_named(tmp_path):
    photos = make_pictures(tmp_path / "photos")
    folder = train(photos, tmp_path / "run", SMALL)
    (photos / "p00.png").unlink()
    make_pictures(photos / "new", count=4)
    with pytest.raises(
        ValueError, match=r"changed under the run .*: 4 new \(.*, \.\.\.\), 1 gone \(`p00.png`\)"
    ):
        open_run(folder)
    with pytest.raises(ValueError, match="changed under the run"):
        train(photos, folder.path, SMALL)


def test_what_came_to_nothing_leaves_nothing(tmp_path):
    with pytest.raises(FileNotFoundError):
        train(tmp_path / "none", tmp_path / "run")
    with pytest.raises(TypeError):
        train(3, tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_data_that_were_not_read_to_their_end(tmp_path):
    folder = train(make_array(tmp_path), tmp_path / "run", SMALL)
    record = folder.record.read_text("utf-8")
    folder.record.write_text(record[: record.index("[data]")], "utf-8")
    with pytest.raises(ValueError, match=r"were not read to their end\. Finish it with `proponent train"):
        open_run(folder)


def test_channels_are_needed_for_convolutions(tmp_path):
    with pytest.raises(ValueError, match=r"must be pictures .* got samples of shape"):
        train(make_array(tmp_path), tmp_path / "run", Settings(model="conv", steps=1))
