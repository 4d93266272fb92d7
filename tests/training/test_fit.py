import math

import numpy as np
import pytest
import torch
from torch import nn
from training_toys import (
    Coder,
    assert_same_runs,
    assert_same_tensors,
    code_and_decode,
    fit_coder,
    own_noise,
    samples,
    shared_noise,
)

from proponent.objectives import objective
from proponent.training import DivergedError, Optimizer, Stream, fit
from proponent.training._fit import checked_samples


def reference(make_optimizer, steps=40, batch=6, draws=2):
    """The same training by torch's own optimiser, over the stream's batches and noise."""
    model, losses = Coder(), []
    optimizer = make_optimizer([p for p in model.parameters() if p.requires_grad])
    stream = Stream(0, len(samples), batch, (batch, draws, 2), dtype=torch.float64)
    for step in range(steps):
        positions, noise = stream.step(step)
        optimizer.zero_grad()
        loss = code_and_decode(model, samples[positions], noise).mean()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return model, losses


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        ("sgd", lambda p: torch.optim.SGD(p, lr=0.02)),
        (Optimizer("sgd", momentum=0.7), lambda p: torch.optim.SGD(p, lr=0.02, momentum=0.7)),
        ("adam", lambda p: torch.optim.Adam(p, lr=0.02)),
        (
            Optimizer("adam", betas=(0.5, 0.8), eps=0.1),
            lambda p: torch.optim.Adam(p, lr=0.02, betas=(0.5, 0.8), eps=0.1),
        ),
    ],
    ids=["sgd", "momentum", "adam", "adam-other-constants"],
)
def test_steps_are_those_of_torch(ours, theirs):
    run = fit_coder(optimizer=ours)
    model, losses = reference(theirs)
    for name, parameter in model.named_parameters():
        torch.testing.assert_close(run.model.get_parameter(name), parameter, rtol=1e-11, atol=1e-13)
    means = [np.mean(losses[first : first + 7]) for first in range(0, 40, 7)]
    np.testing.assert_allclose(run.losses, means, rtol=1e-12)
    assert run.loss_steps.tolist() == [7, 14, 21, 28, 35, 40]


def test_adams_second_moments_are_torchs():
    run = fit_coder(optimizer="adam", checkpoints=[40])
    kept = {}
    model, _ = reference(lambda p: kept.setdefault("adam", torch.optim.Adam(p, lr=0.02)))
    moments = run.trajectory[0].second_moments()
    torch.testing.assert_close(
        moments["encoder.0.weight"],
        kept["adam"].state[model.encoder[0].weight]["exp_avg_sq"],
        rtol=1e-10,
        atol=0,
    )
    assert (moments["unused"] == 0).all()
    assert "frozen" not in moments


def test_sgd_keeps_no_moments():
    assert fit_coder().trajectory[0].second_moments() is None


def test_training_leaves_the_model_passed_as_it_was():
    model = Coder()
    run = fit_coder(model=model)
    assert_same_tensors(dict(model.state_dict()), dict(Coder().state_dict()))
    assert model.training
    assert not run.model.training
    assert torch.equal(run.model.frozen, model.frozen)
    assert torch.equal(run.model.unused, model.unused)
    assert not torch.equal(run.model.scale, model.scale)


def test_the_trajectory_says_how_it_was_trained():
    trajectory = fit_coder(seed=4, directory=None).trajectory
    assert [(each.step, each.steps, each.learning_rate) for each in trajectory] == [
        (10, 10, 0.02),
        (20, 10, 0.02),
        (30, 10, 0.02),
        (40, 10, 0.02),
    ]
    assert trajectory.sample_count == 23
    assert trajectory.batch_size == 6
    assert trajectory.seed == 4
    assert trajectory.objective["objective"].endswith("code_and_decode")
    assert trajectory.weights("physical") == (0.02 * 10 / 23,) * 4
    assert trajectory.training["stream"] == Stream(4, 23, 6, (6, 2, 2), dtype=torch.float64).describe()
    trajectory.check_fits(Coder())


def test_the_last_checkpoint_is_the_trained_model():
    run = fit_coder()
    assert_same_tensors(run.trajectory[-1].state(), dict(run.model.state_dict()))


def test_checkpoints_at_chosen_steps_from_the_very_beginning():
    trajectory = fit_coder(checkpoints=[0, 3, 40]).trajectory
    assert [(each.step, each.steps) for each in trajectory] == [(0, 0), (3, 3), (40, 37)]
    assert_same_tensors(trajectory[0].state(), dict(Coder().state_dict()))


def test_checkpoints_and_the_log_do_not_change_what_is_trained():
    one, other = fit_coder(), fit_coder(checkpoints=[11, 40], log_every=1)
    assert_same_tensors(dict(one.model.state_dict()), dict(other.model.state_dict()))


@pytest.mark.parametrize(
    "changes", [{"seed": 1}, {"objective": shared_noise}, {"draws": 1}, {"batch_size": 5}]
)
def test_what_should_matter_does(changes):
    assert not torch.equal(fit_coder().model.scale, fit_coder(**changes).model.scale)


def test_a_batch_is_at_most_all_samples():
    trajectory = fit_coder(batch_size=100, steps=3, checkpoints=1).trajectory
    assert trajectory.batch_size == 23


def test_single_precision_by_name():
    run = fit_coder(precision="float32")
    assert run.model.scale.dtype == torch.float32
    torch.testing.assert_close(run.model.scale.double(), fit_coder().model.scale, rtol=1e-4, atol=1e-5)
    assert fit_coder(model=Coder().float()).model.scale.dtype == torch.float32


def test_half_precision_sees_new_parameters_at_every_step():
    rough, exact = fit_coder(precision="bfloat16", model=Coder().float()), fit_coder()
    torch.testing.assert_close(rough.model.scale.double(), exact.model.scale, rtol=0.05, atol=0.05)


def test_samples_may_be_arrays_tuples_and_dicts():
    def loss(model, batch, noise):
        return code_and_decode(model, batch["x"][0] + batch["shift"][:, None], noise)

    run = fit_coder(
        objective=objective(loss, (2,), per_sample_noise=True),
        samples={"x": (samples.numpy(),), "shift": np.zeros(23)},
    )
    assert_same_tensors(dict(run.model.state_dict()), dict(fit_coder().model.state_dict()))


class Wandering(nn.Module):
    """Has a layer with running statistics, one that draws, and a tied weight."""

    def __init__(self):
        super().__init__()
        self.first = nn.Linear(5, 5).double()
        self.norm = nn.BatchNorm1d(5).double()
        self.drop = nn.Dropout(0.5)
        self.second = nn.Linear(5, 5).double()
        self.second.weight = self.first.weight
        with torch.no_grad():
            self.first.weight.copy_(torch.eye(5))
            self.first.bias.zero_()
            self.second.bias.zero_()

    def forward(self, x):
        return self.second(self.drop(self.norm(self.first(x))))


wandering = objective(lambda model, batch, noise: (model(batch) - batch).square().sum(1))


def test_dropout_is_keyed_and_the_users_generator_left_alone():
    model = Wandering()
    state = torch.get_rng_state()
    one = fit_coder(model=model, objective=wandering)
    assert torch.equal(torch.get_rng_state(), state)
    torch.rand(3)
    assert_same_runs(one, fit_coder(model=model, objective=wandering))
    statistics = one.trajectory[0].state()["norm.running_mean"]
    assert not torch.equal(statistics, model.norm.running_mean)


def test_progress_is_told_to_a_function():
    told = []
    run = fit_coder(progress=lambda step, loss: told.append((step, loss)))
    assert told == list(zip(run.loss_steps.tolist(), run.losses.tolist(), strict=True))


def test_a_bar_stays_hidden_where_there_is_no_terminal(capsys):
    fit_coder(progress=True)
    assert capsys.readouterr().err == ""


def test_the_log_has_two_hundred_entries_by_default():
    assert len(fit_coder(steps=400, log_every=None, checkpoints=1).losses) == 200


def explode(model, x, noise):
    return code_and_decode(model, x, noise) * model.scale.exp().exp()


@pytest.mark.parametrize("directory", [False, True])
def test_a_loss_that_leaves_the_numbers_stops_the_training(tmp_path, directory):
    changes = {
        "objective": objective(explode, (2,), per_sample_noise=True),
        "learning_rate": 0.9,
        "checkpoints": [1, 40],
        "directory": tmp_path if directory else None,
    }
    with pytest.raises(
        DivergedError,
        match=r"The loss became (nan|inf) at step \d+ \(looked at after step \d+\) with learning rate 0.9.",
    ) as caught:
        fit_coder(**changes)
    assert caught.value.learning_rate == 0.9
    assert caught.value.checkpoint.step == 1
    assert "The last good checkpoint is that of step 1" in str(caught.value)
    assert (str(tmp_path) in str(caught.value)) == directory
    step = caught.value.step
    with pytest.raises(
        DivergedError, match=f"became (nan|inf) at step {step} .* No checkpoint had been made"
    ):
        fit_coder(**changes | {"checkpoints": 1, "log_every": 1, "directory": None})


def test_parameters_that_leave_the_numbers_are_not_kept():
    root = objective(lambda model, x, noise: (model.scale - 1).sqrt() + 0 * x[:, 0])  # slope ∞ at its minimum
    with pytest.raises(DivergedError, match=r"The parameters scale are not finite after step 1"):
        fit_coder(objective=root, checkpoints=[1, 40])


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"steps": 0}, "`steps` must be at least 1, got 0"),
        ({"batch_size": 0}, "`batch_size` must be at least 1"),
        ({"draws": 0}, "`draws` must be at least 1"),
        ({"log_every": 0}, "`log_every` must be at least 1"),
        ({"checkpoints": 0}, "`checkpoints` must be between 1 and the 40 steps, got 0"),
        ({"checkpoints": 41}, "between 1 and the 40 steps"),
        ({"checkpoints": [10, 20]}, "end with the last, 40"),
        ({"checkpoints": [20, 10, 40]}, "steps that increase"),
        ({"checkpoints": []}, "`checkpoints` must be a number, or steps"),
        ({"learning_rate": 0.0}, "`learning_rate` must be a positive number, got 0"),
        ({"learning_rate": math.inf}, "`learning_rate` must be a positive number"),
        ({"optimizer": "lion"}, "`optimizer` must be one of"),
        ({"optimizer": "unknown"}, '`optimizer` must be "sgd" or "adam"'),
        ({"precision": "float16"}, "`precision` must be one of"),
        ({"model": Coder().half()}, "must all be float32 or all float64, got torch.float16"),
        ({"model": nn.ReLU()}, "must have a parameter with `requires_grad`, got none"),
        ({"samples": samples.where(samples < 1, torch.nan)}, "`samples` must be finite"),
        (
            {"objective": objective(lambda model, x, noise: model.decoder(model.encoder(x)).square().mean())},
            r"got \[\]",
        ),
        (
            {"objective": objective(lambda model, x, noise: model.encoder(x).square())},
            r"must return one loss a sample, \[6\] for this batch, got \[6, 2\]",
        ),
    ],
)
def test_what_makes_no_sense_is_refused(changes, message):
    with pytest.raises(ValueError, match=message):
        fit_coder(**changes)


def test_a_plain_function_is_no_objective():
    with pytest.raises(
        TypeError, match=r"must be an objective, .* got a function\. .*`pp.objective\(function\)`"
    ):
        checked_samples(samples, own_noise, explode)


@pytest.mark.parametrize(("steps", "kept"), [(10, 10), (60, 30)])
def test_there_are_thirty_checkpoints_by_default_or_one_a_step(steps, kept):
    run = fit(Coder(), own_noise, samples, steps=steps, progress=False)
    assert len(run.trajectory) == kept
    assert run.trajectory[-1].step == steps


def test_the_objective_checks_the_samples():
    from proponent.models import MLPVAE
    from proponent.objectives import Elbo

    with pytest.raises(ValueError, match=r"must lie in \[0, 1\]"):
        fit(MLPVAE(5, 2), Elbo(), samples, steps=1, checkpoints=1)


def test_a_vae_learns():
    from proponent.models import MLPVAE
    from proponent.objectives import Elbo

    images = (samples > 0).float()
    run = fit(MLPVAE(5, 2), Elbo(), images, steps=300, checkpoints=3, learning_rate=0.01, optimizer="adam")
    assert run.losses[-20:].mean() < 0.9 * run.losses[:20].mean()


def test_own_noise_differs_between_samples():
    assert fit_coder(objective=own_noise).trajectory.training["stream"]["noise_shape"] == [6, 2, 2]
    assert fit_coder(objective=shared_noise).trajectory.training["stream"]["noise_shape"] == [2, 2]
