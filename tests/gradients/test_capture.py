"""A capture gives every sample's exact gradient, whatever the model, the batch and the draws."""

import copy

import pytest
import torch
from gradient_cases import USES, Ways, captured, dense, made, parameter
from torch import nn

from asserts import (
    assert_batch_size_invariant,
    assert_close,
    assert_gradients_close,
    assert_independent_of_others,
    assert_order_equivariant,
)
from proponent.data import take
from proponent.gradients import GradientCapture
from proponent.objectives import objective
from reference import flat, losses, per_sample_gradients
from toys import TOYS, noisy_draws_first_flat, normal, per_sample, plain, tanh_network, x4

SHARED_NOISE = [name for name, toy in TOYS.items() if toy.noise is not None]


def assert_equals_reference(capture, model, loss, samples, noise):
    found = capture(samples, noise)
    expected = per_sample_gradients(model, loss, samples, noise)
    expected = {name: gradient.to_dense() for name, gradient in expected.items()}
    shaped = {name: part.view_as(expected[name]) for name, part in found.by_parameter().items()}
    for name in set(expected) - set(shaped):  # what no loss depends on is in no block
        shaped[name] = torch.zeros_like(expected[name])
    assert_gradients_close({name: shaped[name] for name in expected}, expected)
    assert_close(found.materialise(), flat(expected))
    assert_close(found.losses, losses(model, loss, samples, noise))


@pytest.mark.parametrize("toy", TOYS.values(), ids=TOYS)
def test_every_toy_has_the_gradients_of_the_dense_reference(toy):
    capture = captured(toy)
    capture.prepare(toy.samples, toy.noise)
    assert_equals_reference(capture, toy.model(), toy.objective, toy.samples, toy.noise)
    assert capture.facts["check"]["relative_error"] < 1e-12


@pytest.mark.parametrize("name", USES)
def test_parameters_in_several_roles_have_the_gradients_of_the_dense_reference(name):
    build, samples = USES[name]
    model = build()
    capture = GradientCapture(model, plain, precision="float64")
    capture.prepare(samples, None)
    assert_equals_reference(capture, model, plain, samples, None)


@pytest.mark.parametrize("name", [name for name, toy in TOYS.items() if toy.gradients])
def test_gradients_agree_with_the_closed_form(name):
    toy = TOYS[name]
    expected = toy.gradients(toy.model(), toy.samples, toy.noise)
    found = captured(toy)(toy.samples, toy.noise).by_parameter()
    assert_gradients_close({key: found[key].view_as(expected[key]) for key in expected}, expected)


@pytest.mark.parametrize("name", ["linear", "conv-vae", "tied-embedding", "noise-draws-first-flat", "lstm"])
def test_a_sample_has_its_gradient_in_any_company(name):
    toy = TOYS[name]
    capture = captured(toy)
    capture.prepare(toy.samples, toy.noise)

    def compute(batch):
        return capture(batch, toy.noise).materialise()

    assert_batch_size_invariant(compute, toy.samples, sizes=(1, 2))
    assert_order_equivariant(compute, toy.samples)
    assert_independent_of_others(compute, toy.samples)


@pytest.mark.parametrize("name", ["linear", "conv2d", "loose-parameter", "noise-draws-first-flat"])
@pytest.mark.parametrize("size", [1, 2])
def test_a_capture_can_be_prepared_on_fewer_samples_than_a_probe_has(name, size):
    toy = TOYS[name]
    capture = captured(toy)
    capture.prepare(take(toy.samples, slice(0, size)), toy.noise)
    assert_close(capture(toy.samples, toy.noise).materialise(), dense(toy))


def test_preparing_is_a_choice():
    toy = TOYS["conv-vae"]
    assert_close(captured(toy)(toy.samples, toy.noise).materialise(), dense(toy))


@pytest.mark.parametrize("name", SHARED_NOISE)
@pytest.mark.parametrize("draws", [(1, 3), (3, 1), (3, 2)])
def test_another_number_of_draws_than_in_the_first_batch(name, draws):
    toy = TOYS[name]
    before, after = (toy.noise[:count] for count in draws)
    capture = captured(toy)
    capture.prepare(toy.samples, before)
    assert_equals_reference(capture, toy.model(), toy.objective, toy.samples, after)


# --- Another way through the model ---------------------------------------------------------------------


def deeper_for_large(m, x):
    hidden = torch.tanh(m.first(x))
    return m.second(m.between(hidden) if x.abs().max() > 5 else hidden)


def penalised_for_large(m, x):
    return m.layer(x) + (m.layer.weight.square().sum() if x.abs().max() > 5 else 0)


def other_output_for_large(m, x):
    a, b = m.a(x), m.b(x)
    return b if x.abs().max() > 5 else a


def loose_for_large(m, x):
    return m.layer(x) * (m.scale if x.abs().max() > 5 else 1)


WAYS = {
    "another-layer": lambda: made(
        deeper_for_large, first=nn.Linear(4, 3), between=nn.Linear(3, 3), second=nn.Linear(3, 2)
    ),
    "the-same-calls-and-a-penalty": lambda: made(penalised_for_large, layer=nn.Linear(4, 3)),
    "the-same-calls-and-another-output": lambda: made(
        other_output_for_large, a=nn.Linear(4, 3), b=nn.Linear(4, 3)
    ),
    "a-loose-parameter": lambda: made(loose_for_large, layer=nn.Linear(4, 3), scale=parameter(3)),
}


@pytest.mark.parametrize("name", WAYS)
def test_a_batch_that_takes_another_way_is_looked_at_anew(name):
    model = WAYS[name]()
    capture = GradientCapture(model, plain, precision="float64")
    capture.prepare(x4, None)
    for samples in (10 * x4, x4, 10 * x4):
        assert_equals_reference(capture, model, plain, samples, None)


def test_a_batch_whose_first_samples_take_another_way_is_differentiated():
    """The way depends on the batch's size, so three samples don't tell how five are used."""
    model = made(
        lambda m, x: m.layer(x) if len(x) < 4 else torch.cat([m.layer(x[:2]), m.layer(x[2:])]),
        layer=nn.Linear(4, 3),
    )
    capture = GradientCapture(model, plain, precision="float64")
    capture.prepare(x4, None)
    assert capture.facts["coverage"]["by_factors"] == 1
    assert_equals_reference(capture, model, plain, x4, None)


def test_a_gate_that_was_closed_at_the_first_checkpoint():
    """Zero gradients don't tell where samples lie: three positions look like three samples."""
    model = made(
        lambda m, x: m.head(torch.tanh(x + m.gate * m.positions(torch.arange(3)))),
        head=nn.Linear(4, 2),
        positions=nn.Embedding(3, 4),
        gate=parameter(),
    )
    samples = normal(3, 3, 4)
    closed = copy.deepcopy(model)
    closed.gate.data.zero_()
    capture = GradientCapture(closed, plain, precision="float64")
    capture.prepare(samples, None)
    assert_equals_reference(capture, closed, plain, samples, None)
    capture.load(model.state_dict())
    assert_equals_reference(capture, model, plain, samples, None)


def test_a_plan_outlives_a_checkpoint():
    toy = TOYS["linear"]
    capture = captured(toy)
    capture.prepare(toy.samples, None)
    plans = dict(capture._plans)
    capture.load(toy.model(1).state_dict())
    assert capture._plans == plans


# --- What is taken from the model ----------------------------------------------------------------------


def test_a_capture_leaves_the_model_alone():
    toy = TOYS["loose-parameter"]
    model = toy.model()
    model.layer.bias.requires_grad_(False)
    state = {name: value.clone() for name, value in model.state_dict().items()}
    capture = GradientCapture(model, toy.objective, layers=["scale"])
    capture.load(toy.model(1).state_dict())
    capture.prepare(toy.samples, None)
    assert all(torch.equal(value, state[name]) for name, value in model.state_dict().items())
    assert {p.dtype for p in model.parameters()} == {torch.float64}
    assert [name for name, p in model.named_parameters() if p.requires_grad] == [
        "scale",
        "shift",
        "layer.weight",
    ]
    assert all(parameter.grad is None for parameter in model.parameters())


def test_load_takes_parameters_and_buffers():
    toy = TOYS["batch-norm-evaluating"]
    capture = captured(toy)
    other = toy.model(1)
    other[1].running_mean.fill_(0.3)
    other[1].running_var.fill_(0.6)
    capture.load(other.state_dict())
    assert_equals_reference(capture, other, toy.objective, toy.samples, None)


def test_coverage_says_what_is_left_out():
    model = nn.Sequential(nn.Linear(4, 3), nn.Linear(3, 2), nn.Linear(2, 1)).double()
    model[2].requires_grad_(False)
    capture = GradientCapture(model, plain, layers=["0"], precision="float64")
    capture.prepare(x4, None)
    coverage = capture.facts["coverage"]
    assert coverage["share"] == 15 / 26
    assert coverage["left_out"] == {
        "1.weight": "not among `layers`",
        "1.bias": "not among `layers`",
        "2.weight": "not trained",
        "2.bias": "not trained",
    }


def test_parameters_that_are_not_trained_are_left_out():
    capture = captured(TOYS["frozen"])
    assert capture.sizes == {"head.weight": 6}
    assert capture(TOYS["frozen"].samples, None).materialise().shape == (5, 6)


@pytest.mark.parametrize(
    ("layers", "names"),
    [
        (["decoder"], ["decoder.0.weight", "decoder.0.bias", "decoder.2.weight", "decoder.2.bias"]),
        (["decoder.2", "encoder.0.bias"], ["encoder.0.bias", "decoder.2.weight", "decoder.2.bias"]),
        (["encoder.2.weight"], ["encoder.2.weight"]),
    ],
)
def test_layers_choose_the_parameters(layers, names):
    toy = TOYS["mlp-vae"]
    capture = captured(toy, layers=layers)
    capture.prepare(toy.samples, toy.noise)
    assert list(capture.sizes) == names
    expected = per_sample_gradients(toy.model(), toy.objective, toy.samples, toy.noise)
    found = capture(toy.samples, toy.noise)
    assert_close(found.materialise(), flat({name: expected[name] for name in names}))
    assert capture.facts["coverage"]["parameters"] == sum(expected[name][0].numel() for name in names)


def test_a_layer_is_named_in_whole():
    model = Ways(lambda m, x: m.lay(x) + m.layer(x), lay=nn.Linear(4, 3), layer=nn.Linear(4, 3)).double()
    assert list(GradientCapture(model, plain, layers=["lay"]).sizes) == ["lay.weight", "lay.bias"]


def test_layers_that_are_not_there():
    toy = TOYS["frozen"]
    with pytest.raises(
        ValueError, match=r"`layers` names `frozen`, which has no trainable parameter. There are: head\."
    ):
        captured(toy, layers=["head", "frozen"])
    with pytest.raises(ValueError, match=r"There are: layer, scale, shift\."):
        captured(TOYS["loose-parameter"], layers=["scales"])
    with pytest.raises(ValueError, match=r"`layers` must name at least one layer, got an empty list"):
        captured(toy, layers=[])


def test_a_model_without_trained_parameters():
    model = nn.Linear(4, 3).requires_grad_(False)
    with pytest.raises(
        ValueError, match=r"`model` must have parameters with `requires_grad=True`, found none"
    ):
        GradientCapture(model, plain)


def test_samples_and_noise_take_the_dtype_of_the_parameters():
    toy = TOYS["dict-of-samples"]
    capture = captured(toy, precision="float32")
    assert (capture.dtype, capture.device) == (torch.float32, torch.device("cpu"))
    assert capture(toy.samples, None).materialise().dtype == torch.float32
    tokens = captured(TOYS["embedding"], precision="float32")(TOYS["embedding"].samples, None)
    assert tokens.materialise().dtype == torch.float32
    noisy = TOYS["noise-network"]
    assert captured(noisy, precision="float32")(noisy.samples, noisy.noise).losses.dtype == torch.float32


# --- Coverage ------------------------------------------------------------------------------------------

OUTSIDE = "used outside the layers that have a factor rule"
NO_AXIS = "samples not along one axis of the output"


def coverage(name):
    toy = TOYS[name]
    capture = captured(toy)
    assert capture.facts == {}
    capture.prepare(toy.samples, toy.noise)
    return capture.facts["coverage"]


def test_coverage_of_a_model_of_layers_with_rules():
    assert coverage("conv-vae") == {
        "parameters": sum(p.numel() for p in TOYS["conv-vae"].model().parameters()),
        "share": 1.0,
        "left_out": {},
        "by_factors": 1.0,
        "by_differentiation": None,
        "without_gradient": [],
    }


def test_coverage_of_loose_parameters():
    assert coverage("loose-parameter") == {
        "parameters": 19,
        "share": 1.0,
        "left_out": {},
        "by_factors": 15 / 19,
        "by_differentiation": {
            "parameters": ["scale", "shift"],
            "share": 4 / 19,
            "way": "vmap(grad)",
            "reasons": {"scale": OUTSIDE, "shift": OUTSIDE},
        },
        "without_gradient": [],
    }


def test_coverage_of_parameters_without_gradient():
    found = coverage("unused")
    assert found["without_gradient"] == ["unused.bias", "unused.weight"]
    assert (found["by_factors"], found["by_differentiation"]) == (0.5, None)


def test_a_loose_parameter_whose_product_no_loss_sees_is_not_differentiated():
    model = made(lambda m, x: (m.layer(x), m.free * 2)[0], layer=nn.Linear(4, 3), free=parameter(15))
    capture = GradientCapture(model, plain, precision="float64")
    capture.prepare(x4, None)
    found = capture.facts["coverage"]
    assert found["without_gradient"] == ["free"]
    assert (found["by_factors"], found["by_differentiation"]) == (0.5, None)
    assert_equals_reference(capture, model, plain, x4, None)


def test_samples_without_gradient_do_not_tell_where_the_others_lie():
    def loss(model, batch, noise):
        return noisy_draws_first_flat(model, batch["x"], noise) * batch["share"]

    model, noise = tanh_network().double(), normal(3, 4, key="noise")
    samples = {"x": x4, "share": torch.tensor([0.0, 0.0, 0.0, 1.0, 2.0], dtype=torch.float64)}
    loss = objective(loss, (4,))
    capture = GradientCapture(model, loss, precision="float64")
    capture.prepare(samples, noise)
    reasons = capture.facts["coverage"]["by_differentiation"]["reasons"]
    assert set(reasons.values()) == {"no gradient to tell by"}
    assert_equals_reference(capture, model, loss, samples, noise)


@pytest.mark.parametrize(
    ("name", "reasons"),
    [
        ("penalised", {"layer.weight": OUTSIDE}),
        ("tied-transposed", {"encoder.weight": OUTSIDE}),
        ("positions", {"positions.weight": NO_AXIS}),
        ("noise-network", {"source.weight": NO_AXIS, "source.bias": NO_AXIS}),
    ],
)
def test_coverage_says_why_a_parameter_is_differentiated(name, reasons):
    found = coverage(name)["by_differentiation"]
    assert found["reasons"] == reasons
    assert found["parameters"] == list(reasons)


def test_a_loss_that_can_not_be_vectorised_is_differentiated_sample_by_sample():
    def loss(model, x, noise):
        return per_sample(model(x)) * (2.0 if x[0, 0].item() > 1e9 else 1.0)

    toy = TOYS["loose-parameter"]
    capture = GradientCapture(toy.model(), objective(loss), precision="float64")
    capture.prepare(toy.samples, None)
    assert capture.facts["coverage"]["by_differentiation"]["way"] == "sample by sample"
    assert_close(capture(toy.samples, None).materialise(), dense(toy))


def test_a_model_without_fallback_says_nothing_of_a_way_that_needs_one():
    capture = captured(TOYS["linear"])
    capture.prepare(TOYS["linear"].samples, None)
    assert capture._vectorises


# --- Other precisions ----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["linear-gaussian-vae", "conv-vae", "embedding", "lstm", "group-norm"])
@pytest.mark.parametrize(("precision", "tolerance"), [("float32", 2e-6), ("tf32", 2e-6), ("bfloat16", 3e-2)])
def test_lower_precisions_are_near_float64(name, precision, tolerance):
    toy = TOYS[name]
    capture = captured(toy, precision=precision)
    capture.prepare(toy.samples, toy.noise)
    found = capture(toy.samples, toy.noise)
    assert found.precision == precision
    assert_close(found.materialise(), dense(toy), tolerance)


def test_a_network_with_a_dimension_as_long_as_the_batch():
    """Five rows of five outputs for five samples, seen through as many draws."""
    model = tanh_network().double()
    loss = objective(lambda m, x, noise: per_sample(m(x[None] + noise[:, None]).transpose(0, 1)), (4,))
    capture = GradientCapture(model, loss, precision="float64")
    for draws in (1, 3, 5):
        noise = normal(draws, 4, key="noise")
        assert_equals_reference(capture, model, loss, x4, noise)
