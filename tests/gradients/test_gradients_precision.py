"""A precision holds within its block, and leaves the process as it was."""

from dataclasses import dataclass

import pytest
import torch
from gradient_cases import captured
from torch import nn

from proponent.gradients import (
    PRECISIONS,
    Block,
    GradientCapture,
    Gradients,
    inner_products,
    paired_products,
    prepare_queries,
)
from proponent.objectives import objective
from proponent.precision import check_precision, parameter_dtype, passes, products, tf32_is_allowed
from toys import TOYS, per_sample, plain, x4

CPU = torch.device("cpu")
STATES = [(False, True), (True, False), (True, True), (False, False)]


def settings():
    return (
        torch.backends.cuda.matmul.allow_tf32,
        torch.backends.cudnn.allow_tf32,
        torch.is_autocast_enabled("cpu"),
    )


@pytest.fixture(params=STATES)
def before(request):
    """Each state that a process may be in, put back after the test."""
    found = settings()
    torch.backends.cuda.matmul.allow_tf32, torch.backends.cudnn.allow_tf32 = request.param
    yield settings()
    torch.backends.cuda.matmul.allow_tf32, torch.backends.cudnn.allow_tf32 = found[:2]


INSIDE = {
    "float64": (False, False, False),
    "float32": (False, False, False),
    "tf32": (True, True, False),
    "bfloat16": (True, True, True),
}


def test_every_precision_is_pinned():
    assert tuple(INSIDE) == PRECISIONS
    assert [parameter_dtype(name) for name in PRECISIONS] == [torch.float64] + 3 * [torch.float32]


@pytest.mark.parametrize("name", PRECISIONS)
def test_settings_hold_within_and_are_put_back(name, before):
    with passes(name, CPU):
        assert settings() == INSIDE[name]
        if name == "bfloat16":
            assert torch.get_autocast_dtype("cpu") == torch.bfloat16
            assert (torch.ones(2, 2) @ torch.ones(2, 2)).dtype == torch.bfloat16
        with passes("float32", CPU):
            assert settings() == INSIDE["float32"]
        assert settings() == INSIDE[name]
    assert settings() == before
    with products(name):
        assert settings() == (*INSIDE[name][:2], False)
    assert settings() == before


def test_settings_by_their_newer_name_are_understood_and_put_back(before):
    matmul = torch.backends.cuda.matmul
    matmul.fp32_precision = "tf32"
    assert tf32_is_allowed()
    with products("float32"):
        assert settings() == INSIDE["float32"]
    assert matmul.fp32_precision == "tf32"


def fail(block):
    with block:
        raise RuntimeError("stopped")


@pytest.mark.parametrize("name", PRECISIONS)
def test_settings_are_put_back_after_an_exception(name, before):
    for block in (passes(name, CPU), products(name)):
        with pytest.raises(RuntimeError, match="stopped"):
            fail(block)
        assert settings() == before


def test_precisions_that_are_not_there():
    for name in PRECISIONS:
        check_precision(name)
    message = r"`precision` must be one of float64, float32, tf32, bfloat16, got 'float16'\."
    with pytest.raises(ValueError, match=message):
        check_precision("float16")
    with pytest.raises(ValueError, match=message):
        GradientCapture(nn.Linear(4, 3), plain, precision="float16")


def watched(seen, error=False):
    def loss(model, x, noise):
        if error and len(x) == 5:
            raise RuntimeError("stopped")
        seen.append(settings())
        return per_sample(model(x)).float()

    return objective(loss)


@pytest.mark.parametrize("name", ["float32", "tf32", "bfloat16"])
def test_a_capture_probes_in_full_precision_and_passes_in_its_own(name, before):
    seen = []
    capture = GradientCapture(nn.Linear(4, 3), watched(seen), precision=name)
    capture(x4, None)
    assert settings() == before
    first, *probing = seen
    assert first == INSIDE[name]
    assert set(probing) == {INSIDE["float32"]}
    seen.clear()
    capture(x4, None)
    assert seen == [INSIDE[name]]
    seen.clear()
    GradientCapture(nn.Linear(4, 3), watched(seen), precision=name).prepare(x4, None)
    *checking, own = seen
    assert set(checking) == {INSIDE["float32"]}
    assert own == INSIDE[name]
    assert settings() == before


def test_a_capture_puts_settings_back_after_an_exception(before):
    capture = GradientCapture(nn.Linear(4, 3), watched([], error=True), precision="bfloat16")
    capture.prepare(x4[:4], None)
    with pytest.raises(RuntimeError, match="stopped"):
        capture(x4, None)
    assert settings() == before


@dataclass(frozen=True, eq=False)
class Watched(Block):
    """A block that notes the settings under which its numbers are formed."""

    seen: list

    samples, size = 3, 2

    def gradients(self):
        self.seen.append(settings()[:2])
        return (torch.ones(3, 2, dtype=torch.float64),)

    def select(self, start, stop):
        raise NotImplementedError


@pytest.mark.parametrize("name", ["float32", "tf32"])
def test_products_are_made_in_the_precision_of_the_gradients(name, before):
    block = Watched(("weight",), [])
    gradients = Gradients((block,), torch.zeros(3).double(), {"weight": 2}, name)
    for compute in (
        lambda: inner_products(gradients, gradients),
        lambda: paired_products(gradients, gradients),
        lambda: prepare_queries(gradients),
        gradients.by_parameter,
        gradients.densify,
    ):
        block.seen.clear()
        compute()
        assert set(block.seen) == {INSIDE[name][:2]}
        assert settings() == before


@pytest.mark.parametrize("name", PRECISIONS)
def test_numbers_have_the_dtype_of_the_precision(name):
    toy = TOYS["mlp-vae"]
    found = captured(toy, precision=name)(toy.samples, toy.noise)
    assert found.losses.dtype == parameter_dtype(name)
    assert inner_products(found, found).dtype == parameter_dtype(name)
