import re

import numpy as np
import pytest
import torch
from test_fit import Wandering, explode
from test_resume import Killed, killed_at
from torch import nn
from training_toys import Coder, assert_same_runs, fit_coder, own_noise, samples, shared_noise

from proponent.models import MLPVAE, ConvVAE
from proponent.objectives import Elbo, objective
from proponent.randomness import keyed_generator
from proponent.training import DivergedError, Member, Optimizer, Stream, Trajectory, fit, fit_ensemble

MEMBERS = [
    Member(seed=0),
    Member(seed=1, learning_rate=0.005),
    Member(seed=2, subset=np.arange(3, 20)),
    Member(seed=1, subset=[0, 0, 4, 5, 6, 8, 9], learning_rate=0.03),
]


def fit_coders(**changes):
    settings = {
        "models": Coder(),
        "objective": own_noise,
        "samples": samples,
        "members": MEMBERS,
        "steps": 30,
        "checkpoints": [0, 12, 30],
        "batch_size": 6,
        "learning_rate": 0.02,
        "draws": 2,
        "log_every": 7,
        "progress": False,
    }
    return fit_ensemble(**(settings | changes))


def assert_alike(run, single):
    """Equal to rounding."""
    assert len(run.trajectory) == len(single.trajectory)
    for ours, theirs in zip(run.trajectory, single.trajectory, strict=True):
        assert (ours.step, ours.steps, ours.learning_rate) == (
            theirs.step,
            theirs.steps,
            theirs.learning_rate,
        )
        for read in ("state", "second_moments"):
            torch.testing.assert_close(getattr(ours, read)(), getattr(theirs, read)(), rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(run.losses, single.losses, rtol=1e-10)
    torch.testing.assert_close(run.model.state_dict(), single.model.state_dict(), rtol=1e-10, atol=1e-10)
    assert run.trajectory.weights("physical") == single.trajectory.weights("physical")
    assert run.trajectory.training["stream"] == single.trajectory.training["stream"]


def fit_member(member, **changes):
    subset = slice(None) if member.subset is None else member.subset
    return fit_coder(
        samples=samples[subset],
        seed=member.seed,
        learning_rate=member.learning_rate or 0.02,
        steps=30,
        checkpoints=[0, 12, 30],
        **changes,
    )


@pytest.mark.parametrize("loss", [own_noise, shared_noise], ids=["own-noise", "shared-noise"])
@pytest.mark.parametrize(
    "optimizer", ["sgd", Optimizer("sgd", momentum=0.8), "adam"], ids=["sgd", "momentum", "adam"]
)
def test_members_are_what_fit_gives(optimizer, loss):
    runs = fit_coders(optimizer=optimizer, objective=loss)
    for run, member in zip(runs, MEMBERS, strict=True):
        assert_alike(run, fit_member(member, optimizer=optimizer, objective=loss))


def test_running_statistics_and_tied_weights_are_each_members_own():
    loss = objective(lambda model, batch, noise: (model(batch) - batch).square().sum(1))
    model = Wandering()
    model.drop = nn.Identity()
    runs = fit_coders(models=model, objective=loss)
    for run, member in zip(runs, MEMBERS, strict=True):
        assert_alike(run, fit_member(member, model=model, objective=loss))


def vaes():
    perceptron = MLPVAE(12, 2), torch.rand(20, 12, generator=keyed_generator("flat")).double()
    convolutions = (
        ConvVAE(2, channels=1, size=16),
        torch.rand(20, 1, 16, 16, generator=keyed_generator("square")),
    )
    return {"mlp": perceptron, "conv": (convolutions[0], convolutions[1].double())}


@pytest.mark.parametrize("name", ["mlp", "conv"])
def test_betas_are_each_members_own(name):
    model, images = vaes()[name]
    betas = [1.0, 4.0, 0.3]
    settings = {"steps": 4, "checkpoints": 2, "batch_size": 8, "learning_rate": 1e-3, "progress": False}
    settings |= {"precision": "float64"}
    runs = fit_ensemble(
        model,
        Elbo(beta=0.3),
        images,
        [*(Member(objective=Elbo(beta=beta)) for beta in betas[:2]), Member()],
        **settings,
    )
    for run, beta in zip(runs, betas, strict=True):
        assert_alike(run, fit(model, Elbo(beta=beta), images, **settings))
        assert run.trajectory.objective["beta"] == beta


def test_one_model_for_each_member():
    runs = fit_coders(models=[Coder(seed) for seed in range(2)], members=[Member(), Member()])
    for run, seed in zip(runs, range(2), strict=True):
        assert_alike(run, fit_member(Member(), model=Coder(seed)))


def test_a_function_makes_the_models_from_the_members_seeds():
    def make(generator):
        return MLPVAE(5, 2, generator=generator)

    images = samples.sigmoid()
    settings = {"steps": 3, "checkpoints": [0, 3], "precision": "float64", "progress": False}
    runs = fit_ensemble(make, Elbo(), images, [Member(seed=5), Member(seed=6)], **settings)
    assert_alike(runs[1], fit(make(keyed_generator(6, "initialisation")), Elbo(), images, seed=6, **settings))


@pytest.mark.parametrize("step", [7, 14, 28])
def test_a_stopped_ensemble_ends_in_the_same_bits(tmp_path, step):
    whole = fit_coders(optimizer="adam")
    with pytest.raises(Killed):
        fit_coders(optimizer="adam", directory=tmp_path, progress=killed_at(step))
    for run, expected in zip(fit_coders(optimizer="adam", directory=tmp_path), whole, strict=True):
        assert_same_runs(run, expected)
        assert Trajectory.load(run.directory).fingerprint() == expected.trajectory.fingerprint()


def test_members_of_which_one_is_ahead_go_on_from_what_they_share(tmp_path):
    whole = fit_coders(optimizer="adam")
    behind, ahead = tmp_path / "behind", tmp_path / "ahead"
    with pytest.raises(Killed):
        fit_coders(optimizer="adam", directory=behind, progress=killed_at(7))
    with pytest.raises(Killed):
        fit_coders(optimizer="adam", directory=ahead, progress=killed_at(14))
    # As if the process had died between two manifests: the files of the checkpoint before are there still.
    (behind / "member-0002").rename(tmp_path / "old")
    for path in behind.glob("member-*"):
        for file in (ahead / path.name).iterdir():
            file.rename(path / file.name)
    (tmp_path / "old").rename(behind / "member-0002")
    for run, expected in zip(fit_coders(optimizer="adam", directory=behind), whole, strict=True):
        assert_same_runs(run, expected)


def test_a_finished_ensemble_is_returned_at_once(tmp_path):
    whole = fit_coders(directory=tmp_path)
    for run, expected in zip(fit_coders(directory=tmp_path, progress=killed_at(0)), whole, strict=True):
        assert_same_runs(run, expected)
    assert np.load(tmp_path / "member-0002" / "subset.npy").tolist() == list(range(3, 20))


def test_another_member_in_the_folder_is_refused(tmp_path):
    fit_coders(directory=tmp_path)
    with pytest.raises(ValueError, match=r"subset is sha256:.* there, None here"):
        fit_coders(directory=tmp_path, members=[*MEMBERS[:2], Member(seed=2), MEMBERS[3]])
    with pytest.raises(ValueError, match="members is 4 there, 1 here"):
        fit_coders(directory=tmp_path, members=MEMBERS[:1])


def test_what_a_member_saw_can_be_drawn_again():
    run = fit_coders()[2]
    stream = Stream.from_description(run.trajectory.training["stream"])
    assert stream.sample_count == 17
    assert stream.step(29)[0].max() < 17


def test_a_member_that_leaves_the_numbers_is_named():
    loss = objective(explode, (2,), per_sample_noise=True)
    members = [Member(learning_rate=1e-9), Member(learning_rate=0.9)]
    with pytest.raises(DivergedError, match=r"The loss of member 1 became (nan|inf) at step \d+ .* rate 0.9"):
        fit_coders(objective=loss, members=members)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"members": []}, "`members` must hold at least one"),
        ({"models": [Coder()]}, "one for each of the 4 members, got 1"),
        (
            {"models": [Coder(), Coder(), Coder(), Wandering()]},
            "model 3 differs from model 0 in scale, frozen",
        ),
        ({"members": [Member(subset=[0.5])]}, "`subset` must be positions of samples in one axis"),
        ({"members": [Member(subset=np.ones(23, bool))]}, "For a mask use"),
        ({"members": [Member(subset=[])]}, "`subset` must be positions"),
        ({"members": [Member(subset=[0, 23])]}, "positions from 0 to 22, got 0 to 23"),
        ({"members": [Member(subset=[1, 2, 3]), Member()]}, "Use `batch_size=3` or less"),
        ({"members": [Member(learning_rate=-1.0)]}, "`learning_rate` must be a positive number"),
        ({"members": [Member(), Member(objective=shared_noise)]}, "must be the same, or ELBOs that differ"),
        ({"members": [Member(objective=Elbo()), Member(objective=Elbo(part="kl"))]}, re.escape("[0, 1]")),
    ],
)
def test_what_makes_no_sense_is_refused_for_ensembles(changes, message):
    with pytest.raises(ValueError, match=message):
        fit_coders(**changes)
