"""The fused correlation equals its plain twin."""

import pytest
import torch
from kernel_cases import EITHER, PRODUCTS_OF_BFLOAT16, QUIET, normal, whole

from asserts import assert_close
from proponent.gradients._correlation import correlate
from proponent.kernels import Window
from proponent.kernels._correlation import fits, fused_correlation

pytestmark = QUIET

CASES = {  # draws, anchor channels and size, field channels and size, kernel, stride, padding, dilation
    "of-the-paper": (2, 3, (4, 4), 5, (8, 8), (4, 4), (2, 2), (1, 1), (1, 1)),
    "one-position": (1, 6, (1, 1), 3, (4, 4), (4, 4), (1, 1), (0, 0), (1, 1)),
    "different-axes": (2, 4, (3, 6), 3, (7, 9), (3, 2), (2, 1), (1, 0), (1, 3)),
    "ragged": (1, 3, (4, 3), 2, (9, 7), (3, 3), (2, 2), (1, 1), (1, 1)),
    "dilated": (3, 20, (3, 3), 4, (9, 9), (3, 3), (2, 2), (1, 1), (2, 2)),
    "beyond-one-tile": (1, 70, (3, 2), 9, (3, 2), (3, 3), (1, 1), (1, 1), (1, 1)),
    "many-positions": (2, 5, (17, 16), 3, (17, 16), (3, 3), (1, 1), (1, 1), (1, 1)),
    "many-positions-beyond-one-tile": (2, 5, (17, 16), 9, (17, 16), (3, 3), (1, 1), (1, 1), (1, 1)),
}


@EITHER
@pytest.mark.parametrize("name", CASES)
def test_equals_its_plain_twin(name, draw, tolerance):
    m, A, positions, B, size, *window = CASES[name]
    window = Window(*window, 1)
    anchor, field = draw(2, m, A, *positions, key=1), draw(2, m, B, *size, key=2)
    assert fits(anchor, window)
    found = fused_correlation(anchor, field, window)
    assert found.dtype == torch.float32
    assert_close(found, correlate(anchor.double(), field.double(), window), tolerance)


def test_images_in_any_order_of_memory():
    window = Window((3, 2), (2, 1), (1, 0), (1, 1), 1)
    last = whole(2, 2, 3, 4, 5, key=1).transpose(2, 4).contiguous().transpose(2, 4)
    draws_first = whole(2, 2, 4, 8, 6, key=2).transpose(0, 1)
    shared = whole(1, 1, 3, 1, 1, key=3).expand(2, 2, 3, 4, 5)
    for anchor in (last, shared):
        expected = correlate(anchor.double(), draws_first.double(), window)
        assert_close(fused_correlation(anchor, draws_first, window), expected, 1e-6)


@pytest.mark.parametrize("scale", [1e-8, 1e8])
def test_numbers_of_any_size(scale):
    window = Window((4, 4), (2, 2), (1, 1), (1, 1), 1)
    anchor, field = scale * normal(2, 1, 3, 4, 4, key=1), 20 * normal(2, 1, 2, 8, 8, key=2)
    assert_close(
        fused_correlation(anchor, field, window), correlate(anchor.double(), field.double(), window), 1e-3
    )


@PRODUCTS_OF_BFLOAT16
def test_bfloat16():
    window = Window((3, 3), (1, 1), (1, 1), (1, 1), 1)
    anchor, field = (normal(2, 2, 3, 4, 5, key=key).bfloat16() for key in (1, 2))
    expected = correlate(anchor.double(), field.double(), window)
    assert_close(fused_correlation(anchor, field, window), expected, 1e-6)


def test_other_correlations_are_left_to_the_plain_twin():
    images, lines = normal(1, 1, 4, 3, 3), normal(1, 1, 4, 3)
    assert not fits(images, Window((2, 2), (1, 1), (0, 0), (1, 1), 2))
    assert not fits(lines, Window((2,), (1,), (0,), (1,), 1))
