import numpy as np
import pytest
from run_toys import SMALL, X, make_array, make_pictures

from proponent.evaluation import HalfLosses, Rankings, compute_rankings
from proponent.runs import RunFolder, Scoring, kept_self_influence, open_run, rank, self_influence, train
from proponent.runs._rank import _own_scoring

CHEAP = ["loss", "reconstruction", "divergence", "distance to neighbours", "distance to latent neighbours"]
CHEAP.append("gradient norm")


@pytest.fixture(scope="module")
def ranked(tmp_path_factory):
    place = tmp_path_factory.mktemp("ranked")
    folder = train(make_array(place), place / "run", SMALL)
    lines = []
    return folder, rank(folder, pairs=1, draws=2, tell=lines.append), lines


def stamps(folder):
    files = [*folder.path.glob("jobs/*/tasks/*.npz"), *folder.path.glob("jobs/halves-*/**/*.safetensors")]
    return {path: path.stat().st_mtime_ns for path in files}


def test_every_ranking_is_there_with_the_data_s_ids(ranked):
    folder, rankings, lines = ranked
    assert list(rankings.columns) == ["combined", *CHEAP, "unseen loss", "loss gap", "self-influence"]
    assert rankings.default == "combined"
    assert rankings.ids.tolist() == open_run(folder).data.ids.tolist()
    kept = Rankings.load(folder.rankings)
    assert kept.facts == rankings.facts
    for name, values in rankings.columns.items():
        np.testing.assert_array_equal(kept.columns[name], values)
    assert lines[:2] == ["Ranking by loss.", "Ranking by reconstruction."]


def test_the_numbers_are_those_of_the_library(ranked):
    folder, rankings, _ = ranked
    run = open_run(folder)
    halves = HalfLosses(
        rankings.columns["unseen loss"], rankings.columns["unseen loss"] - rankings.columns["loss gap"], 1
    )
    own = kept_self_influence(run)
    direct = compute_rankings(run.model, run.objective, run.samples, own, halves, draws=2, ids=run.data.ids)
    assert set(direct.columns) == set(rankings.columns)
    for name, values in direct.columns.items():
        np.testing.assert_allclose(rankings.columns[name], values, rtol=1e-6, atol=1e-7)


def test_facts_say_what_there_is_to_know(ranked):
    folder, rankings, _ = ranked
    facts = rankings.facts
    assert (facts["draws"], facts["seed"], facts["pairs"], facts["neighbours"]) == (2, 0, 1, 5)
    assert facts["trajectory"] == open_run(folder).trajectory.fingerprint()
    assert facts["correlations"]["loss"]["loss"] == pytest.approx(1)
    assert facts["what self-influence adds"].startswith("Self-influence ")
    assert {"data", "training", "rankings", "self-influence", "half models"} <= set(facts["seconds"])


def test_nothing_is_done_twice(ranked):
    folder, rankings, _ = ranked
    before, lines = stamps(folder), []
    again = rank(folder, pairs=1, draws=2, tell=lines.append)
    assert stamps(folder) == before
    assert lines == ["Training 2 models on halves of the samples."] or not lines
    np.testing.assert_array_equal(again.columns["combined"], rankings.columns["combined"])


def test_pairs_that_are_there_stay_unless_asked(ranked):
    folder, _, _ = ranked
    assert rank(folder, pairs=None, draws=2).default == "combined"
    assert rank(folder, pairs=0, draws=2).default == "loss"
    assert rank(folder, pairs=None, draws=2).default == "combined"


def test_more_pairs_keep_those_that_are_there(ranked):
    folder, _, _ = ranked
    before = stamps(folder)
    assert rank(folder, pairs=2, draws=2).facts["pairs"] == 2
    assert before.items() <= stamps(folder).items()


def test_self_influence_is_taken_as_it_is(tmp_path):
    folder = train(make_array(tmp_path), tmp_path / "run", SMALL)
    run = open_run(folder)
    assert kept_self_influence(run) is None
    assert "self-influence" not in rank(run, pairs=0, own=False, draws=2).columns
    scores = self_influence(run, Scoring(draws=4, weights="unit"))
    assert rank(run, pairs=0, own=False, draws=2).columns["self-influence"].tolist() == scores.values.tolist()
    np.save(tmp_path / "y.npy", X * 0.5)
    other = train(tmp_path / "y.npy", tmp_path / "other", SMALL)
    other.scores.mkdir()
    other.self_influence.write_bytes(folder.self_influence.read_bytes())
    assert kept_self_influence(other) is None  # of another training


def test_negative_pairs_are_refused(tmp_path):
    with pytest.raises(ValueError, match="`pairs` must be 0 or more, got -1"):
        rank(RunFolder(tmp_path), pairs=-1)


def test_too_few_samples_for_halves_or_neighbours(tmp_path):
    run = open_run(train(make_array(tmp_path, X[:1]), tmp_path / "run", SMALL))
    rankings = rank(run, draws=2)
    assert rankings.default == "loss"
    assert not [name for name in rankings.columns if "neighbours" in name]


def test_a_large_run_is_scored_at_few_checkpoints(tmp_path, ranked):
    folder, _, _ = ranked
    run = open_run(folder)
    assert _own_scoring(run, 3, 0, "cpu") == Scoring(4, 0)
    assert _own_scoring(run, 2, 0, "cuda") == Scoring(2, 0)
    size = sum(parameter.numel() for parameter in run.model.parameters())
    many = type(run)(**{**vars(run), "samples": np.broadcast_to(X[:1], (int(4.9e9 / size), 6))})
    object.__setattr__(many, "trajectory", [None] * 10)
    assert _own_scoring(many, 2, 0, "cpu").checkpoints == [2, 7]


def test_pictures_are_ranked(tmp_path):
    folder = train(make_pictures(tmp_path / "photos"), tmp_path / "run", SMALL)
    rankings = rank(folder, pairs=1, draws=2)
    assert set(rankings.ids) == {f"{'deep/' * (i % 2)}p{i:02d}.png" for i in range(12)}


@pytest.mark.parametrize(
    ("scoring", "budget", "device", "batch"),
    [
        (Scoring(), None, "cpu", 4194304),
        (Scoring(), "1GiB", "cpu", None),
        (Scoring(), None, "cuda", None),
        (Scoring(metric="identity"), None, "cpu", None),
        (Scoring(metric="adam"), None, "cpu", 4194304),
    ],
)
def test_gradients_that_are_laid_out_stay_in_memory_that_is_kept(ranked, scoring, budget, device, batch):
    run = open_run(ranked[0])
    size = sum(parameter.numel() for parameter in run.model.parameters())
    assert scoring._batch(run, budget, device) == (None if batch is None else batch // size)
