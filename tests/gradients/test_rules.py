"""Each rule reads its function's own arguments, in each of the forms that they may have."""

import pytest
import torch
import torch.nn.functional as F
from gradient_cases import made, parameter
from torch import nn

from asserts import assert_close
from proponent.gradients import Correlation, Dense, GradientCapture, OuterProducts, Rows
from proponent.gradients._rules import RULES
from proponent.gradients._rules._embedding import embedding
from reference import flat, per_sample_gradients
from toys import TOYS, normal, plain, tokens

images, lines, volumes = normal(4, 2, 7, 6), normal(4, 2, 9), normal(4, 2, 4, 3, 5)


def assert_served(function, samples, **parameters):
    """The gradients are the dense reference's, and nothing was left to differentiation."""
    model = made(function, **parameters)
    capture = GradientCapture(model, plain, precision="float64")
    capture.prepare(samples, None)
    assert capture.facts["coverage"]["by_factors"] == 1
    found = capture(samples, None)
    expected = per_sample_gradients(model, plain, samples, None)
    assert_close(found.materialise(), flat(expected))
    return found


CONVOLUTIONS = {
    "all-by-position": lambda m, x: F.conv2d(x, m.w, m.b, (2, 1), (1, 2), (1, 2), 2),
    "all-by-name": lambda m, x: F.conv2d(
        groups=2, dilation=(2, 1), padding=(0, 1), stride=(1, 2), bias=m.b, weight=m.w, input=x
    ),
    "numbers": lambda m, x: F.conv2d(x, m.w, m.b, 2, 1, 2, 2),
    "one-in-a-list": lambda m, x: F.conv2d(x, m.w, m.b, [2], [1], [2], 2),
    "valid": lambda m, x: F.conv2d(x, m.w, m.b, (1, 2), "valid", 2, 2),
    "same": lambda m, x: F.conv2d(x, m.w, m.b, 1, "same", (1, 2), 2),
}


@pytest.mark.parametrize("name", CONVOLUTIONS)
def test_arguments_of_convolutions(name):
    found = assert_served(CONVOLUTIONS[name], images, w=parameter(4, 1, 3, 2), b=parameter(4))
    assert {block.names for block in found.blocks} == {("w",), ("b",)}


@pytest.mark.filterwarnings("ignore:Using padding='same' with even kernel lengths")
@pytest.mark.parametrize(("kernel", "dilation"), [(2, 1), (4, 1), (4, 2), (2, 3), (3, 2)])
def test_uneven_padding_goes_to_the_end(kernel, dilation):
    assert_served(lambda m, x: F.conv1d(x, m.w, None, 1, "same", dilation), lines, w=parameter(3, 2, kernel))


TRANSPOSED = {
    "all-by-position": lambda m, x: F.conv_transpose2d(x, m.w, m.b, (2, 3), (1, 0), (1, 2), 2, (1, 2)),
    "all-by-name": lambda m, x: F.conv_transpose2d(
        dilation=(2, 1),
        groups=2,
        output_padding=(1, 0),
        padding=(0, 1),
        stride=(1, 2),
        bias=m.b,
        weight=m.w,
        input=x,
    ),
    "numbers": lambda m, x: F.conv_transpose2d(x, m.w, m.b, 2, 1, 1, 2, 2),
    "one-in-a-list": lambda m, x: F.conv_transpose2d(x, m.w, m.b, [2], [1], [1], 2, [2]),
}


@pytest.mark.parametrize("name", TRANSPOSED)
def test_arguments_of_transposed_convolutions(name):
    assert_served(TRANSPOSED[name], images, w=parameter(2, 3, 3, 2), b=parameter(6))


def test_every_dimension_has_its_rule():
    for samples, plain_one, transposed in (
        (lines, F.conv1d, F.conv_transpose1d),
        (images, F.conv2d, F.conv_transpose2d),
        (volumes, F.conv3d, F.conv_transpose3d),
    ):
        kernel = (2,) * (samples.ndim - 2)
        assert_served(
            lambda m, x, f=plain_one: f(x, m.w, m.b, 2, 1),
            samples,
            w=parameter(3, 2, *kernel),
            b=parameter(3),
        )
        assert_served(
            lambda m, x, f=transposed: f(x, m.w, m.b, 2, 1),
            samples,
            w=parameter(2, 3, *kernel),
            b=parameter(3),
        )


def test_an_image_without_a_batch_is_left_to_differentiation():
    model = made(
        lambda m, x: x.flatten(1) * m.layer(m.picture).flatten()[:84],
        layer=nn.Conv2d(2, 2, 1),
        picture=parameter(2, 7, 6),
    )
    capture = GradientCapture(model, plain, precision="float64")
    capture.prepare(images, None)
    reasons = capture.facts["coverage"]["by_differentiation"]["reasons"]
    assert reasons["layer.bias"] == "samples not along one axis of the output"
    expected = per_sample_gradients(model, plain, images, None)
    assert_close(capture(images, None).materialise(), flat(expected))


def kinds(gradients):
    return {block.names: type(block) for block in gradients.blocks}


def test_few_positions_are_unfolded():
    """Both ways cost the same where terms² (channels + inputs) = channels inputs."""
    small = assert_served(lambda m, x: F.conv1d(x, m.w), lines[..., :4], w=parameter(6, 2, 3))  # 4 * 12 > 36
    assert kinds(small) == {("w",): Correlation}
    fewer = assert_served(lambda m, x: F.conv1d(x, m.w), lines[..., :3], w=parameter(6, 2, 3))  # 1 * 12
    assert kinds(fewer) == {("w",): OuterProducts}
    even = assert_served(lambda m, x: F.conv1d(x, m.w), normal(4, 2, 5), w=parameter(8, 2, 4))  # 4 * 16 = 64
    assert kinds(even) == {("w",): OuterProducts}
    grouped = assert_served(lambda m, x: F.conv1d(x, m.w, groups=2), lines[..., :3], w=parameter(6, 1, 3))
    assert kinds(grouped) == {("w",): Correlation}
    transposed = assert_served(lambda m, x: F.conv_transpose1d(x, m.w), lines[..., :1], w=parameter(2, 6, 3))
    assert kinds(transposed) == {("w",): OuterProducts}


NORMS = {
    "layer-norm": (lambda m, x: F.layer_norm(x, (7, 6), m.w, m.b, 0.1), (7, 6)),
    "layer-norm-by-name": (
        lambda m, x: F.layer_norm(eps=0.1, bias=m.b, weight=m.w, normalized_shape=(6,), input=x),
        (6,),
    ),
    "group-norm": (lambda m, x: F.group_norm(x, 1, m.w, m.b, 0.1), (2,)),
    "group-norm-by-name": (
        lambda m, x: F.group_norm(eps=0.1, bias=m.b, weight=m.w, num_groups=2, input=x),
        (2,),
    ),
    "instance-norm": (
        lambda m, x: F.instance_norm(x, None, None, m.w, m.b, True, 0.3, 0.1),
        (2,),
    ),
    "instance-norm-that-keeps-statistics": (
        lambda m, x: F.instance_norm(
            x, torch.zeros(2).double(), torch.ones(2).double(), weight=m.w, bias=m.b, eps=0.1
        ),
        (2,),
    ),
    "instance-norm-by-statistics": (
        lambda m, x: F.instance_norm(
            x, *(torch.tensor(part).double() for part in ([0.5, 1.0], [2.0, 3.0])), m.w, m.b, False, 0.3, 0.1
        ),
        (2,),
    ),
    "batch-norm": (
        lambda m, x: F.batch_norm(
            x, *(torch.tensor(part).double() for part in ([0.5, 1.0], [2.0, 3.0])), m.w, m.b, False, 0.3, 0.1
        ),
        (2,),
    ),
}


@pytest.mark.parametrize("name", NORMS)
def test_arguments_of_normalisations(name):
    function, shape = NORMS[name]
    found = assert_served(function, images, w=parameter(*shape), b=parameter(*shape))
    assert kinds(found) == {("w",): Dense, ("b",): Dense}


def test_normalisations_over_draws():
    model = made(lambda m, x: m.b(m.a(x)), a=nn.LayerNorm((2, 3)), b=nn.LayerNorm(3))
    samples = normal(4, 3, 2, 2, 3)
    capture = GradientCapture(model, plain, precision="float64")
    expected = per_sample_gradients(model, plain, samples, None)
    assert_close(capture(samples, None).materialise(), flat(expected))


@pytest.mark.parametrize("padding", [None, 2, -3])
def test_arguments_of_embeddings(padding):
    found = assert_served(lambda m, x: F.embedding(x, m.w, padding).sin(), tokens(4, 9), w=parameter(7, 2))
    (block,) = found.blocks
    assert isinstance(block, Rows)
    assert (block.count, block.terms) == (7, 9)


def test_an_embedding_has_no_bias():
    use = embedding(tokens(4, 3), normal(7, 2))
    with pytest.raises(NotImplementedError, match=r"An embedding has no bias\."):
        use.bias_gradient(normal(4, 1, 3, 2))


def test_rules_are_for_the_functions_that_layers_call():
    """A layer whose function has a rule has no part left to differentiation."""
    assert len(RULES) == 12
    for name in ("linear", "conv1d", "conv-transpose3d", "embedding", "layer-norm", "instance-norm"):
        toy = TOYS[name]
        capture = GradientCapture(toy.model(), toy.objective, precision="float64")
        capture.prepare(toy.samples, None)
        assert capture.facts["coverage"]["by_factors"] == 1


@pytest.mark.parametrize("name", ["linear", "conv2d", "embedding", "layer-norm"])
def test_factors_take_the_dtype_of_the_gradient(name):
    """Under autocast an input may be wider than the gradient at the output."""
    toy = TOYS[name]
    capture = GradientCapture(toy.model(), toy.objective, precision="bfloat16")
    for block in capture(toy.samples, None).blocks:
        if isinstance(block, OuterProducts):
            assert block.left.dtype == block.right.dtype == torch.bfloat16
        if isinstance(block, Correlation):
            assert block.anchor.dtype == block.field.dtype == torch.bfloat16
        assert all(part.isfinite().all() for part in block.gradients())
