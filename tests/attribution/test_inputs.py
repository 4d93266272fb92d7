import pytest
import torch

import proponent as pp
from proponent import Elbo, TracIn, objective

MODEL = torch.nn.Linear(3, 2).double()
X = torch.rand(4, 3, dtype=torch.float64)
PATH = pp.Trajectory.from_state_dicts([MODEL.state_dict()], steps=[1], learning_rates=[1.0], sample_count=4)


def weighted(weight):
    return lambda model, batch, noise: weight * model(batch).square().sum(1)


def tracin(loss):
    return TracIn(MODEL, loss, PATH, precision="float64", device="cpu")


def test_a_plain_function_is_no_objective():
    with pytest.raises(TypeError, match=r"got a function\. Make one of a function .* by `pp\.objective\("):
        tracin(weighted(1.0))


def test_functions_that_differ_in_what_they_hold_have_folders_of_their_own(tmp_path):
    first = tracin(objective(weighted(1.0))).self_influence(X, directory=tmp_path)
    again = tracin(objective(weighted(1.0))).self_influence(X, directory=tmp_path)
    assert (first.values == again.values).all()
    with pytest.raises(ValueError, match="`directory` must be empty or hold the same job"):
        tracin(objective(weighted(5.0))).self_influence(X, directory=tmp_path)


def test_a_function_that_cannot_be_told_from_others_needs_a_name_for_a_folder(tmp_path):
    opaque = torch.Generator()

    def loss(model, batch, noise):
        assert opaque is not None
        return model(batch).square().sum(1)

    assert tracin(objective(loss)).self_influence(X).facts["objective"]["identified"] is False
    message = r"can be told from others, but `.*loss` holds values .* Name it by `objective\(\.\.\., name="
    with pytest.raises(ValueError, match=message):
        tracin(objective(loss)).self_influence(X, directory=tmp_path)
    named = objective(loss, name="mine")
    assert len(tracin(named).self_influence(X, directory=tmp_path)) == 4


def test_scores_are_in_the_unit_of_the_loss():
    assert tracin(objective(weighted(1.0))).self_influence(X).unit == "units of the loss"
    vae = pp.models.MLPVAE(3, 2).double()
    path = pp.Trajectory.from_state_dicts([vae.state_dict()], steps=[1], learning_rates=[1.0], sample_count=4)
    for likelihood, unit in (("bernoulli", "nats"), ("squared-error", "units of the loss")):
        method = TracIn(vae, Elbo(likelihood=likelihood), path, draws=2, precision="float64", device="cpu")
        assert method.self_influence(X).unit == unit
