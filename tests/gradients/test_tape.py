"""The tape notes each call that a rule describes, and leaves no other use of a parameter unnoticed."""

import pytest
import torch
import torch.nn.functional as F
from gradient_cases import made, parameter
from torch import nn

from proponent.gradients._tape import Tape
from toys import normal

x = normal(3, 4)


def recorded(use, **layers):
    model = made(use, **(layers or {"layer": nn.Linear(4, 4), "free": parameter(4, 4)}))
    with Tape(dict(model.named_parameters())) as tape:
        output = model(x)
    return model, tape, output


INSIDE = {
    "layer": lambda m, x: m.layer(x),
    "function": lambda m, x: F.linear(x, m.layer.weight, m.layer.bias),
    "keywords": lambda m, x: F.linear(bias=m.layer.bias, weight=m.layer.weight, input=x),
    "twice": lambda m, x: m.layer(m.layer(x)),
}


@pytest.mark.parametrize("name", INSIDE)
def test_calls_that_a_rule_describes(name):
    _, tape, _ = recorded(INSIDE[name])
    assert [call.names for call in tape.calls] == [("layer.weight", "layer.bias")] * (1 + (name == "twice"))
    assert tape.outside == set()


def test_parts_of_a_call_that_are_not_tracked():
    _, tape, _ = recorded(lambda m, x: F.linear(x, m.layer.weight, torch.ones(4).double()))
    assert [call.names for call in tape.calls] == [("layer.weight",)]
    _, tape, _ = recorded(lambda m, x: F.linear(x, torch.ones(4, 4).double(), m.layer.bias))
    assert [call.names for call in tape.calls] == [("layer.bias",)]
    _, tape, _ = recorded(lambda m, x: F.linear(x, torch.ones(4, 4).double()))
    assert (tape.calls, tape.outside) == ([], set())


def test_a_derived_weight_is_a_use_outside():
    _, tape, _ = recorded(lambda m, x: F.linear(x, m.layer.weight * 2, m.layer.bias))
    assert [call.names for call in tape.calls] == [("layer.bias",)]
    assert tape.outside == {"layer.weight"}


# Each uses `layer.weight` in one more place than its layer's call.
OUTSIDE = {
    "transpose": lambda w, x: x @ w.t(),
    "property": lambda w, x: x @ w.T,
    "operator": lambda w, x: x @ w,
    "from-the-right": lambda w, x: 2 - w,
    "method": lambda w, x: w.square(),
    "function": lambda w, x: torch.matmul(x, w),
    "einsum": lambda w, x: torch.einsum("ni,oi->no", x, w),
    "index": lambda w, x: w[0],
    "view": lambda w, x: w.view(2, 8),
    "list": lambda w, x: torch.cat([x, w]),
    "keyword": lambda w, x: torch.mul(input=x[:1], other=w),
    "bilinear": lambda w, x: F.bilinear(x, x, w[None]),
    "input": lambda w, x: F.linear(w, torch.ones(2, 4).double()),
    "input-and-weight": lambda w, x: F.linear(w, w),
    "iteration": lambda w, x: sum(row for row in w),
    "clone": lambda w, x: w.clone(),
    "convolution-of-it": lambda w, x: F.conv1d(w[None], torch.ones(1, 4, 1).double()),
    "embedding-bag": lambda w, x: F.embedding_bag(torch.zeros(1, 2, dtype=torch.long), w),
}


@pytest.mark.parametrize("name", OUTSIDE)
def test_every_use_outside_a_rule_is_noticed(name):
    _, tape, _ = recorded(lambda m, x: (m.layer(x), OUTSIDE[name](m.layer.weight, x)))
    assert tape.calls[0].names == ("layer.weight", "layer.bias")
    assert tape.outside == {"layer.weight"}


def test_a_parameter_in_the_place_of_another():
    _, tape, _ = recorded(lambda m, x: F.linear(m.free, m.layer.weight, m.layer.bias))
    assert tape.outside == {"free"}
    assert [call.names for call in tape.calls] == [("layer.weight", "layer.bias")]


def test_what_torch_func_transforms_is_outside():
    _, tape, _ = recorded(lambda m, x: torch.func.vmap(m.layer)(x))
    assert tape.calls == []
    assert tape.outside == {"layer.weight", "layer.bias"}


def without_gradient(m, x):
    with torch.no_grad():
        hidden = m.layer(x) + m.layer.weight.norm()
    return hidden * m.layer.weight.shape[0] + m.layer.weight.detach().sum() + m.layer.weight.data.sum()


def test_uses_that_no_gradient_passes_are_no_uses():
    _, tape, _ = recorded(without_gradient)
    assert (tape.calls, tape.outside) == ([], set())


def test_an_integer_answer_is_no_use():
    _, tape, _ = recorded(lambda m, x: x * m.layer.weight.argmax())
    assert tape.outside == set()


def test_the_output_is_kept_as_it_left_the_call():
    model, tape, output = recorded(lambda m, x: m.layer(x).mul_(3).relu_())
    (call,) = tape.calls
    with torch.no_grad():
        before = model.layer(x)
    (gradient,) = torch.autograd.grad(output.sum(), [call.edge])
    assert torch.equal(gradient, 3.0 * (before > 0))
    assert call.shape == before.shape


def test_inputs_are_kept_with_their_version():
    def changed(m, x):
        hidden = x * 2
        output = m.layer(hidden)
        hidden.add_(1)
        return output

    _, tape, _ = recorded(changed)
    (call,) = tape.calls
    assert call.use.input._version == call.version + 1


def test_a_tape_stops_when_it_is_left():
    model, tape, _ = recorded(lambda m, x: m.layer(x))
    model(x)
    assert len(tape.calls) == 1
