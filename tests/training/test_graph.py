"""Steps captured in CUDA graphs; these run where there is a GPU."""

from dataclasses import replace

import pytest
import torch
from test_ensemble import fit_coders
from test_fit import Wandering, wandering
from test_resume import Killed, killed_at
from training_toys import code_and_decode, fit_coder

from proponent.models import MLPVAE, ConvVAE
from proponent.objectives import Elbo, objective
from proponent.training import Member, Optimizer, Tactics, fit, fit_ensemble

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")

ONE_BY_ONE = Tactics(cuda_graph=False, split=False, channels_last=False)
TACTICS = [
    Tactics(),
    Tactics(split=False),
    Tactics(cuda_graph=False),
    Tactics(steps_per_replay=3, lanes=1),
    Tactics(steps_per_replay=1, lanes=4),
]
OPTIMIZERS = ["sgd", Optimizer("sgd", momentum=0.8), "adam"]


def assert_alike(run, other, rtol=1e-9):
    ours, theirs = run.model.state_dict(), other.model.state_dict()
    torch.testing.assert_close(ours, theirs, rtol=rtol, atol=rtol)
    assert run.losses == pytest.approx(other.losses, rel=rtol)


@pytest.mark.parametrize("optimizer", OPTIMIZERS, ids=["sgd", "momentum", "adam"])
@pytest.mark.parametrize("tactics", TACTICS, ids=str)
def test_graphs_make_the_steps_of_single_ones(tactics, optimizer):
    run, other = (
        fit_coder(device="cuda", optimizer=optimizer, tactics=each) for each in (tactics, ONE_BY_ONE)
    )
    assert_alike(run, other)


@pytest.mark.parametrize("tactics", TACTICS, ids=str)
def test_graphs_make_the_steps_of_an_ensemble(tactics):
    runs, others = (fit_coders(device="cuda", tactics=each) for each in (tactics, ONE_BY_ONE))
    for run, other in zip(runs, others, strict=True):
        assert_alike(run, other)


@pytest.mark.parametrize("tactics", TACTICS, ids=str)
def test_graphs_train_convolutions(tactics):
    images = torch.rand(40, 1, 16, 16, generator=torch.Generator().manual_seed(0)).double()
    run, other = (
        fit(
            ConvVAE(4, channels=1, size=16), Elbo(), images, steps=20, checkpoints=2, batch_size=8,
            learning_rate=1e-3, precision="float64", device="cuda", tactics=each, progress=False,
        )
        for each in (tactics, ONE_BY_ONE)
    )  # fmt: skip
    assert_alike(run, other)


def test_members_with_betas_of_their_own():
    images = torch.rand(40, 6, generator=torch.Generator().manual_seed(0)).double()
    members = [Member(seed=0, objective=Elbo(beta=2.0)), Member(seed=1)]
    runs, others = (
        fit_ensemble(
            MLPVAE(6, 2), Elbo(), images, members, steps=20, checkpoints=2, batch_size=8,
            learning_rate=1e-3, precision="float64", device="cuda", tactics=each, progress=False,
        )
        for each in (Tactics(), ONE_BY_ONE)
    )  # fmt: skip
    for run, other in zip(runs, others, strict=True):
        assert_alike(run, other)


@pytest.mark.parametrize("precision", ["float32", "tf32", "bfloat16"])
def test_rounded_steps_stay_near(precision):
    run, other = (
        fit_coder(device="cuda", precision=each, tactics=tactics)
        for each, tactics in ((precision, Tactics()), ("float64", ONE_BY_ONE))
    )
    assert run.losses == pytest.approx(other.losses, rel=0.05)


def test_a_stopped_training_goes_on(tmp_path):
    settings = {"device": "cuda", "optimizer": "adam", "model": Wandering(), "objective": wandering}
    whole = fit_coder(**settings)
    with pytest.raises(Killed):
        fit_coder(**settings, directory=tmp_path, progress=killed_at(21))
    again = fit_coder(**settings, directory=tmp_path)
    assert again.losses[0] == pytest.approx(whole.losses[0])
    assert len(again.trajectory) == len(whole.trajectory)


def test_a_stopped_training_without_layers_that_draw_goes_on_to_the_same(tmp_path):
    whole = fit_coder(device="cuda", optimizer="adam")
    with pytest.raises(Killed):
        fit_coder(device="cuda", optimizer="adam", directory=tmp_path, progress=killed_at(21))
    assert_alike(fit_coder(device="cuda", optimizer="adam", directory=tmp_path), whole)


def test_another_device_is_another_training(tmp_path):
    with pytest.raises(Killed):
        fit_coder(directory=tmp_path, progress=killed_at(14))
    with pytest.raises(ValueError, match=r"stream is .*cpu.* there, .*cuda.* here"):
        fit_coder(directory=tmp_path, device="cuda")


def test_a_loss_that_reads_numbers_back_can_not_be_captured():
    def peeking(model, x, noise):
        losses = code_and_decode(model, x, noise)
        return losses * (1 if losses.sum().item() > 0 else 2)

    loss = objective(peeking, (2,), per_sample_noise=True)
    with pytest.raises(RuntimeError, match=r"can't be captured in a CUDA graph"):
        fit_coder(device="cuda", objective=loss)
    fit_coder(device="cuda", objective=loss, tactics=replace(Tactics(), cuda_graph=False))
