"""Blocks hold what belongs together: a weight with its bias, all uses of a parameter, and nothing twice."""

import pytest
from gradient_cases import USES, captured

from proponent.gradients import Correlation, Dense, GradientCapture, OuterProducts, Rows
from toys import TOYS, plain


def cut(name):
    """The names and kind of each block, and how many terms it sums."""
    if name in TOYS:
        gradients = captured(TOYS[name])(TOYS[name].samples, TOYS[name].noise)
    else:
        build, samples = USES[name]
        gradients = GradientCapture(build(), plain, precision="float64")(samples, None)
    return {block.names: (type(block), getattr(block, "terms", None)) for block in gradients.blocks}


EXPECTED = {
    "linear": {("weight", "bias"): (OuterProducts, 1)},
    "linear-on-sequences": {("weight", "bias"): (OuterProducts, 6)},
    "noise-draws-first": {
        ("0.weight", "0.bias"): (OuterProducts, 3),
        ("2.weight", "2.bias"): (OuterProducts, 3),
    },
    "called-twice": {("layer.weight", "layer.bias"): (OuterProducts, 2)},
    "called-many-times": {("cell.weight", "cell.bias"): (OuterProducts, 4)},
    "tied-layers": {
        ("first.weight",): (OuterProducts, 2),
        ("first.bias",): (Dense, None),
        ("second.bias",): (Dense, None),
    },
    "one-bias-for-two-layers": {
        ("first.weight",): (OuterProducts, 1),
        ("first.bias",): (Dense, None),
        ("second.weight",): (OuterProducts, 1),
    },
    "with-and-without-bias": {
        ("layer.weight",): (OuterProducts, 2),
        ("layer.bias",): (Dense, None),
    },
    "bias-alone": {("layer.bias",): (Dense, None)},
    "weight-alone": {("layer.weight",): (OuterProducts, 1)},
    "penalised": {("layer.bias",): (Dense, None), ("layer.weight",): (Dense, None)},
    "embedding-called-twice": {("table.weight",): (Rows, 10)},
    "tied-embedding": {("embedding.weight",): (Dense, None), ("head.bias",): (Dense, None)},
    "norm-called-twice": {("norm.weight",): (Dense, None), ("norm.bias",): (Dense, None)},
    "convolution-called-twice": {("layer.weight",): (Dense, None), ("layer.bias",): (Dense, None)},
    "conv2d": {("weight",): (Correlation, None), ("bias",): (Dense, None)},
    "loose-parameter": {
        ("layer.weight", "layer.bias"): (OuterProducts, 1),
        ("scale", "shift"): (Dense, None),
    },
}


@pytest.mark.parametrize("name", EXPECTED)
def test_blocks(name):
    assert cut(name) == EXPECTED[name]


@pytest.mark.parametrize("name", [*TOYS, *USES])
def test_every_parameter_is_held_once(name):
    names = [parameter for block in cut(name) for parameter in block]
    assert len(names) == len(set(names))
