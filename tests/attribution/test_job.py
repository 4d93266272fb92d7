import numpy as np
import pytest
from torch import nn

from asserts import assert_same_bits
from proponent.attribution._job import Job, architecture


def arrays():
    return {"scores": np.arange(6.0, dtype=np.float32).reshape(2, 3)}


def test_a_finished_task_is_read_back(tmp_path):
    job = Job(tmp_path, {"seed": 1})
    assert job.load("a") is None
    job.save("a", arrays())
    again = Job(tmp_path, {"seed": 1}).load("a")
    assert list(again) == ["scores"]
    assert_same_bits(again["scores"], arrays()["scores"])
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["a.npz", "job.json", "tasks"]


def test_without_a_folder_nothing_is_kept(tmp_path):
    job = Job(None, {})
    job.save("a", arrays())
    assert job.load("a") is None
    assert list(tmp_path.iterdir()) == []


def test_another_configuration_is_refused_and_the_difference_named(tmp_path):
    Job(tmp_path, {"seed": 1, "draws": 4, "samples": "sha256:" + 60 * "0"})
    with pytest.raises(
        ValueError, match=r"`directory` must be empty or hold the same job.*seed: 1 there, 2 now"
    ):
        Job(tmp_path, {"seed": 2, "draws": 4, "samples": "sha256:" + 60 * "0"})
    with pytest.raises(ValueError, match=r"draws: 4 there, 5 now; seed: 1 there, null now; .*0\.\.\. there"):
        Job(tmp_path, {"draws": 5})


def test_every_damage_is_noticed(tmp_path):
    job = Job(tmp_path, {"seed": 1})
    job.save("a", arrays())
    path = tmp_path / "tasks" / "a.npz"
    whole = path.read_bytes()
    for length in range(0, len(whole), 31):
        path.write_bytes(whole[:length])
        with pytest.warns(UserWarning, match=r"a\.npz` is damaged .*; its task is computed again"):
            assert job.load("a") is None


@pytest.mark.filterwarnings("ignore:.*is damaged")
def test_no_altered_byte_changes_a_result(tmp_path):
    job = Job(tmp_path, {"seed": 1})
    job.save("a", arrays())
    path = tmp_path / "tasks" / "a.npz"
    whole = path.read_bytes()
    for position in range(0, len(whole), 3):
        altered = bytearray(whole)
        altered[position] ^= 0x55
        path.write_bytes(bytes(altered))
        found = job.load("a")
        assert found is None or found["scores"].tobytes() == arrays()["scores"].tobytes()


def test_a_task_of_another_job_is_noticed(tmp_path):
    job, other = Job(tmp_path / "job", {"seed": 1}), Job(tmp_path / "other", {"seed": 2})
    other.save("a", arrays())
    (tmp_path / "other" / "tasks").rename(tmp_path / "job" / "tasks")
    with pytest.warns(UserWarning, match="it belongs to another job"):
        assert job.load("a") is None


def test_what_was_settled_holds_for_the_same_question(tmp_path):
    job = Job(tmp_path, {"seed": 1})
    assert job.settled({"memory_budget": 10}) is None
    job.settle({"memory_budget": 10}, {"batch": 3})
    assert Job(tmp_path, {"seed": 1}).settled({"memory_budget": 10}) == {"batch": 3}
    assert Job(tmp_path, {"seed": 1}).settled({"memory_budget": 20}) is None
    memory = Job(None, {})
    memory.settle({}, {"batch": 2})
    assert memory.settled({}) == {"batch": 2}


def test_an_architecture_is_more_than_its_parameters():
    nets = [
        nn.Sequential(nn.Linear(2, 2), nn.ReLU()),
        nn.Sequential(nn.Linear(2, 2), nn.Tanh()),
        nn.Sequential(nn.Linear(2, 2), nn.ReLU()).eval(),
        nn.Sequential(nn.Linear(2, 2).requires_grad_(False), nn.ReLU()),
    ]
    assert len({architecture(net) for net in nets}) == 4
    assert architecture(nets[0]) == architecture(nn.Sequential(nn.Linear(2, 2), nn.ReLU()))
