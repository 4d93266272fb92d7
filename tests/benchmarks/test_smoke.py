"""Every benchmark runs through at tiny size, and the harness judges what it is given."""

import importlib
import json
import warnings
from pathlib import Path

import pytest
import torch

from _harness import Benchmark, Outcome, at_least, at_most, medians

SCRIPTS = sorted(
    path.stem for path in (Path(__file__).parents[2] / "benchmarks").glob("*.py") if path.stem[0] != "_"
)


def import_captum():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return pytest.importorskip("captum")


@pytest.mark.parametrize("name", SCRIPTS)
def test_runs_at_tiny_size(name, tmp_path):
    script = importlib.import_module(name)
    if hasattr(script, "captum_scores") or hasattr(script, "captum_self_influence"):
        import_captum()
    assert script.BENCHMARK.name == name
    assert script.BENCHMARK.main(["--smoke", "--out", str(tmp_path)]) == 0
    assert not list(tmp_path.iterdir())


def judged(seconds, tmp_path):
    goal = {"seconds": at_most(2), "ratio": at_least(3)}
    benchmark = Benchmark("toy", "It is quick.", goal, lambda _: Outcome({"seconds": seconds, "ratio": 4.0}))
    code = benchmark.main(["--out", str(tmp_path), "--date", "2026-01-02", "--seed", "3"])
    return code, json.loads((tmp_path / "toy.json").read_text())


def test_record_of_a_claim_that_holds(tmp_path):
    code, record = judged(1.0, tmp_path)
    assert code == 0
    assert record["holds"] is True
    assert record["goal"] == {"seconds": "at most 2", "ratio": "at least 3"}
    assert (record["date"], record["seed"], record["measured"]["ratio"]) == ("2026-01-02", 3, 4.0)
    assert set(record) == {
        *("claim", "goal", "measured", "holds", "rivals", "device", "versions", "seed", "date")
    }


@pytest.mark.parametrize("seconds", [2.5, float("nan")])
def test_record_is_left_where_a_claim_fails(seconds, tmp_path):
    code, record = judged(seconds, tmp_path)
    assert code == 1
    assert record["holds"] is False


def test_refuses_a_gpu_claim_without_one(capsys):
    if torch.cuda.is_available():
        pytest.skip("there is one")
    benchmark = Benchmark("toy", "It is quick.", {}, lambda _: Outcome({}), needs_gpu=True)
    with pytest.raises(SystemExit):
        benchmark.main([])
    assert "must run on a GPU" in capsys.readouterr().err


def test_medians_run_in_turns():
    calls = []
    medians({"a": lambda: calls.append("a"), "b": lambda: calls.append("b")}, torch.device("cpu"), 2, 1)
    assert calls == ["a", "b", "a", "b", "a", "b"]
