import numpy as np
import pytest

from proponent.runs import Prepared, Scaling, Settings
from proponent.runs._automatic import complete


def samples(n, *shape, likelihood="bernoulli"):
    values = np.broadcast_to(
        np.linspace(0, 1, n, dtype=np.float32).reshape(n, *[1] * len(shape)), (n, *shape)
    )
    return Prepared(values, Scaling(), likelihood)


def test_every_setting_is_spelt_out():
    tables = complete(Settings(device="cpu"), samples(2000, 3, 32, 32))
    assert tables == {
        "model": {"name": "mlp", "latent_dim": 16},
        "objective": {"beta": 1.0, "likelihood": "bernoulli", "scale": 1.0},
        "training": {
            "steps": 3125,
            "checkpoints": 10,
            "optimizer": "adam",
            "learning_rate": 1e-3,
            "batch_size": 64,
            "draws": 1,
            "seed": 0,
            "precision": "float32",
            "device": "cpu",
        },
    }


@pytest.mark.parametrize(
    ("n", "shape", "settings", "steps"),
    [
        (100, (3, 32, 32), Settings(device="cpu"), 2000),
        (60_000, (1, 4, 4), Settings(device="cpu"), 10_000),
        (20_000, (3, 64, 64), Settings(device="cpu"), 2500),
        (20_000, (3, 64, 64), Settings(device="cpu", model="conv"), 1500),
        (60_000, (1, 4, 4), Settings(device="cuda"), 20_000),
        (2000, (4,), Settings(device="cpu", batch_size=32), 6250),
        (100, (4,), Settings(device="cpu", steps=7), 7),
    ],
)
def test_steps_follow_from_the_data_and_the_machine(n, shape, settings, steps):
    training = complete(settings, samples(n, *shape))["training"]
    assert training["steps"] == steps
    assert training["checkpoints"] <= steps


@pytest.mark.parametrize(
    ("shape", "device", "model"),
    [
        ((3, 32, 32), "cuda", "conv"),
        ((3, 32, 32), "cpu", "mlp"),
        ((1, 28, 28), "cuda", "mlp"),
        ((1, 16, 16), "cuda", "mlp"),
        ((12,), "cuda", "mlp"),
    ],
)
def test_convolutions_where_they_fit_and_there_is_a_gpu(shape, device, model):
    assert complete(Settings(device=device), samples(4, *shape))["model"]["name"] == model


def test_few_features_get_few_latent_dimensions():
    assert complete(Settings(), samples(4, 6))["model"]["latent_dim"] == 3
    assert complete(Settings(), samples(4, 1))["model"]["latent_dim"] == 1


def test_the_scale_is_half_the_spread():
    prepared = samples(100, 4, likelihood="gaussian")
    assert complete(Settings(), prepared)["objective"]["scale"] == pytest.approx(
        prepared.values.std() / 2, rel=1e-2
    )
    assert complete(Settings(scale=3.0), prepared)["objective"]["scale"] == 3.0
    still = Prepared(np.zeros((4, 2), np.float32), Scaling(), "gaussian")
    assert complete(Settings(), still)["objective"]["scale"] == 1.0


def test_what_is_not_asked_for_stays_as_in_the_run_that_is_there():
    there = complete(Settings(steps=9, model="conv", seed=3, beta=2.0), samples(4, 3, 32, 32))
    again = complete(Settings(seed=4), samples(4, 3, 32, 32), there)
    assert again["model"]["name"] == "conv"
    assert (again["training"]["steps"], again["training"]["seed"]) == (9, 4)
    assert again["objective"]["beta"] == 2.0
