import numpy as np
import pytest

from proponent.cli import main

X = np.random.default_rng(0).random((20, 4), dtype=np.float32)
SMALL = ["--latent-dim", "2", "--steps", "4", "--checkpoints", "2", "--batch-size", "8", "--device", "cpu"]


@pytest.fixture
def place(tmp_path):
    np.save(tmp_path / "x.npy", X)
    return tmp_path


@pytest.fixture
def run(place):
    assert main(["train", str(place / "x.npy"), "--out", str(place / "run"), *SMALL]) == 0
    return place / "run"


def refused(capsys, arguments, code=2):
    """The message of a command that must be refused, in one line and without a traceback."""
    capsys.readouterr()
    assert main([str(argument) for argument in arguments]) == code
    captured = capsys.readouterr()
    assert "Traceback" not in captured.err
    return " ".join((captured.err + captured.out).split())


@pytest.mark.parametrize(
    "arguments",
    [
        ["no-such-command"],
        ["train"],
        ["train", "x.npy", "--out", "r", "--steps", "0"],
        ["train", "x.npy", "--out", "r", "--steps", "many"],
        ["train", "x.npy", "--out", "r", "--likelihood", "poisson"],
        ["train", "x.npy", "--out", "r", "--no-such-option"],
        ["influence", "run"],
    ],
)
def test_wrong_usage_has_exit_code_2(arguments, capsys):
    assert refused(capsys, arguments)


def test_missing_data(place, capsys):
    message = refused(capsys, ["train", place / "no.npy", "--out", place / "run"])
    assert "The data must be a folder of pictures" in message
    assert "does not exist" in message
    assert not (place / "run").exists()


def test_data_of_another_kind(place, capsys):
    (place / "x.doc").write_text("1,2")
    assert "or a Parquet, CSV, `.npy`, `.npz` or IDX file" in refused(
        capsys, ["train", place / "x.doc", "--out", place / "r"]
    )


def test_numbers_outside_the_likelihood(place, capsys):
    np.save(place / "big.npy", X * 100)
    message = refused(
        capsys, ["train", place / "big.npy", "--out", place / "run", *SMALL, "--likelihood", "bernoulli"]
    )
    assert "Error:" in message
    assert "bernoulli" in message.lower()


def test_nan_is_left_aside_and_named(place, capsys):
    x = X.copy()
    x[3, 1] = np.nan
    np.save(place / "nan.npy", x)
    assert main(["train", str(place / "nan.npy"), "--out", str(place / "r"), *SMALL]) == 0
    assert "1 left aside that can't be used, the first `item 4`: it holds NaN" in capsys.readouterr().out


def test_flat_data_for_a_convolutional_model(place, capsys):
    message = refused(capsys, ["train", place / "x.npy", "--out", place / "r", "--model", "conv"])
    assert "must be pictures [n, channels, height, width] for `--model conv`" in message


def test_a_folder_of_other_files_is_left_alone(place, capsys):
    message = refused(capsys, ["train", place / "x.npy", "--out", place, *SMALL])
    assert "holds other files" in message
    assert sorted(path.name for path in place.iterdir()) == ["x.npy"]


def test_a_file_is_no_folder(place, capsys):
    message = refused(capsys, ["train", place / "x.npy", "--out", place / "x.npy", *SMALL])
    assert "must be a folder, but a file of that name is there" in message


def test_other_settings_are_another_run(run, capsys):
    message = refused(capsys, ["train", run.parent / "x.npy", "--out", run, *SMALL, "--beta", "4"])
    assert "holds another run: beta is 1.0 there and 4.0 here" in message


def test_changed_data_are_noticed_by_every_command(run, capsys):
    np.save(run.parent / "x.npy", X[::-1])
    for command in (
        ["train", run.parent / "x.npy", "--out", run, *SMALL],
        ["self-influence", run],
        ["influence", run, "--queries", run.parent / "x.npy"],
    ):
        assert "The data changed under the run" in refused(capsys, command)


def test_no_run(place, capsys):
    message = refused(capsys, ["self-influence", place])
    assert "it has no `run.toml`. Make one with `proponent train DATA --out" in message


def test_a_damaged_record(run, capsys):
    (run / "run.toml").write_text("[data")
    assert "run.toml` can't be read" in refused(capsys, ["self-influence", run])


def test_a_record_without_a_table(run, capsys):
    (run / "run.toml").write_text("[data]\n[model]\n[training]\n")
    assert "but lacks scaling, objective" in refused(capsys, ["self-influence", run])


def test_an_unknown_model(run, capsys):
    record = run / "run.toml"
    record.write_text(record.read_text().replace('"mlp"', '"gan"'))
    assert "`model` must be one of mlp, conv, got 'gan'" in refused(capsys, ["self-influence", run])


def test_an_unfinished_training(run, capsys):
    record = run / "run.toml"
    record.write_text(record.read_text().replace("steps = 4", "steps = 8"))
    message = refused(capsys, ["self-influence", run])
    assert "stopped at step 4 of 8. Finish it with `proponent train" in message


def test_a_training_that_never_began(run, capsys):
    (run / "trajectory" / "trajectory.json").unlink()
    assert "has no checkpoint yet" in refused(capsys, ["self-influence", run])


def test_queries_of_another_shape(run, place, capsys):
    np.save(place / "q.npy", X[:, 0])
    message = refused(capsys, ["influence", run, "--queries", place / "q.npy"])
    assert "`queries` must have the shape of the samples, (4,) each, got (1,)" in message
    assert "A single query still needs an axis of its own" in message


def test_odd_draws(run, capsys):
    message = refused(capsys, ["self-influence", run, "--draws", "3"])
    assert "`draws` must be even for an unbiased self-influence, got 3" in message


def test_a_budget_that_is_no_size(run, capsys):
    message = refused(capsys, ["self-influence", run, "--memory-budget", "plenty"])
    assert "`memory_budget` must be a number of bytes" in message


def test_a_divergence_is_a_failure(place, capsys):
    arguments = ["train", place / "x.npy", "--out", place / "run", *SMALL, "--optimizer", "sgd"]
    message = refused(capsys, [*arguments, "--learning-rate", "1e30"], code=1)
    assert "learning rate" in message


def test_a_traceback_is_shown_when_asked(place):
    with pytest.raises(FileNotFoundError):
        main(["--traceback", "train", str(place / "no.npy"), "--out", str(place / "run")])
