import functools
import subprocess
import sys
from dataclasses import dataclass

import numpy as np
import pytest
import torch

from proponent.objectives._identity import identity

SCALE = 2.0


def scaled(model, batch, noise):
    return SCALE * model(batch).sum(1)


def twice(model, batch, noise):
    return 2 * scaled(model, batch, noise)


def recursive(model, batch, noise):
    return recursive(model, batch[1:], noise)


def closed_over(value):
    return lambda model, batch, noise: model(batch).sum(1) * value


def with_default(value):
    def loss(model, batch, noise, weight=value, *, power=value):
        return weight * model(batch).sum(1) ** power

    return loss


class Loss:
    kind = "sum"

    def __init__(self, weight):
        self.weight = weight

    def __call__(self, model, batch, noise):
        return self.value(model(batch))

    def value(self, outputs):
        return self.weight * outputs.sum(1)

    @staticmethod
    def still(model, batch, noise):
        return model(batch).sum(1)

    @property
    def half(self):
        return self.weight / 2


class Slotted:
    __slots__ = ("weight",)

    def __init__(self, weight):
        self.weight = weight

    def __call__(self, model, batch, noise):
        return self.weight * model(batch).sum(1)


class HeldInDict(Loss):
    __slots__ = ("other",)


@dataclass
class Record:
    weight: float = 1.0

    def __call__(self, model, batch, noise):
        return self.weight * model(batch).sum(1)


class Module(torch.nn.Module):
    def __init__(self, weight):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.full((2,), weight))


MAKERS = [
    closed_over,
    with_default,
    Loss,
    HeldInDict,
    Record,
    Module,
    lambda weight: functools.partial(scaled, weight=weight),
    lambda weight: Loss(weight).value,
    lambda weight: closed_over(torch.tensor([weight], dtype=torch.bfloat16)),
    lambda weight: closed_over(np.array([weight])),
    lambda weight: closed_over({"weight": [weight, {"of": {weight}}]}),
    lambda weight: closed_over(Loss(weight)),
    lambda weight: closed_over(functools.partial(torch.nn.functional.mse_loss, target=weight)),
]


@pytest.mark.parametrize("make", MAKERS)
def test_held_values_tell_functions_apart(make):
    assert identity(make(1.0)) is not None
    assert identity(make(1.0)) == identity(make(1.0))
    assert identity(make(1.0)) != identity(make(5.0))


def test_code_tells_functions_apart():
    functions = [
        lambda model, batch, noise: model(batch).sum(1),
        lambda model, batch, noise: model(batch).mean(1),
        lambda model, batch, noise: model(batch).sum(0),
        lambda model, batch, noise: [x.sum() for x in model(batch)],
        lambda model, batch, noise: [x.mean() for x in model(batch)],
        scaled,
        twice,
        recursive,
        Loss.still,
        torch.square,
        torch.abs,
        torch.nn.functional.mse_loss,
    ]
    found = [identity(function) for function in functions]
    assert None not in found
    assert len(set(found)) == len(found)


def test_the_globals_that_a_function_names_belong_to_it(monkeypatch):
    before = identity(scaled), identity(twice)
    monkeypatch.setattr(sys.modules[__name__], "SCALE", 3.0)
    assert identity(scaled) != before[0]
    assert identity(twice) != before[1]


def test_the_methods_of_a_class_belong_to_it(monkeypatch):
    before = identity(Loss(1.0))
    monkeypatch.setattr(Loss, "value", lambda self, outputs: outputs.mean(1))
    assert identity(Loss(1.0)) not in (before, None)


def test_a_value_that_holds_itself_ends():
    loss = Loss(1.0)
    loss.weight = [loss, loss]
    assert identity(loss) is not None


def test_another_process_finds_the_same():
    program = (
        "import test_identity as t; from proponent.objectives._identity import identity; "
        "print(*[identity(make(1.0)) for make in t.MAKERS], identity(t.twice))"
    )
    folder = str(__import__("pathlib").Path(__file__).parent)
    found = subprocess.run(
        [sys.executable, "-c", program], cwd=folder, capture_output=True, text=True, check=True
    )
    assert found.stdout.split() == [*(identity(make(1.0)) for make in MAKERS), identity(twice)]


def deep():
    value = []
    for _ in range(10**5):
        value = [value]
    return value


@pytest.mark.parametrize(
    "value", [torch.Generator(), np.random.default_rng(), object(), Slotted(1.0), np.array([None]), iter([])]
)
def test_what_cannot_be_seen_has_no_identity(value):
    assert identity(closed_over(value)) is None
    assert identity(closed_over(deep())) is None
