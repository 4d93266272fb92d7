import json
import os
import random
import signal
import subprocess
import sys
import time
from contextlib import nullcontext
from pathlib import Path

import pytest
from test_fit import Wandering, wandering
from torch import nn
from training_toys import Coder, assert_same_runs, fit_coder, samples, shared_noise

from proponent.objectives import objective
from proponent.training import Optimizer, Trajectory
from proponent.training._keeper import Course, MemoryKeeper

MOMENTUM = Optimizer("sgd", momentum=0.9)


class Killed(Exception):
    pass


def killed_at(step):
    def progress(now, loss):
        if now >= step:
            raise Killed

    return progress


@pytest.mark.parametrize("optimizer", ["sgd", MOMENTUM, "adam"], ids=["sgd", "momentum", "adam"])
@pytest.mark.parametrize("step", [1, 7, 14, 35])
def test_a_stopped_training_ends_in_the_same_bits(tmp_path, optimizer, step):
    whole = fit_coder(optimizer=optimizer)
    with pytest.raises(Killed):
        fit_coder(optimizer=optimizer, directory=tmp_path, progress=killed_at(step))
    assert_same_runs(fit_coder(optimizer=optimizer, directory=tmp_path), whole)
    assert Trajectory.load(tmp_path).fingerprint() == whole.trajectory.fingerprint()
    assert json.loads((tmp_path / "trajectory.json").read_text())["training"] == whole.trajectory.training


def test_a_training_stopped_again_and_again(tmp_path):
    whole = fit_coder(model=Wandering(), objective=wandering, optimizer="adam")
    for step in (7, 14, 21, 28, 35):
        with pytest.raises(Killed):
            fit_coder(
                model=Wandering(),
                objective=wandering,
                optimizer="adam",
                directory=tmp_path,
                progress=killed_at(step),
            )
    assert_same_runs(
        fit_coder(model=Wandering(), objective=wandering, optimizer="adam", directory=tmp_path), whole
    )


SCRIPT = """
import sys, time
from training_toys import fit_coder
print("started", flush=True)
fit_coder(optimizer="adam", steps=600, checkpoints=60, directory=sys.argv[1])
"""


def kill_after(folder, seconds):
    """Run the script in a process of its own and kill it some time after its first checkpoint."""
    paths = [str(Path(__file__).parent), str(Path(__file__).parents[1])]
    process = subprocess.Popen(
        [sys.executable, "-c", SCRIPT, str(folder)],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(paths), "OMP_NUM_THREADS": "1"},
        stdout=subprocess.DEVNULL,
    )
    deadline = time.monotonic() + 60
    while not (folder / "trajectory.json").exists() and process.poll() is None:
        assert time.monotonic() < deadline
        time.sleep(0.005)
    time.sleep(seconds)
    process.send_signal(signal.SIGKILL)
    process.wait()


def test_a_killed_process_leaves_a_folder_that_goes_on_to_the_same_bits(tmp_path):
    kill_after(tmp_path, seconds=random.random() / 5)
    assert 1 <= len(Trajectory.load(tmp_path)) <= 60
    settings = {"optimizer": "adam", "steps": 600, "checkpoints": 60}
    assert_same_runs(fit_coder(**settings, directory=tmp_path), fit_coder(**settings))
    left = sorted(path.name for path in tmp_path.iterdir() if path.name.startswith(("progress", ".")))
    assert [name for name in left if name.startswith("progress")] == ["progress-00000600.safetensors"]


def test_a_finished_training_is_returned_at_once(tmp_path):
    whole = fit_coder(optimizer="adam", directory=tmp_path)

    def never(step, loss):
        raise Killed

    assert_same_runs(fit_coder(optimizer="adam", directory=tmp_path, progress=never), whole)
    assert whole.directory == tmp_path


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"seed": 1}, "seed is 0 there, 1 here"),
        ({"learning_rate": 0.1}, "learning_rate is 0.02 there, 0.1 here"),
        ({"steps": 41, "checkpoints": [40, 41]}, "steps is 40 there, 41 here; checkpoints is"),
        ({"batch_size": 4}, "batch_size is 6 there, 4 here"),
        ({"draws": 1}, "draws is 2 there, 1 here"),
        ({"log_every": 1}, "log_every is 7 there, 1 here"),
        ({"optimizer": "adam"}, "optimizer is {'name': 'sgd'"),
        ({"objective": shared_noise}, "stream is"),
        ({"samples": samples + 1e-9}, "samples is"),
        ({"samples": samples[:22]}, "sample_count is 23 there, 22 here"),
        ({"precision": "float32"}, "precision is float64 there, float32 here"),
    ],
)
def test_another_training_is_refused_and_told_apart(tmp_path, changes, named):
    with pytest.raises(Killed):
        fit_coder(directory=tmp_path, progress=killed_at(14))
    with pytest.raises(ValueError, match=f"must hold this very training or none, but .*{named}"):
        fit_coder(directory=tmp_path, **changes)


def test_other_first_parameters_are_noticed(tmp_path):
    whole = fit_coder(directory=tmp_path)
    with pytest.warns(UserWarning, match="begins with other parameters than the training in"):
        other = fit_coder(directory=tmp_path, model=Coder(seed=1))
    assert_same_runs(whole, other)


def squared(model, x, noise):
    return model(x).square().sum(1)


@pytest.mark.parametrize(
    ("model", "named"),
    [
        (nn.Linear(5, 3), r"of another shape: weight \(1, 5\) instead of \(3, 5\), bias"),
        (nn.Sequential(nn.Linear(5, 1)), "missing: 0.weight, 0.bias; extra: bias, weight"),
    ],
)
@pytest.mark.parametrize("stopped", [True, False])
def test_a_training_of_another_model_is_refused(tmp_path, model, named, stopped):
    settings = {"objective": objective(squared), "directory": tmp_path}
    with pytest.raises(Killed) if stopped else nullcontext():
        fit_coder(model=nn.Linear(5, 1).double(), progress=killed_at(14) if stopped else False, **settings)
    with pytest.raises(ValueError, match=f"training of this model or none, but in .* {named}"):
        fit_coder(model=model.double(), **settings)


def test_a_training_with_other_parameters_frozen_is_not_gone_on_with(tmp_path):
    model = nn.Linear(5, 1).double()
    settings = {"objective": objective(squared), "directory": tmp_path, "optimizer": "adam", "model": model}
    with pytest.raises(Killed):
        fit_coder(progress=killed_at(14), **settings)
    model.bias.requires_grad_(False)
    with pytest.raises(ValueError, match="must fit what is trained, but these keys are extra: bias"):
        fit_coder(**settings)


def test_a_saved_trajectory_is_no_training_to_go_on_with(tmp_path):
    fit_coder().trajectory.save(tmp_path)
    with pytest.raises(ValueError, match="a trajectory that was saved there, without what a training needs"):
        fit_coder(directory=tmp_path)


def test_a_lost_file_is_not_trained_over(tmp_path):
    with pytest.raises(Killed):
        fit_coder(directory=tmp_path, progress=killed_at(14))
    (tmp_path / "progress-00000010.safetensors").unlink()
    with pytest.raises(FileNotFoundError, match="progress-00000010"):
        fit_coder(directory=tmp_path)


def test_a_torn_checkpoint_is_not_gone_on_from(tmp_path):
    with pytest.raises(Killed):
        fit_coder(directory=tmp_path, progress=killed_at(14))
    path = tmp_path / "checkpoint-00000010.safetensors"
    path.write_bytes(path.read_bytes()[:-4])
    with pytest.raises(ValueError, match="cut short"):
        fit_coder(directory=tmp_path)


@pytest.mark.parametrize("kind", ["checkpoint", "moments"])
def test_a_torn_file_of_a_finished_training_is_noticed(tmp_path, kind):
    fit_coder(directory=tmp_path, optimizer="adam")
    path = min(tmp_path.glob(f"{kind}-*.safetensors"))  # not the one that a training goes on from
    path.write_bytes(path.read_bytes()[:-4])
    with pytest.raises(ValueError, match=f"{path.name}.*cut short"):
        fit_coder(directory=tmp_path, optimizer="adam")


def test_memory_has_nothing_to_go_on_from():
    with pytest.raises(LookupError, match="taken up at step 3"):
        MemoryKeeper(Course(MOMENTUM, 0.1, 5)).resume(3)
