"""The check finds one wrong parameter, judges by the right measure and names it."""

import math
from dataclasses import replace

import pytest
import torch
from gradient_cases import captured, made
from torch import nn

from proponent.data import take
from proponent.gradients import Dense, GradientCapture
from proponent.gradients._check import check_against_autograd, check_rounding
from toys import TOYS, plain, x4

TOY = TOYS["mlp-vae"]


def spoilt(changes, precision="float64"):
    """Gradients of which some parameters were changed, each by a function of its numbers."""
    whole = captured(TOY, precision=precision)(take(TOY.samples, slice(0, 2)), TOY.noise)
    blocks = [
        Dense((name,), changes.get(name, lambda part: part)(part), (part.shape[1],))
        for name, part in whole.by_parameter().items()
    ]
    return replace(whole, blocks=tuple(blocks))


def check(gradients):
    capture = captured(TOY, precision=gradients.precision)
    parameters = dict(capture.model.named_parameters())
    sample, noise = capture._moved(take(TOY.samples, slice(0, 1)), TOY.noise)
    return check_against_autograd(capture.model, TOY.objective, parameters, gradients, sample, noise)


@pytest.mark.parametrize("name", [name for name, _ in TOY.model().named_parameters()])
def test_a_wrong_parameter_is_named(name):
    with pytest.raises(
        ValueError,
        match=rf"The gradient of `{name}` differs from autograd's by 1\.0e-0[67] of its norm, "
        r"where torch\.float64 allows 1e-08\..*please report it",
    ):
        check(spoilt({name: lambda part: part * (1 + 1e-6)}))


def test_the_first_sample_is_the_one_compared():
    def second(part):
        return torch.cat([part[:1], 2 * part[1:]])

    assert check(spoilt({"encoder.0.weight": second}))["relative_error"] < 1e-12


def test_errors_are_told_of_the_whole_and_of_the_worst():
    whole = captured(TOY)(take(TOY.samples, slice(0, 1)), TOY.noise)
    norm = whole.materialise().norm().item()
    parts = whole.by_parameter()
    sizes = {"decoder.2.weight": 3e-9, "decoder.2.bias": 4e-9}
    facts = check(spoilt({n: lambda part, e=e: part * (1 + e) for n, e in sizes.items()}))
    expected = math.hypot(*(parts[name].norm().item() * e for name, e in sizes.items())) / norm
    assert facts["relative_error"] == pytest.approx(expected, rel=1e-4)
    assert facts["worst_parameter"] == "decoder.2.bias"
    assert facts["worst_error"] == pytest.approx(4e-9, rel=1e-4)


@pytest.mark.parametrize(("precision", "allowed"), [("float64", 1e-8), ("float32", 1e-3)])
def test_what_each_precision_allows(precision, allowed):
    name = "decoder.2.weight"
    check(spoilt({name: lambda part: part * (1 + 0.9 * allowed)}, precision))
    with pytest.raises(ValueError, match=rf"`{name}`.*where torch\.{precision} allows {allowed:.0e}"):
        check(spoilt({name: lambda part: part * (1 + 1.1 * allowed)}, precision))


def test_a_parameter_that_is_not_there_is_wrong():
    gradients = spoilt({})
    with pytest.raises(ValueError, match=r"`encoder.0.weight` differs from autograd's by 1\.0e\+00"):
        check(replace(gradients, blocks=gradients.blocks[1:]))


@pytest.mark.parametrize("name", ["encoder.0.weight", "encoder.2.bias", "decoder.2.bias"])
def test_nan_is_wrong_wherever_it_stands(name):
    with pytest.raises(ValueError, match=rf"`{name}` differs from autograd's by nan"):
        check(spoilt({name: lambda part: part * float("nan")}))


def test_a_gradient_that_is_nan_for_autograd_too_is_refused():
    """A square root at zero: the loss is finite, and so is the gradient of the last layer's bias."""
    model = made(lambda m, x: m.b(torch.sqrt(m.a(x) * 0)), a=nn.Linear(4, 3), b=nn.Linear(3, 2))
    capture = GradientCapture(model, plain, precision="float64")
    with pytest.raises(ValueError, match=r"`a\.weight` differs.*by nan.*may hold NaN"):
        capture.prepare(x4, None)
    assert capture.facts == {}


def test_the_parameter_that_is_nan_is_named():
    """Its neighbours are finite, and stand before it and after."""
    model = made(
        lambda m, x: m.a(x) + torch.sqrt(m.b(x) * 0) + m.c(x),
        a=nn.Linear(4, 3),
        b=nn.Linear(4, 3),
        c=nn.Linear(4, 3),
    )
    with pytest.raises(ValueError, match=r"`b\.weight` differs.*by nan"):
        GradientCapture(model, plain, precision="float64").prepare(x4, None)


def test_a_parameter_whose_gradient_vanishes_is_judged_beside_the_others():
    model = nn.Linear(4, 3).double()
    scale = nn.Parameter(torch.ones((), dtype=torch.float64))
    small = made(lambda m, x: m.layer(x) + 1e-5 * m.scale, layer=model, scale=scale)
    capture = GradientCapture(small, plain, precision="float32")
    gradients = capture(x4, None)
    parts = gradients.by_parameter()
    whole = torch.cat([part[0] for part in parts.values()]).norm().item()
    tiny = parts["scale"][0].norm().item()
    wrong = replace(
        gradients,
        blocks=tuple(
            Dense((name,), part * (1.5 if name == "scale" else 1), (part.shape[1],))
            for name, part in parts.items()
        ),
    )
    parameters = dict(capture.model.named_parameters())
    sample = x4[:1].float()
    facts = check_against_autograd(capture.model, plain, parameters, wrong, sample, None)
    assert facts["worst_parameter"] == "scale"
    assert facts["worst_error"] == pytest.approx(0.5 * tiny / (1e-2 * whole), rel=1e-2)


def test_a_use_that_no_tape_sees_is_found_by_the_check():
    """A function with a backward of its own takes its arguments past the tape."""

    class Square(torch.autograd.Function):
        @staticmethod
        def forward(ctx, w):
            ctx.save_for_backward(w)
            return w * w

        @staticmethod
        def backward(ctx, gradient):
            return 2 * ctx.saved_tensors[0] * gradient

    model = made(lambda m, x: m.layer(x) + Square.apply(m.layer.weight).sum(), layer=nn.Linear(4, 3))
    with pytest.raises(ValueError, match=r"`layer\.weight` differs from autograd's"):
        GradientCapture(model, plain, precision="float64").prepare(x4, None)


def test_a_gradient_of_zero_is_right():
    model = made(lambda m, x: m.layer(x) * 0, layer=nn.Linear(4, 3))
    capture = GradientCapture(model, plain, precision="float64")
    capture.prepare(x4, None)
    assert capture.facts["check"]["worst_error"] == 0


def test_structure_is_checked_in_full_precision_and_rounding_apart():
    toy = TOYS["mlp-vae-gaussian"]
    capture = captured(toy, precision="bfloat16")
    capture.prepare(toy.samples, toy.noise)
    check = capture.facts["check"]
    assert check["relative_error"] < 1e-6
    few = take(toy.samples, slice(0, 3))
    rounded, exact = (
        captured(toy, precision=name)(few, toy.noise).materialise() for name in ("bfloat16", "float32")
    )
    expected = ((rounded - exact).norm() / exact.norm()).item()
    assert check["rounding"] == pytest.approx(expected, rel=1e-3)
    assert 1e-4 < expected < 5e-2


@pytest.mark.parametrize("share", [0.49, 0.51, float("nan")])
def test_rounding_that_leaves_nothing(share):
    exact = spoilt({}, "float32")
    rounded = replace(exact.densify(), precision="bfloat16")
    rounded = replace(
        rounded,
        blocks=tuple(replace(block, values=block.values * (1 + share)) for block in rounded.blocks),
    )
    if share < 0.5:
        assert check_rounding(rounded, exact) == pytest.approx(share, rel=1e-4)
        return
    with pytest.raises(
        ValueError,
        match=r"In bfloat16 the gradients .* by (5\.1e-01|nan) .*from those in float32\. Use `prec",
    ):
        check_rounding(rounded, exact)


def test_a_prepared_capture_keeps_the_facts():
    capture = captured(TOY)
    capture.prepare(TOY.samples, TOY.noise)
    assert set(capture.facts) == {"coverage", "check"}
    assert set(capture.facts["check"]) == {"relative_error", "worst_parameter", "worst_error"}
