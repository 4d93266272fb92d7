"""Projections equal an explicit matrix applied to the gradients, whichever way they are formed."""

import math

import pytest
import torch

from asserts import assert_close
from proponent.gradients import GradientCapture, OuterProducts, inner_products, project
from proponent.gradients._projection import _factors_pay, _matrix
from toys import TOYS

SIDE = 3


def explicit(gradients, seed):
    """Multiply each block's numbers by the Kronecker product of its two matrices, or by its one."""
    parts = []
    for block in gradients.blocks:
        numbers = torch.cat(block.gradients(), 1)
        shape = matrix_shape(block)
        if shape is None:
            P = _matrix(numbers, SIDE * SIDE, block.size, seed, block, "columns 0")
        else:
            A = _matrix(numbers, SIDE, shape[0], seed, block, "left")
            B = _matrix(numbers, SIDE, shape[1], seed, block, "right")
            P = torch.kron(A, B)
            if isinstance(block, OuterProducts) and block.has_bias:  # the bias is the last column
                o, i = block.left.shape[2], block.right.shape[2]
                weight, bias = block.gradients()
                numbers = torch.cat([weight.view(-1, o, i), bias[:, :, None]], 2).flatten(1)
        parts.append(numbers @ P.T)
    return torch.cat(parts, 1)


def matrix_shape(block):
    match type(block).__name__:
        case "OuterProducts":
            return block.left.shape[2], block.right.shape[2] + block.has_bias
        case "Correlation":
            rows = block.anchor.shape[2]
            return rows, block.size // rows
        case "Rows":
            return block.left.shape[2], block.count
    return None


def projected(gradients, seed, side=SIDE):
    return torch.cat(list(project(gradients, side, seed).values()), 1)


def gradients_of(name):
    toy = TOYS[name]
    capture = GradientCapture(toy.model(), toy.objective, precision="float64")
    return capture(toy.samples, toy.noise)


@pytest.mark.parametrize(
    "name",
    ["linear", "linear-without-bias", "conv2d", "conv-transpose2d-grouped", "lstm", "noise-draws-first"],
)
def test_a_projection_is_the_matrix_it_says(name):
    gradients = gradients_of(name)
    assert_close(projected(gradients, 7), explicit(gradients, 7))


def test_looked_up_rows_are_projected_without_the_table():
    gradients = gradients_of("embedding")
    (block,) = gradients.blocks
    A, B = (
        _matrix(block.left, SIDE, size, 7, block, role)
        for size, role in ((block.left.shape[2], "left"), (block.count, "right"))
    )
    table = block.gradients()[0].view(len(gradients), block.count, -1)
    assert_close(projected(gradients, 7), (A @ table.mT @ B.T).flatten(1))


@pytest.mark.parametrize(("terms", "by_factors"), [(1, True), (200, False)])
def test_both_ways_give_the_same_projection(terms, by_factors):
    g = torch.Generator().manual_seed(0)
    block = OuterProducts(
        ("w", "b"),
        torch.randn(2, terms, 3, generator=g, dtype=torch.float64),
        torch.randn(2, terms, 4, generator=g, dtype=torch.float64),
    )
    assert _factors_pay(block, SIDE) is by_factors
    whole = gradients_of("linear")
    gradients = type(whole)((block,), torch.zeros(2, dtype=torch.float64), {"w": 12, "b": 3}, "float64")
    assert_close(projected(gradients, 1), explicit(gradients, 1))


def test_inner_products_keep_their_expectation():
    gradients = gradients_of("called-twice")
    exact = inner_products(gradients, gradients)
    draws = torch.stack([(P := projected(gradients, seed, 8)) @ P.T for seed in range(400)])
    error = (draws.mean(0) - exact) / (draws.std(0) / math.sqrt(len(draws)))
    assert error.abs().max() < 4.5


def test_the_seed_is_the_projection():
    gradients = gradients_of("linear")
    assert torch.equal(projected(gradients, 1), projected(gradients, 1))
    assert not torch.equal(projected(gradients, 1), projected(gradients, 2))


def test_projections_are_found_by_the_names_of_their_parameters():
    gradients = gradients_of("unused")
    assert list(project(gradients, SIDE, 1)) == [block.names for block in gradients.blocks]


def test_a_projection_needs_a_row():
    with pytest.raises(ValueError, match=r"`side` must be at least 1, got 0"):
        project(gradients_of("linear"), 0, 1)
