from dataclasses import replace

import pytest
import torch
from test_ensemble import fit_coders
from test_fit import Wandering, wandering
from torch import nn
from training_toys import fit_coder

import toys
from proponent.models import MLPVAE, ConvVAE
from proponent.objectives import Elbo, objective
from proponent.randomness import keyed_normal
from proponent.training import Member, Optimizer, Tactics, fit, fit_ensemble
from proponent.training._joined import JoinedBatches
from proponent.training._ledger import Ledger
from proponent.training._split import FusedSequential, split_layers
from proponent.training._split_convolution import SplitConvTranspose2d
from proponent.training._split_linear import SplitLinear
from proponent.training._stack import StackedModels
from toys import plain

SPLIT = Tactics(cuda_graph=False, channels_last=False)
PLAIN = replace(SPLIT, split=False)
OPTIMIZERS = ["sgd", Optimizer("sgd", momentum=0.8), "adam"]


def assert_alike(run, other):
    ours, theirs = run.model.state_dict(), other.model.state_dict()
    torch.testing.assert_close(ours, theirs, rtol=1e-10, atol=1e-12)


def assert_splits_like_plain(train):
    run, other = train(tactics=SPLIT), train(tactics=PLAIN)
    assert_alike(run, other)
    assert [type(module) for module in run.model.modules()] == [
        type(module) for module in other.model.modules()
    ]


@pytest.mark.parametrize("optimizer", OPTIMIZERS, ids=["sgd", "momentum", "adam"])
def test_split_layers_train_like_whole_ones(optimizer):
    assert_splits_like_plain(lambda **more: fit_coder(optimizer=optimizer, **more))


@pytest.mark.parametrize("optimizer", OPTIMIZERS, ids=["sgd", "momentum", "adam"])
def test_split_layers_train_like_whole_ones_in_an_ensemble(optimizer):
    runs = fit_coders(optimizer=optimizer, tactics=SPLIT)
    for run, other in zip(runs, fit_coders(optimizer=optimizer, tactics=PLAIN), strict=True):
        assert_alike(run, other)


# Weights that are used twice, tied, beside their module, or in other layers must not go straight.
SETTINGS = {"steps": 5, "checkpoints": 1, "batch_size": 3, "learning_rate": 0.01, "progress": False}


@pytest.mark.parametrize("name", toys.TOYS)
def test_every_toy_trains_as_whole(name):
    toy = toys.TOYS[name]
    model = toy.model()
    assert_splits_like_plain(lambda **more: fit(model, toy.objective, toy.samples, **SETTINGS, **more))


def test_batch_norm_and_a_tied_weight_train_as_whole():
    model = Wandering()
    assert_splits_like_plain(lambda **more: fit_coder(model=model, objective=wandering, **more))


@pytest.mark.parametrize(
    "tactics", [SPLIT, replace(SPLIT, channels_last=True), replace(PLAIN, channels_last=True)]
)
def test_convolutions_train_as_whole(tactics):
    model = ConvVAE(4, channels=1, size=16)
    images = torch.rand(9, 1, 16, 16, generator=torch.Generator().manual_seed(0)).double()
    run, other = (
        fit(model, Elbo(), images, **SETTINGS | {"learning_rate": 1e-3}, precision="float64", tactics=each)
        for each in (tactics, PLAIN)
    )
    assert_alike(run, other)
    assert run.trajectory[0].state()["encoder.0.weight"].is_contiguous()


def test_perceptrons_of_an_ensemble_train_as_whole():
    images = torch.rand(9, 6, generator=torch.Generator().manual_seed(0)).double()
    members = [Member(seed=0, objective=Elbo(beta=2.0)), Member(seed=1)]
    runs, others = (
        fit_ensemble(MLPVAE(6, 2), Elbo(), images, members, **SETTINGS, precision="float64", tactics=each)
        for each in (SPLIT, PLAIN)
    )
    for run, other in zip(runs, others, strict=True):
        assert_alike(run, other)


def test_the_layers_of_the_paper_are_split_and_fused():
    ledger = Ledger(torch.device("cpu"), lanes=2)
    twin, slots = split_layers(MLPVAE(6, 2), ledger, stacked=False)
    assert type(twin.encoder) is FusedSequential
    assert {type(layer) for layer in twin.encoder} == {SplitLinear, nn.ReLU}
    assert len(slots) == 8
    twin, slots = split_layers(ConvVAE(4, channels=1, size=16), ledger, stacked=False)
    assert sum(type(layer) is SplitConvTranspose2d for layer in twin.modules()) == 5
    assert len(slots) == sum(
        isinstance(m, nn.Linear | nn.Conv2d | nn.ConvTranspose2d) for m in twin.modules()
    )


def learn_stacked(model, loss, shape=(6,)):
    """Whether a learner joins two members' batches; its losses must be those of one that maps them."""
    learner, mapped = (
        StackedModels([model, model], [loss, loss], torch.device("cpu"), torch.float64) for _ in range(2)
    )
    ledger = Ledger(torch.device("cpu"), 1)
    learner.split_layers(ledger)
    learner.join_members(ledger)
    batch, draw = (
        keyed_normal((2, 5, *shape), "batch", dtype=torch.float64).sigmoid(),
        loss.noise_shape(model),
    )
    noise = None if draw is None else keyed_normal((2, 5, 3, *draw), "noise", dtype=torch.float64)
    close = {"rtol": 1e-12, "atol": 1e-12}
    torch.testing.assert_close(learner.losses(batch, noise), mapped.losses(batch, noise), **close)
    torch.testing.assert_close(learner.parameters, mapped.parameters, rtol=0, atol=0)
    assert not ledger.deferred
    return learner.joined is not None


def test_perceptrons_of_an_ensemble_share_a_batch():
    assert learn_stacked(MLPVAE(6, 2), Elbo(beta=2.0))
    assert learn_stacked(nn.Sequential(nn.Linear(6, 4), nn.Tanh(), nn.Linear(4, 2)), plain)


class SequenceFirst(nn.Module):
    """Puts another axis before that of the samples, where a stacked layer would take it for theirs."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(6, 3)

    def forward(self, x):
        return self.layer(x.transpose(0, 1)).transpose(0, 1)


@pytest.mark.parametrize(
    ("model", "shape"),
    [
        (SequenceFirst(), (4, 6)),
        (nn.Sequential(nn.Linear(6, 3), nn.Unflatten(0, (1, 5)), nn.Flatten(0, 1)), (6,)),
        (nn.Sequential(nn.Linear(6, 3), nn.LayerNorm(3)), (6,)),
        (nn.Sequential(nn.Linear(6, 3), nn.BatchNorm1d(3, affine=False)), (6,)),
    ],
    ids=["samples-not-first", "counts-its-samples", "parameters-elsewhere", "other-numbers"],
)
def test_models_that_samples_of_several_members_would_confuse_are_mapped(model, shape):
    assert not learn_stacked(model, plain, shape)


def test_a_device_out_of_memory_is_no_answer():
    parameters = {"weight": torch.zeros(2, 1, 3), "bias": torch.ones(2, 1)}

    def full(*arguments):
        raise torch.OutOfMemoryError("full")

    joined = JoinedBatches(nn.Linear(3, 1), parameters, full, None, Ledger(torch.device("cpu"), 1))
    with pytest.raises(torch.OutOfMemoryError, match="full"):
        joined.agrees(torch.ones(2, 4, 3), None, lambda: torch.ones(2, 4))
    assert parameters["weight"].eq(0).all()
    assert parameters["bias"].eq(1).all()


def test_noise_that_samples_share_keeps_members_apart():
    model = nn.Linear(5, 2).double()

    def loss(model, x, noise):
        return (model(x)[:, None] + noise).square().sum(2).mean(1)

    runs, others = (
        fit_coders(models=model, objective=objective(loss, (2,)), tactics=each) for each in (SPLIT, PLAIN)
    )
    for run, other in zip(runs, others, strict=True):
        assert_alike(run, other)


def test_layers_that_somebody_listens_to_stay_whole():
    model = nn.Sequential(nn.Linear(2, 2), nn.ReLU(), nn.Linear(2, 2))
    model[0].register_forward_hook(lambda module, inputs, output: output)
    model[2].bias.requires_grad_(False)
    twin, slots = split_layers(model, Ledger(torch.device("cpu"), 1), stacked=False)
    assert not slots
    assert type(twin[0]) is nn.Linear


def test_a_transposed_convolution_with_a_size_asked_for():
    class Sized(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.ConvTranspose2d(1, 1, 3, stride=2).double()

        def forward(self, x):
            return self.layer(x, output_size=[10, 10])

    model = Sized()
    loss = objective(lambda model, x, noise: model(x).square().flatten(1).sum(1))
    images = torch.rand(5, 1, 4, 4, dtype=torch.float64)
    assert_splits_like_plain(lambda **more: fit(model, loss, images, **SETTINGS, **more))


@pytest.mark.parametrize("name", ["lanes", "steps_per_replay"])
def test_tactics_are_checked(name):
    with pytest.raises(ValueError, match=f"`{name}` must be at least 1, got 0"):
        Tactics(**{name: 0})
