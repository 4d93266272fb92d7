import json
from contextlib import closing

import numpy as np
import pytest

from proponent.cli import main
from proponent.review import Decisions
from proponent.runs import Settings, train


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("command")
    np.save(folder / "x.npy", np.random.default_rng(0).random((20, 6), dtype=np.float32))
    settings = Settings(latent_dim=2, steps=10, checkpoints=2, batch_size=8, device="cpu")
    return train(folder / "x.npy", folder / "run", settings)


def record(run):
    return json.loads((run.path / "report.json").read_text("utf-8"))


def test_it_writes_the_page_and_the_record_beside_it(run, capsys):
    assert main(["report", str(run.path), "--title", "Some rows", "--show", "3"]) == 0
    printed = capsys.readouterr().out
    assert f"page             {run.path / 'report.html'}" in printed
    assert f"data             {run.path / 'report.json'}" in printed
    assert f"Next: proponent review {run.path}" in printed
    assert "<title>Some rows: report</title>" in (run.path / "report.html").read_text("utf-8")
    assert len(record(run)["rankings"][0]["highest"]) == 3
    assert record(run)["decisions"] is None


def test_it_counts_the_decisions_so_far(run):
    ids = record(run)["samples"]["ids"] if (run.path / "report.json").exists() else ["row 0"]
    with closing(Decisions(run.review)) as decisions:
        decisions.append(ids[0], "discard")
    assert main(["report", str(run.path)]) == 0
    found = record(run)["decisions"]
    assert (found["discard"], found["left"], found["discarded"]) == (1, 19, [ids[0]])


def test_foreign_samples_are_measured(run, tmp_path):
    np.save(tmp_path / "foreign.npy", np.arange(20) < 4)
    assert main(["report", str(run.path), "--foreign", str(tmp_path / "foreign.npy")]) == 0
    assert record(run)["detection"]["rows"][0]["detection"]["foreign_count"] == 4


def test_a_folder_that_is_no_run(tmp_path, capsys):
    assert main(["report", str(tmp_path)]) == 2
    assert "must be a run's folder" in " ".join(capsys.readouterr().err.split())
