import json

import numpy as np
import pandas as pd
import pytest

from proponent import Scores
from proponent.cli import main
from proponent.evaluation import detect


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    out = tmp_path_factory.mktemp("demo") / "out"
    assert main(["demo", "--out", str(out), "--steps", "2", "--draws", "4"]) == 0
    return out


def test_the_page_and_the_figures_are_there(demo):
    page = (demo / "index.html").read_text("utf-8")
    assert "Photo patches among handwritten digits" in page
    assert page.count("data:image/png;base64,") > 100
    for name in ("overview", "detection"):
        assert (demo / "figures" / f"{name}.png").read_bytes().startswith(b"\x89PNG")


def test_scores_rankings_and_summary_say_the_same(demo):
    own = Scores.load(demo / "scores" / "self-influence.parquet")
    influence = Scores.load(demo / "scores" / "influence.npy")
    rankings = pd.read_parquet(demo / "scores" / "rankings.parquet")
    summary = json.loads((demo / "summary.json").read_text())
    assert influence.values.shape == (len(own), 97) == (1790, 97)
    np.testing.assert_array_equal(rankings["id"].to_numpy(), own.ids)
    np.testing.assert_array_equal(rankings["self-influence"].to_numpy(), own.values)
    planted = rankings["planted"].to_numpy()
    assert planted.sum() == 90
    assert list(rankings) == ["id", "planted", "self-influence", "loss", "distance to neighbours"]
    for row in summary["detection"]["rows"]:
        found = detect(rankings[row["name"]].to_numpy(), planted)
        assert row["detection"]["roc_area"] == pytest.approx(found.roc_area, abs=1e-12)
        assert row["detection"]["curve_area"] == pytest.approx(found.curve_area, abs=1e-12)
    assert summary["highest"][0]["id"] == own.proponents(1).ids[0]
    assert len(summary["queries"]) == 10


def test_the_queries_are_held_out(demo):
    summary = json.loads((demo / "summary.json").read_text())
    trained = set(Scores.load(demo / "scores" / "self-influence.parquet").ids)
    assert not trained & {row["id"] for row in summary["queries"]}


def test_it_is_taken_up_and_prints_its_table(demo, capsys):
    pages = (demo / "index.html").read_bytes()
    assert main(["demo", "--out", str(demo), "--steps", "2", "--draws", "4"]) == 0
    printed = capsys.readouterr().out
    assert "1,700 digits with 90 photo patches planted among them; 97 digits held out." in printed
    assert "Taking up the training" in printed
    assert "Planted samples among the first k, of 90" in printed
    for name in ("self-influence", "loss", "distance to neighbours"):
        assert f"\n {name} " in printed
    assert f"page             {demo / 'index.html'}" in printed
    assert (demo / "index.html").read_bytes() == pages


def test_the_run_can_be_asked_further(demo):
    arguments = ["influence", str(demo / "run"), "--queries", str(demo / "held-out.npy")]
    assert main([*arguments, "--draws", "2", "--top", "3"]) == 0
