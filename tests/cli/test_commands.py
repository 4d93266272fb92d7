import json
import shlex
import tomllib

import numpy as np
import pandas as pd
import pytest

from proponent import Scores
from proponent.cli import main
from proponent.cli._status import _size, _time
from proponent.runs import RunFolder, influence_path

N = 40
X = np.random.default_rng(0).random((N, 6), dtype=np.float32)


@pytest.fixture
def data(tmp_path):
    np.save(tmp_path / "x.npy", X)
    return str(tmp_path / "x.npy")


@pytest.fixture
def queries(tmp_path):
    np.save(tmp_path / "q.npy", X[:3] * 0.9)
    return str(tmp_path / "q.npy")


def train(data, out, *more):
    small = (
        "--latent-dim",
        "2",
        "--steps",
        "20",
        "--checkpoints",
        "2",
        "--batch-size",
        "8",
        "--device",
        "cpu",
    )
    return main(["train", data, "--out", str(out), *small, *more])


def newest(run):
    return influence_path(RunFolder(run))


@pytest.fixture
def run(tmp_path, data):
    assert train(data, tmp_path / "run") == 0
    return tmp_path / "run"


def test_training_writes_a_record_that_makes_it_again(run, data, capsys):
    record = tomllib.loads((run / "run.toml").read_text("utf-8"))
    assert record["data"]["path"] == data
    assert record["data"]["shape"] == [N, 6]
    assert record["data"]["fingerprint"].startswith("sha256:")
    assert record["model"] == {"name": "mlp", "latent_dim": 2}
    assert record["objective"] == {"beta": 1.0, "likelihood": "bernoulli", "scale": 1.0}
    assert record["training"]["seed"] == 0
    assert set(record["versions"]) == {"proponent", "python", "torch", "numpy"}
    command = shlex.split(record["made"]["command"])
    assert command[:5] == ["proponent", "train", data, "--out", str(run)]
    again = run.parent / "again"
    assert main([*command[1:3], "--out", str(again), *command[5:]]) == 0
    for name in ("checkpoint-00000010.safetensors", "checkpoint-00000020.safetensors"):
        assert (run / "trajectory" / name).read_bytes() == (again / "trajectory" / name).read_bytes()


def test_training_says_where_things_are(run, capsys):
    assert train(str(run.parent / "x.npy"), run) == 0
    printed = capsys.readouterr().out
    assert f"run              {run / 'run.toml'}" in printed
    assert "Taking up the training of a beta-VAE on 40 samples: 20 steps." in printed
    assert f"Next: proponent self-influence {run}" in printed


def test_self_influence_writes_scores(run, capsys):
    assert main(["self-influence", str(run), "--draws", "4", "--top", "3", "--standard-errors"]) == 0
    scores = Scores.load(run / "scores" / "self-influence.parquet")
    assert len(scores) == N
    assert scores.unit == "nats"
    assert (scores.standard_errors > 0).all()
    printed = capsys.readouterr().out
    assert "The 3 with the highest self-influence" in printed
    assert str(run / "scores" / "self-influence.parquet") in printed
    rows = [line.split() for line in printed.splitlines() if line.split()[:1] in (["1"], ["2"], ["3"])]
    assert [row[1] for row in rows] == [str(id_) for id_ in scores.proponents(3).ids]


def test_self_influence_of_one_checkpoint(run):
    arguments = ["self-influence", str(run), "--draws", "4", "--top", "0"]
    scores = []
    for which in (["--checkpoint", "0"], ["--checkpoint", "1"], []):
        assert main([*arguments, *which]) == 0
        scores.append(Scores.load(run / "scores" / "self-influence.parquet").values)
    np.testing.assert_allclose(scores[0] + scores[1], scores[2], rtol=1e-5)


def test_scores_are_asked_for_as_in_the_library(run, queries):
    def score(*more):
        assert main(["self-influence", str(run), "--draws", "2", "--top", "0", *more]) == 0
        return Scores.load(run / "scores" / "self-influence.parquet")

    whole = score()
    assert "Definition 2" in score("--weights", "unit").unit
    assert score("--metric", "identity").facts["metric"] == "identity"
    assert score("--layer", "encoder").facts["layers"] == ["encoder"]
    assert score("--biased").facts["biased"] is True
    np.testing.assert_array_equal(score().values, whole.values)
    options = ["--weights", "unit", "--metric", "identity", "--layer", "decoder"]
    assert main(["influence", str(run), "--queries", queries, "--draws", "2", *options]) == 0
    facts = Scores.load(newest(run)).facts
    assert (facts["weights"], facts["metric"], facts["layers"]) == ("unit", "identity", ["decoder"])


def test_influence_writes_a_matrix(run, queries, capsys):
    assert main(["influence", str(run), "--queries", queries, "--draws", "4"]) == 0
    scores = Scores.load(newest(run))
    assert scores.values.shape == (N, 3)
    printed = capsys.readouterr().out
    assert "positive: training on the sample lowered the query's loss" in printed
    assert str(newest(run)) in printed


def test_influence_keeps_only_the_strongest_when_asked(run, queries):
    assert main(["influence", str(run), "--queries", queries, "--draws", "4"]) == 0
    scores = Scores.load(newest(run))
    assert main(["influence", str(run), "--queries", queries, "--draws", "4", "--top", "2"]) == 0
    frame = pd.read_parquet(newest(run))
    for side, ranking in (("proponent", scores.proponents(2)), ("opponent", scores.opponents(2))):
        kept = frame[frame["side"] == side]
        assert kept["id"].to_numpy().reshape(3, 2).tolist() == ranking.ids.tolist()
        np.testing.assert_allclose(kept["score"].to_numpy().reshape(3, 2), ranking.values, rtol=1e-5)


def test_many_queries_are_not_all_printed(run, tmp_path, capsys):
    np.save(tmp_path / "many.npy", X[:11])
    arguments = ["influence", str(run), "--queries", str(tmp_path / "many.npy"), "--draws", "2"]
    assert main(arguments) == 0
    assert "… and 3 more queries in the file." in capsys.readouterr().out


def test_seeds_give_other_scores_and_the_same_ones_again(run):
    def score(seed):
        assert main(["self-influence", str(run), "--draws", "2", "--seed", str(seed)]) == 0
        return Scores.load(run / "scores" / "self-influence.parquet").values

    first, second, again = score(0), score(1), score(0)
    assert not np.array_equal(first, second)
    np.testing.assert_array_equal(first, again)


def test_moved_data_are_found_by_option(run, data, tmp_path, capsys):
    moved = tmp_path / "elsewhere.npy"
    (tmp_path / "x.npy").rename(moved)
    assert main(["self-influence", str(run), "--draws", "2"]) == 2
    assert "are gone from" in capsys.readouterr().err
    assert main(["self-influence", str(run), "--draws", "2", "--data", str(moved)]) == 0


def test_bytes_are_pixels_and_it_is_said(tmp_path, capsys):
    pixels = np.random.default_rng(0).integers(0, 255, (10, 5), dtype=np.uint8)
    np.savez(tmp_path / "x.npz", pixels=pixels, other=np.zeros(10))
    assert train(str(tmp_path / "x.npz"), tmp_path / "run", "--array", "pixels") == 0
    assert "Bytes, taken for pixels and divided by 255" in capsys.readouterr().out
    assert main(["self-influence", str(tmp_path / "run"), "--draws", "2"]) == 0


@pytest.mark.parametrize(
    ("shape", "kept"),
    [
        ((8, 16, 16), (8, 1, 16, 16)),
        ((8, 3, 16, 16), (8, 3, 16, 16)),
        ((8, 16, 16, 3), (8, 3, 16, 16)),
    ],
)
def test_images_train_a_convolutional_model(tmp_path, shape, kept):
    np.save(tmp_path / "x.npy", np.random.default_rng(0).random(shape))
    options = ["--model", "conv", "--steps", "2", "--checkpoints", "1", "--likelihood", "squared-error"]
    assert train(str(tmp_path / "x.npy"), tmp_path / "run", *options) == 0
    record = tomllib.loads((tmp_path / "run" / "run.toml").read_text("utf-8"))
    assert tuple(record["data"]["shape"]) == kept
    assert main(["self-influence", str(tmp_path / "run"), "--draws", "2"]) == 0


@pytest.mark.parametrize("likelihood", ["gaussian", "gaussian-learned"])
def test_other_likelihoods_take_any_numbers(tmp_path, likelihood):
    np.save(tmp_path / "x.npy", 3 * X - 1)
    assert train(str(tmp_path / "x.npy"), tmp_path / "run", "--likelihood", likelihood) == 0
    assert main(["self-influence", str(tmp_path / "run"), "--draws", "2"]) == 0


def test_a_refused_training_leaves_the_folder_free(tmp_path, data):
    assert train(data, tmp_path / "run", "--learning-rate", "-1") == 2
    assert train(data, tmp_path / "run") == 0


def test_self_influence_is_shown_beside_the_cheap_rankings(run, capsys):
    assert main(["self-influence", str(run), "--draws", "2", "--top", "3"]) == 0
    printed = capsys.readouterr().out
    assert "Where they disagree most: place by self-influence, by loss" in printed
    assert "Spearman's correlation of self-influence with" in printed
    assert "found them less well than loss did" in printed
    assert f"rankings         {run / 'scores' / 'rankings.parquet'}" in printed
    assert f"Next: proponent rank {run}" in printed


def test_every_ranking_is_computed_and_the_first_shown(run, capsys):
    assert main(["rank", str(run), "--pairs", "1", "--draws", "2", "--top", "3"]) == 0
    printed = capsys.readouterr().out
    assert "The first 3 by combined, and their places by the others" in printed
    assert "Begin with `combined`." in printed
    assert "Training 2 models on halves of the samples." in printed
    arguments = ["rank", str(run), "--pairs", "0", "--no-self-influence", "--draws", "4", "--top", "0"]
    assert main(arguments) == 0
    assert "Begin with `loss`." in capsys.readouterr().out


def test_rankings_without_self_influence_compare_the_default(run, capsys):
    assert main(["rank", str(run), "--pairs", "0", "--no-self-influence", "--draws", "2"]) == 0
    assert "Spearman's correlation of loss with" in capsys.readouterr().out


def test_status_is_a_table_or_a_record(run, capsys):
    assert main(["status", str(run)]) == 0
    printed = capsys.readouterr().out
    assert "training" in printed
    assert "20 of 20 steps, 2 checkpoints" in printed
    assert f"Next: proponent rank {run}" in printed
    assert main(["status", str(run), "--json"]) == 0
    record = json.loads(capsys.readouterr().out)
    assert record["path"] == str(run)
    assert record["stages"][0]["state"] == "done"
    np.save(run.parent / "x.npy", X[::-1])
    assert main(["status", str(run)]) == 0
    assert "Note: The data changed under the run" in capsys.readouterr().err


def test_names_from_data_are_no_markup(tmp_path, capsys):
    rows = "\n".join(f"[bold]{i},{i % 5},{i % 7}" for i in range(12))
    (tmp_path / "t.csv").write_text(f"id,a,b\n{rows}\n")
    assert train(str(tmp_path / "t.csv"), tmp_path / "run") == 0
    assert main(["self-influence", str(tmp_path / "run"), "--draws", "2", "--top", "2"]) == 0
    assert "[bold]" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("count", "text"),
    [(0, ""), (12, "12 bytes"), (2048, "2.0 KiB"), (5 << 20, "5.0 MiB"), (40 << 30, "40 GiB")],
)
def test_sizes_are_rounded(count, text):
    assert _size(count) == text


@pytest.mark.parametrize(
    ("seconds", "text"), [(None, ""), (1.23, "1.2 s"), (75.0, "1 min 15 s"), (7384.0, "2 h 03 min")]
)
def test_times_are_rounded(seconds, text):
    assert _time(seconds) == text
