"""Gradients are one set of numbers, however their blocks are cut."""

import torch
from gradient_cases import captured, dense, factors, gathered, gradients_of, numbers, positive, rows

from asserts import assert_close
from proponent.gradients import Dense, Gradients
from toys import TOYS


def test_materialised_in_the_order_of_the_model():
    bias, weight = numbers(3, 2, "a", ("bias",)), numbers(3, 4, "b", ("weight",))
    gradients = Gradients((bias, weight), torch.zeros(3).double(), {"weight": 4, "free": 2, "bias": 2})
    assert_close(gradients.materialise(), torch.cat([weight.values, torch.zeros(3, 2), bias.values], 1))
    assert list(gradients.by_parameter()) == ["bias", "weight"]
    assert len(gradients) == 3


def test_parameters_without_gradient_are_zero():
    gradients = gradients_of("unused")
    found = gradients.materialise()
    assert set(gradients.by_parameter()) == {"used.weight", "used.bias"}
    assert_close(found, dense(TOYS["unused"]))
    assert not found[:, 15:].any()


def test_a_loss_of_nothing_tracked_by_this_batch_has_zeros():
    empty = Gradients((), torch.zeros(2), {"weight": 3})
    assert torch.equal(empty.materialise(), torch.zeros(2, 3))


def test_select_takes_samples_from_every_block_without_a_copy():
    blocks = (factors(5, 2, 3, 4, "a"), rows(5, 3, 2, 6, "b"), numbers(5, 6, "c"))
    whole = gathered(*blocks)
    part = whole.select(1, 4)
    assert len(part) == 3
    assert_close(part.materialise(), whole.materialise()[1:4])
    assert part.blocks[0].left.data_ptr() == blocks[0].left[1].data_ptr()
    assert (part.sizes, part.precision) == (whole.sizes, whole.precision)
    convolution = gradients_of("conv2d")
    assert_close(convolution.select(2, 3).materialise(), convolution.materialise()[2:3])
    assert_close(convolution.select(2, 3).losses, convolution.losses[2:3])


def test_densify_keeps_names_and_multiplies_by_the_metric():
    whole = gathered(factors(5, 2, 3, 4, "a"), rows(5, 3, 2, 6, "b"), numbers(5, 6, "c"))
    numbers_alone = whole.densify()
    assert all(isinstance(block, Dense) for block in numbers_alone.blocks)
    assert [block.names for block in numbers_alone.blocks] == [block.names for block in whole.blocks]
    assert_close(numbers_alone.materialise(), whole.materialise())
    metric = positive(whole)
    M = torch.cat([metric[name] for name in whole.sizes])
    assert_close(whole.densify(metric).materialise(), whole.materialise() * M)


def test_a_metric_may_have_another_precision_and_the_parameters_shape():
    toy = TOYS["linear"]
    gradients = captured(toy, precision="float32")(toy.samples, None)
    metric = {"weight": torch.full((3, 4), 2.0).double(), "bias": torch.full((3,), 3.0).double()}
    scaled = gradients.densify(metric)
    assert scaled.blocks[0].values.dtype == torch.float32
    plain = gradients.materialise()
    assert_close(scaled.materialise(), torch.cat([2 * plain[:, :12], 3 * plain[:, 12:]], 1))
