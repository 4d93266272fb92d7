import json

import pytest
import torch
from torch import nn

from proponent.training import Optimizer, Trajectory


def make_net(seed=0):
    torch.manual_seed(seed)
    return nn.Sequential(nn.Linear(3, 2), nn.BatchNorm1d(2), nn.Linear(2, 1)).double()


def make_moments(value):
    return {name: torch.full_like(each, value) for name, each in make_net().named_parameters()}


def make_trajectory(**changes):
    states = [make_net(seed).state_dict() for seed in range(3)]
    moments = [make_moments(0.25 * (1 + i)) for i in range(3)]
    settings = {
        "steps": [10, 30, 60],
        "learning_rates": [0.5, 0.25, 0.125],
        "sample_count": 40,
        "second_moments": moments,
        "optimizer": Optimizer("adam", betas=(0.8, 0.9), eps=0.01),
    }
    return Trajectory.from_state_dicts(states, **(settings | changes))


def assert_same_tensors(a, b):
    assert a.keys() == b.keys()
    assert all(torch.equal(a[key], b[key]) for key in a)


def test_physical_weights_are_rate_times_steps_over_samples():
    assert make_trajectory().weights("physical") == (0.125, 0.125, 0.09375)


def test_momentum_lets_each_gradient_act_more_than_once():
    trajectory = make_trajectory(second_moments=None, optimizer=Optimizer("sgd", momentum=0.75))
    assert trajectory.weights("physical") == (0.5, 0.5, 0.375)


def test_unit_weights_need_nothing():
    assert Trajectory.from_state_dicts([make_net().state_dict()] * 2).weights("unit") == (1.0, 1.0)


@pytest.mark.parametrize(
    ("changes", "unknown"),
    [
        ({"learning_rates": None}, "`learning_rates`"),
        ({"sample_count": None}, "`sample_count`"),
        ({"steps": None, "second_moments": None}, "`steps`"),
    ],
)
def test_an_unknown_factor_of_a_physical_weight_is_named(changes, unknown):
    with pytest.raises(ValueError, match=rf'but {unknown} of the checkpoint .* use `weights="unit"`'):
        make_trajectory(**changes).weights("physical")


def test_other_weights_are_refused():
    with pytest.raises(ValueError, match='must be "physical" or "unit", got \'lr\''):
        make_trajectory().weights("lr")


def test_one_learning_rate_serves_all():
    assert make_trajectory(learning_rates=2.0).weights("physical") == (0.5, 1.0, 1.5)


def test_adams_metric_has_bias_correction_and_epsilon():
    diagonal = make_trajectory().metric(1, "adam")
    expected = 1 / ((0.5 / (1 - 0.9**30)) ** 0.5 + 0.01)
    torch.testing.assert_close(
        diagonal["0.weight"], torch.full((2, 3), expected, dtype=torch.float64), rtol=1e-14, atol=0
    )


def test_the_identity_is_no_tensor():
    assert make_trajectory().metric(0, "identity") is None


def test_other_metrics_are_refused():
    with pytest.raises(ValueError, match="`metric` must be"):
        make_trajectory().metric(0, "fisher")


def test_adams_metric_needs_moments():
    with pytest.raises(ValueError, match="the checkpoint at step 10 keeps none"):
        make_trajectory(second_moments=None).metric(0, "adam")


def test_adams_metric_begins_with_adams_first_step():
    with pytest.raises(ValueError, match=r"at step 0 no gradient has been seen.*`checkpoints=`"):
        make_trajectory(steps=[0, 30, 60]).metric(0, "adam")
    with pytest.raises(ValueError, match="at step 30 no gradient has been seen"):
        make_trajectory(second_moments=[make_moments(0.0)] * 3).metric(1, "adam")


def test_select_keeps_what_each_checkpoint_stands_for():
    chosen = make_trajectory().select([-1, 0])
    assert [checkpoint.step for checkpoint in chosen] == [10, 60]
    assert chosen.weights("physical") == (0.125, 0.09375)
    with pytest.raises(IndexError, match="positions among the 3"):
        make_trajectory().select([3])


def test_checkpoints_are_copies():
    net = make_net()
    trajectory = Trajectory.from_state_dicts([net.state_dict()])
    before = trajectory[0].state()["0.weight"].clone()
    with torch.no_grad():
        net[0].weight.zero_()
    assert torch.equal(trajectory[0].state()["0.weight"], before)


def test_repr_says_how_long_and_by_what():
    assert repr(make_trajectory()) == "Trajectory of 3 checkpoints, steps 10 to 60, trained by adam"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"steps": [10, 10, 20]}, "must increase"),
        ({"steps": [-10, 10, 20]}, "must not be negative"),
        ({"steps": [10, 20]}, "`steps` must have one entry for each of the 3 checkpoints, got 2"),
        ({"learning_rates": [0.1]}, "`learning_rates` must have one entry"),
        ({"second_moments": []}, "`second_moments` must have one entry"),
        ({"steps": None}, "`second_moments` must come with `steps`"),
        ({"sample_count": 0}, "`sample_count` must be at least 1"),
    ],
)
def test_lists_that_do_not_agree_are_refused(changes, message):
    with pytest.raises(ValueError, match=message):
        make_trajectory(**changes)


def test_an_empty_trajectory_is_refused():
    with pytest.raises(ValueError, match="at least one checkpoint"):
        Trajectory.from_state_dicts([])


def test_a_state_dict_holds_tensors():
    with pytest.raises(TypeError, match="something else at epoch"):
        Trajectory.from_state_dicts([{"epoch": 3}])


def test_saved_and_loaded_is_the_same(tmp_path):
    trajectory = make_trajectory()
    trajectory.save(tmp_path)
    loaded = Trajectory.load(tmp_path)
    assert loaded.fingerprint() == trajectory.fingerprint()
    assert loaded.weights("physical") == trajectory.weights("physical")
    for ours, theirs in zip(trajectory, loaded, strict=True):
        assert_same_tensors(ours.state(), theirs.state())
        assert_same_tensors(ours.second_moments(), theirs.second_moments())
    assert_same_tensors(loaded.metric(2, "adam"), trajectory.metric(2, "adam"))


def test_a_folder_takes_one_trajectory(tmp_path):
    make_trajectory(second_moments=None).save(tmp_path)
    with pytest.raises(FileExistsError, match="must not hold a trajectory yet"):
        make_trajectory().save(tmp_path)


@pytest.mark.parametrize(
    "changes",
    [
        {"steps": [10, 30, 61]},
        {"learning_rates": 0.5},
        {"sample_count": 41},
        {"optimizer": "adam"},
        {"second_moments": None},
    ],
)
def test_the_fingerprint_knows_every_fact(changes):
    assert make_trajectory(**changes).fingerprint() != make_trajectory().fingerprint()


def test_the_fingerprint_knows_the_parameters():
    states = [make_net(seed).state_dict() for seed in range(2)]
    changed = [states[0], states[1] | {"0.bias": states[1]["0.bias"] + 1e-12}]
    assert (
        Trajectory.from_state_dicts(states).fingerprint()
        != Trajectory.from_state_dicts(changed).fingerprint()
    )


def test_a_folder_without_trajectory_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"holds no `trajectory.json`"):
        Trajectory.load(tmp_path)


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"format": "scores"}, ValueError, "must be the manifest of a trajectory"),
        ({"version": 99}, ValueError, "must be of version 1, got 99"),
        ({"optimizer": None}, ValueError, "lacks optimizer"),
        ({"checkpoints": []}, FileNotFoundError, "has made no checkpoint yet"),
        ({"checkpoints": [{"step": 1}]}, ValueError, "lacks 'tensors' of a checkpoint"),
    ],
)
def test_an_edited_manifest_is_refused(tmp_path, change, error, message):
    make_trajectory().save(tmp_path)
    path = tmp_path / "trajectory.json"
    record = json.loads(path.read_text()) | change
    path.write_text(json.dumps({key: value for key, value in record.items() if value is not None}))
    with pytest.raises(error, match=message):
        Trajectory.load(tmp_path)


def test_a_torn_manifest_is_refused(tmp_path):
    make_trajectory().save(tmp_path)
    path = tmp_path / "trajectory.json"
    path.write_text(path.read_text()[:100])
    with pytest.raises(ValueError, match="must be a JSON file"):
        Trajectory.load(tmp_path)


def test_files_are_read_when_asked_and_checked_then(tmp_path):
    make_trajectory().save(tmp_path)
    first, second, third = (tmp_path / f"checkpoint-000000{step}.safetensors" for step in (10, 30, 60))
    first.unlink()
    second.write_bytes(second.read_bytes()[:-8])
    content = bytearray(third.read_bytes())
    content[-1] ^= 1
    third.write_bytes(content)
    loaded = Trajectory.load(tmp_path)
    with pytest.raises(FileNotFoundError, match="There is no checkpoint file"):
        loaded[0].state()
    with pytest.raises(ValueError, match="it was cut short or replaced"):
        loaded[1].state()
    with pytest.raises(ValueError, match="its sha256 differs"):
        loaded[2].state()


def test_a_model_that_does_not_fit_is_told_which_keys(tmp_path):
    trajectory = make_trajectory().save(tmp_path)
    trajectory.check_fits(make_net())
    other = nn.Sequential(nn.Linear(3, 2), nn.Identity(), nn.Linear(5, 1), nn.Linear(1, 1))
    message = (
        r"checkpoint at step 10 must fit .* missing: 3.weight, 3.bias; extra: 1.bias, .*1.weight; "
        r"of another shape: 2.weight \(1, 2\) instead of \(1, 5\)"
    )
    with pytest.raises(ValueError, match=message):
        trajectory.check_fits(other)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"0.weight": torch.ones(3, 2)}, r"of another shape: 0.weight \(3, 2\) instead of \(2, 3\)\."),
        ({"0.weight": None}, r"step 10 must have a second moment .* missing: 0.weight\. .*`requires_grad`"),
        ({"weight": torch.ones(2)}, r"extra: weight\."),
    ],
)
def test_moments_that_are_not_the_models_are_told(change, message):
    moments = {name: each for name, each in (make_moments(1.0) | change).items() if each is not None}
    with pytest.raises(ValueError, match=message):
        make_trajectory(second_moments=[moments] * 3).check_fits(make_net())


def test_a_frozen_parameter_may_have_moments_or_none():
    net, moments = make_net(), make_moments(1.0)
    net[0].requires_grad_(False)
    del moments["0.bias"]
    make_trajectory(second_moments=[moments] * 3).check_fits(net)


def test_many_keys_are_counted():
    many = nn.Sequential(*[nn.Linear(1, 1) for _ in range(8)])
    with pytest.raises(ValueError, match="and 8 more"):
        Trajectory.from_state_dicts([{"a": torch.zeros(1)}]).check_fits(many)


def test_a_prefix_is_recognised():
    wrapped = {f"module.{key}": value for key, value in make_net().state_dict().items()}
    with pytest.raises(ValueError, match=r"begin with `module.`: pass `prefix='module.'`"):
        Trajectory.from_state_dicts([wrapped]).check_fits(make_net())


def test_a_wrapped_model_is_recognised():
    class Wrapper(nn.Module):
        def __init__(self):
            super().__init__()
            self.model = make_net()

    with pytest.raises(ValueError, match="pass the module that lies inside its wrapper"):
        Trajectory.from_state_dicts([make_net().state_dict()]).check_fits(Wrapper())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"name": "lion"}, "must be one of sgd, adam, unknown, got 'lion'"),
        ({"name": "sgd", "momentum": 1.0}, r"`momentum` must lie in \[0, 1\)"),
        ({"name": "adam", "betas": (0.9, 1.0)}, "`betas` must both lie"),
        ({"name": "adam", "eps": 0.0}, "`eps` must be positive"),
    ],
)
def test_an_optimiser_is_checked(arguments, message):
    with pytest.raises(ValueError, match=message):
        Optimizer(**arguments)


@pytest.mark.parametrize(
    "optimizer", [Optimizer(), Optimizer("sgd", momentum=0.5), Optimizer("adam", betas=(0.1, 0.2), eps=0.3)]
)
def test_an_optimisers_description_gives_it_back(optimizer):
    assert Optimizer.from_description(json.loads(json.dumps(optimizer.describe()))) == optimizer


def test_a_manifest_speaks_of_files():
    from proponent.training._manifest import describe_trajectory

    with pytest.raises(TypeError, match="must speak of files, got a Memory"):
        describe_trajectory(make_trajectory())
