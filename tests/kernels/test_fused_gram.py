"""The fused Gram product is the inner product of the gradients."""

import pytest
import torch
from kernel_cases import EITHER, PRODUCTS_OF_BFLOAT16, QUIET, normal

from asserts import assert_close
from proponent.kernels._gram import fits, fused_gram

pytestmark = QUIET

CASES = {  # samples, terms, queries, terms of a query, outputs, inputs
    "one-term": (30, 1, 9, 1, 7, 5),
    "terms-that-are-no-power-of-two": (9, 6, 4, 3, 16, 72),
    "one-program-each": (5, 16, 3, 16, 20, 36),
    "several-programs": (20, 16, 17, 16, 9, 10),
    "wide": (3, 2, 4, 5, 130, 70),
    "as-many-terms-as-fit": (2, 128, 3, 100, 4, 3),
}


def dense(left, right, bias):
    G = torch.einsum("nto,nti->noi", left.double(), right.double()).flatten(1)
    return torch.cat([G, left.double().sum(1)], 1) if bias else G


@EITHER
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("name", CASES)
def test_equals_the_dense_product(name, bias, draw, tolerance):
    n, t, q, s, o, i = CASES[name]
    left, right = draw(n, t, o, key=1), draw(n, t, i, key=2)
    query_left, query_right = draw(q, s, o, key=3), draw(q, s, i, key=4)
    found = fused_gram(left, right, query_left, query_right, bias)
    assert found.dtype == torch.float32
    assert_close(found, dense(left, right, bias) @ dense(query_left, query_right, bias).T, tolerance)


@pytest.mark.parametrize("scale", [1e-6, 1e6])
def test_numbers_of_any_size_and_a_bias_of_one(scale):
    """Each factor has a scale of its own, and the bias is added to what was scaled back."""
    left, right = scale * normal(5, 3, 8, key=1), normal(5, 3, 6, key=2) / 8
    query_left, query_right = normal(4, 2, 8, key=3), 5 * normal(4, 2, 6, key=4)
    expected = dense(left, right, True) @ dense(query_left, query_right, True).T
    assert_close(fused_gram(left, right, query_left, query_right, True), expected, 1e-3)


@PRODUCTS_OF_BFLOAT16
@pytest.mark.parametrize("bias", [True, False])
def test_bfloat16(bias):
    parts = [
        normal(*shape, key=k).bfloat16()
        for k, shape in enumerate([(5, 3, 8), (5, 3, 7), (4, 2, 8), (4, 2, 7)])
    ]
    expected = dense(*parts[:2], bias) @ dense(*parts[2:], bias).T
    assert_close(fused_gram(*parts, bias), expected, 1e-6)


def test_factors_in_any_order_of_memory():
    left, right = normal(3, 5, 8, key=1).transpose(0, 1), normal(1, 3, 6, key=2).expand(5, 3, 6)
    query = normal(4, 2, 8, key=3), normal(4, 2, 12, key=4)[..., ::2]
    expected = dense(left, right, True) @ dense(*query, True).T
    assert_close(fused_gram(left, right, *query, True), expected, 1e-3)


def test_whole_samples_fit_a_tile():
    assert fits(128, 128)
    assert not fits(129, 1)
    assert not fits(1, 129)
