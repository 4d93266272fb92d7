"""Both ways to differentiate give the dense reference's gradients."""

import pytest
import torch
from gradient_cases import dense, made
from torch import nn

from asserts import assert_close
from proponent.data import take
from proponent.gradients._fallback import single_gradients, vectorised_gradients
from reference import flat, per_sample_gradients
from toys import TOYS, plain, tokens

NAMES = [
    "linear",
    "dict-of-samples",
    "conv-vae-bernoulli",
    "attention",
    "loose-parameter",
    "noise-draws-first",
]


def names_of(model):
    return [name for name, p in model.named_parameters() if p.requires_grad]


@pytest.mark.parametrize("way", [vectorised_gradients, single_gradients])
@pytest.mark.parametrize("name", NAMES)
def test_every_parameter(name, way):
    toy = TOYS[name]
    model = toy.model()
    block = way(model, toy.objective, names_of(model), toy.samples, toy.noise)
    assert block.names == tuple(names_of(model))
    assert block.sizes == tuple(p.numel() for p in model.parameters())
    assert_close(block.values, dense(toy))
    assert not block.values.requires_grad


@pytest.mark.parametrize("way", [vectorised_gradients, single_gradients])
def test_a_few_parameters_in_the_order_given(way):
    toy = TOYS["mlp-vae"]
    model = toy.model()
    names = ["decoder.0.weight", "encoder.2.bias"]
    expected = per_sample_gradients(model, toy.objective, toy.samples, toy.noise)
    block = way(model, toy.objective, names, toy.samples, toy.noise)
    assert_close(block.values, flat({name: expected[name] for name in names}))
    one = way(model, toy.objective, names, take(toy.samples, slice(2, 3)), toy.noise)
    assert_close(one.values, block.values[2:3])


@pytest.mark.parametrize("way", [vectorised_gradients, single_gradients])
def test_parameters_that_the_loss_leaves_out_are_zero(way):
    toy = TOYS["unused"]
    block = way(toy.model(), toy.objective, ["unused.weight", "used.bias"], toy.samples, None)
    assert not block.gradients()[0].any()
    assert block.gradients()[1].any()


@pytest.mark.parametrize("name", ["lstm", "gru"])
def test_what_torch_func_can_not_transform_is_left_to_the_single_way(name):
    toy = TOYS[name]
    names = names_of(toy.model())
    with pytest.raises(Exception, match=r".+"):
        vectorised_gradients(toy.model(), toy.objective, names, toy.samples, None)
    assert_close(single_gradients(toy.model(), toy.objective, names, toy.samples, None).values, dense(toy))


def test_sparse_gradients_are_made_dense():
    model = made(lambda m, x: m.table(x).sin(), table=nn.Embedding(7, 3, sparse=True))
    samples = tokens(4, 5)
    expected = per_sample_gradients(model, plain, samples, None)["table.weight"].to_dense().flatten(1)
    block = single_gradients(model, plain, ["table.weight"], samples, None)
    assert_close(block.values, expected)
    assert block.values.layout == torch.strided
