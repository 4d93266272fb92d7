import pytest
import safetensors.torch
import torch
from torch import nn

from proponent.training import Optimizer, Trajectory


def make_net(seed=0):
    torch.manual_seed(seed)
    return nn.Sequential(nn.Linear(3, 2), nn.Tanh(), nn.Linear(2, 1))


def train_with_adam(net, steps, names=False):
    parameters = list(net.named_parameters()) if names else list(net.parameters())
    optimizer = torch.optim.Adam(parameters, lr=0.1, betas=(0.7, 0.8), eps=0.5)
    for step in range(steps):
        optimizer.zero_grad()
        net(torch.arange(3.0) + step).square().sum().backward()
        optimizer.step()
    return optimizer


def write_lightning_like(path, net, optimizer):
    state = {f"model.{key}": value for key, value in net.state_dict().items()}
    record = {
        "epoch": 3,
        "state_dict": state | {"perceptual.weight": torch.zeros(1)},
        "optimizer_states": [optimizer.state_dict()],
    }
    torch.save(record, path)


def assert_same_tensors(a, b):
    assert a.keys() == b.keys()
    assert all(torch.equal(a[key], b[key]) for key in a)


@pytest.mark.parametrize("suffix", [".pt", ".safetensors"])
def test_a_plain_state_dict_needs_no_key(tmp_path, suffix):
    path, state = tmp_path / f"net{suffix}", make_net().state_dict()
    (torch.save if suffix == ".pt" else safetensors.torch.save_file)(*[state, path])
    trajectory = Trajectory.from_files([path], steps=[5], learning_rates=0.1, sample_count=50)
    assert_same_tensors(trajectory[0].state(), dict(state))
    assert trajectory.weights("physical") == (0.01,)
    trajectory.check_fits(make_net())


def test_a_key_with_a_path_a_prefix_and_adams_state(tmp_path):
    paths, moments = [], []
    for steps in (2, 5):
        net = make_net()
        optimizer = train_with_adam(net, steps)
        paths.append(tmp_path / f"{steps}.ckpt")
        write_lightning_like(paths[-1], net, optimizer)
        moments.append(optimizer.state[net[2].weight]["exp_avg_sq"])
    trajectory = Trajectory.from_files(
        paths,
        key="state_dict",
        prefix="model.",
        optimizer_key="optimizer_states.0",
        parameter_names=make_net(),
    )
    assert [(each.step, each.steps) for each in trajectory] == [(2, 2), (5, 3)]
    assert trajectory.optimizer == Optimizer("adam", betas=(0.7, 0.8), eps=0.5)
    assert torch.equal(trajectory[1].second_moments()["2.weight"], moments[1])
    assert trajectory[0].second_moments().keys() == make_net().state_dict().keys()
    trajectory.check_fits(make_net())
    assert len(trajectory.fingerprint()) == 64


def write_apart(folder, steps=2):
    net = make_net()
    state = train_with_adam(net, steps).state_dict()
    safetensors.torch.save_file(net.state_dict(), folder / "model.safetensors")
    torch.save(state, folder / "optimizer.pt")
    torch.save({"step": steps, "adam": state}, folder / "all.pt")
    return {"paths": [folder / "model.safetensors"], "parameter_names": net}


@pytest.mark.parametrize(("name", "key"), [("optimizer.pt", None), ("all.pt", "adam")])
def test_adams_state_in_a_file_of_its_own(tmp_path, name, key):
    arguments = write_apart(tmp_path)
    trajectory = Trajectory.from_files(**arguments, optimizer_files=[tmp_path / name], optimizer_key=key)
    assert trajectory[0].step == 2
    assert trajectory.optimizer == Optimizer("adam", betas=(0.7, 0.8), eps=0.5)
    assert trajectory[0].second_moments().keys() == make_net().state_dict().keys()
    trajectory.check_fits(make_net())


def test_files_of_adams_state_are_one_for_each_checkpoint(tmp_path):
    with pytest.raises(ValueError, match="`optimizer_files` must have one entry for each of the 1"):
        Trajectory.from_files(**write_apart(tmp_path), optimizer_files=[])
    with pytest.raises(FileNotFoundError, match="no checkpoint file at"):
        Trajectory.from_files(**write_apart(tmp_path), optimizer_files=[tmp_path / "gone.pt"])


def test_adams_constants_are_the_files_unless_a_record_is_given(tmp_path):
    arguments = write_apart(tmp_path) | {"optimizer_files": [tmp_path / "optimizer.pt"]}
    in_file, own = Optimizer("adam", betas=(0.7, 0.8), eps=0.5), Optimizer("adam", eps=0.1)
    assert Trajectory.from_files(**arguments, optimizer="adam").optimizer == in_file
    assert Trajectory.from_files(**arguments, optimizer=own).optimizer == own
    with pytest.raises(ValueError, match="must be \"adam\" where Adam's state is given, got 'sgd'"):
        Trajectory.from_files(**arguments, optimizer="sgd")


def test_a_flat_file_takes_a_prefix_and_no_key(tmp_path):
    write_apart(tmp_path)
    with pytest.raises(ValueError, match=r"without a `key`, got 'model': .* use `prefix='model\.'`"):
        Trajectory.from_files([tmp_path / "model.safetensors"], key="model")


@pytest.mark.parametrize("rate", [-0.1, float("nan"), float("inf")])
def test_learning_rates_are_numbers(rate):
    with pytest.raises(ValueError, match="`learning_rates` must be finite and not negative, got"):
        Trajectory.from_state_dicts([make_net().state_dict()], steps=[1], learning_rates=[rate])


def test_names_inside_the_optimisers_state_are_used(tmp_path):
    net = make_net()
    torch.save(
        {"net": net.state_dict(), "adam": train_with_adam(net, 1, names=True).state_dict()}, tmp_path / "a.pt"
    )
    trajectory = Trajectory.from_files([tmp_path / "a.pt"], key="net", optimizer_key="adam")
    assert trajectory[0].second_moments().keys() == net.state_dict().keys()


def test_a_key_that_itself_has_dots(tmp_path):
    torch.save({"model.state": make_net().state_dict()}, tmp_path / "a.pt")
    assert "0.weight" in Trajectory.from_files([tmp_path / "a.pt"], key="model.state")[0].state()


def test_a_changed_file_changes_the_fingerprint(tmp_path):
    path = tmp_path / "a.pt"
    torch.save(make_net(0).state_dict(), path)
    before = Trajectory.from_files([path]).fingerprint()
    torch.save(make_net(1).state_dict(), path)
    assert Trajectory.from_files([path]).fingerprint() != before


def test_a_state_dict_below_the_top_is_found_for_the_message(tmp_path):
    torch.save({"epoch": 1, "state_dict": make_net().state_dict()}, tmp_path / "a.pt")
    with pytest.raises(
        ValueError, match=r"there is a dict of epoch, state_dict.* such as `key='state_dict'`"
    ):
        Trajectory.from_files([tmp_path / "a.pt"])


def test_a_tensor_is_no_state_dict(tmp_path):
    torch.save(torch.zeros(2), tmp_path / "a.pt")
    with pytest.raises(ValueError, match="there is a Tensor"):
        Trajectory.from_files([tmp_path / "a.pt"])


def test_a_missing_key_says_what_is_there(tmp_path):
    torch.save({"model": {f"w{i}": torch.zeros(1) for i in range(9)}}, tmp_path / "a.pt")
    with pytest.raises(
        ValueError, match=r"nothing at `model.state`: where `state` should be, a dict of w0.* 1 more"
    ):
        Trajectory.from_files([tmp_path / "a.pt"], key="model.state")


def test_a_missing_prefix_says_what_is_there(tmp_path):
    torch.save({"w": torch.zeros(1)}, tmp_path / "a.pt")
    with pytest.raises(ValueError, match=r"keys that begin with `model.`, but there is a dict of w"):
        Trajectory.from_files([tmp_path / "a.pt"], prefix="model.")


class Code:
    pass


def test_a_file_that_would_run_code_is_refused(tmp_path):
    torch.save(Code(), tmp_path / "a.pt")
    with pytest.raises(ValueError, match="so that reading it runs no code"):
        Trajectory.from_files([tmp_path / "a.pt"])


@pytest.mark.parametrize("suffix", [".pt", ".safetensors"])
def test_a_torn_file_is_refused(tmp_path, suffix):
    path, state = tmp_path / f"net{suffix}", make_net().state_dict()
    (torch.save if suffix == ".pt" else safetensors.torch.save_file)(*[state, path])
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(ValueError, match=r"was cut short|can't be read"):
        Trajectory.from_files([path])


def test_missing_files_and_other_formats_are_refused(tmp_path):
    with pytest.raises(FileNotFoundError, match="no checkpoint file at"):
        Trajectory.from_files([tmp_path / "a.pt"])
    (tmp_path / "a.h5").touch()
    with pytest.raises(ValueError, match="must end in"):
        Trajectory.from_files([tmp_path / "a.h5"])


def write_with(path, optimizer):
    torch.save({"net": make_net().state_dict(), "optimizer": optimizer}, path)
    return {"paths": [path], "key": "net", "optimizer_key": "optimizer"}


def test_the_optimisers_parameters_must_be_named(tmp_path):
    state = train_with_adam(make_net(), 1).state_dict()
    with pytest.raises(ValueError, match=r"must name the 4 parameters .* got 0 names"):
        Trajectory.from_files(**write_with(tmp_path / "a.pt", state))
    with pytest.raises(ValueError, match="got 1 names"):
        Trajectory.from_files(**write_with(tmp_path / "a.pt", state), parameter_names=["w"])


def test_what_is_no_optimisers_state_is_refused(tmp_path):
    with pytest.raises(ValueError, match="must hold an optimiser's state dict at `optimizer`"):
        Trajectory.from_files(**write_with(tmp_path / "a.pt", {"lr": 1.0}), parameter_names=make_net())


def test_another_optimisers_state_is_refused(tmp_path):
    net = make_net()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
    net(torch.ones(3)).sum().backward()
    optimizer.step()
    arguments = write_with(tmp_path / "a.pt", optimizer.state_dict()) | {"parameter_names": make_net()}
    with pytest.raises(ValueError, match=r"one step count for all parameters, got \[\]"):
        Trajectory.from_files(**arguments)
    with pytest.raises(ValueError, match=r"one set of Adam's constants .* got 0"):
        Trajectory.from_files(**arguments, steps=[1])
    trajectory = Trajectory.from_files(**arguments, steps=[1], optimizer=Optimizer("adam"))
    with pytest.raises(ValueError, match="no parameter there has an `exp_avg_sq`"):
        trajectory[0].second_moments()
