import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from proponent import Scores
from proponent.cli import main
from proponent.training import Trajectory

SECONDS = 60


@pytest.fixture
def data(tmp_path):
    np.save(tmp_path / "x.npy", np.random.default_rng(0).random((300, 8), dtype=np.float32))
    return tmp_path / "x.npy"


def train_arguments(data, out):
    sizes = ["--latent-dim", "4", "--steps", "600", "--checkpoints", "12", "--batch-size", "16"]
    return ["train", str(data), "--out", str(out), *sizes, "--device", "cpu"]


def kill_when(arguments, condition):
    """Start a command as a process of its own, and kill it as soon as the condition holds."""
    script = f"from proponent.cli import main; main({arguments})"
    process = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.DEVNULL)
    began = time.monotonic()
    while not condition():
        assert process.poll() is None, "it ended before it could be killed"
        assert time.monotonic() - began < SECONDS, "it never came so far"
        time.sleep(0.002)
    process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL


def count(folder, pattern):
    return len(list(folder.glob(pattern)))


def test_a_killed_run_ends_in_the_same_bits(tmp_path, data):
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    assert main(train_arguments(data, whole)) == 0

    kill_when(
        train_arguments(data, killed), lambda: count(killed, "trajectory/checkpoint-*.safetensors") >= 3
    )
    assert count(killed, "trajectory/checkpoint-*.safetensors") < 12
    assert main(["self-influence", str(killed)]) == 2  # not finished
    assert main(train_arguments(data, killed)) == 0
    assert (
        Trajectory.load(killed / "trajectory").fingerprint()
        == Trajectory.load(whole / "trajectory").fingerprint()
    )

    ask = ["--draws", "64", "--device", "cpu", "--top", "0"]
    assert main(["self-influence", str(whole), *ask]) == 0
    kill_when(["self-influence", str(killed), *ask], lambda: count(killed, "jobs/*/tasks/*") >= 2)
    assert not (killed / "scores").exists()
    done = {path: path.stat().st_mtime_ns for path in killed.glob("jobs/*/tasks/*.npz")}
    assert main(["self-influence", str(killed), *ask]) == 0
    assert all(path.stat().st_mtime_ns == before for path, before in done.items())
    np.testing.assert_array_equal(
        Scores.load(killed / "scores" / "self-influence.parquet").values,
        Scores.load(whole / "scores" / "self-influence.parquet").values,
    )
