"""Fused convolutions and transposed ones equal torch's, and so do the gradients at their inputs."""

import pytest
import torch
import torch.nn.functional as F
from kernel_cases import EITHER, PRODUCTS_OF_BFLOAT16, QUIET, normal, whole

from asserts import assert_close
from proponent.kernels import Window
from proponent.kernels._convolution import FusedConvolution, FusedTransposedConvolution

pytestmark = QUIET

CASES = {  # outputs, inputs, kernel, stride, padding, size
    "of-the-paper": (5, 3, (4, 4), (2, 2), (1, 1), (8, 8)),
    "of-one-position": (7, 2, (4, 4), (1, 1), (0, 0), (4, 4)),
    "ragged": (3, 4, (3, 3), (2, 2), (0, 0), (8, 6)),
    "different-axes": (4, 5, (5, 2), (3, 1), (2, 0), (11, 7)),
    "kernel-below-stride": (4, 3, (2, 1), (3, 2), (1, 0), (8, 7)),
    "wide-padding": (3, 2, (3, 3), (2, 3), (2, 1), (5, 6)),
    "many-channels": (70, 66, (2, 2), (2, 1), (0, 1), (5, 4)),
    "beyond-one-tile": (20, 1, (3, 3), (1, 1), (1, 1), (14, 11)),
}


def gradient(output, x, key):
    g = whole(*output.shape, key=key)
    return torch.autograd.grad(output, x, g)[0]


@EITHER
@pytest.mark.parametrize("has_bias", [True, False])
@pytest.mark.parametrize("name", CASES)
def test_convolutions(name, has_bias, draw, tolerance):
    out, into, kernel, stride, padding, size = CASES[name]
    x, weight = draw(2, into, *size, key=1).requires_grad_(), draw(out, into, *kernel, key=2)
    bias = draw(out, key=3) if has_bias else None
    found = FusedConvolution.apply(x, weight, bias, Window(kernel, stride, padding, (1, 1), 1))
    expected = F.conv2d(x.double(), weight.double(), None if bias is None else bias.double(), stride, padding)
    assert found.dtype == torch.float32
    assert_close(found, expected, tolerance)
    assert_close(gradient(found, x, 4), gradient(expected, x, 4), tolerance)


@EITHER
@pytest.mark.parametrize("has_bias", [True, False])
@pytest.mark.parametrize("name", CASES)
def test_transposed_convolutions(name, has_bias, draw, tolerance):
    into, out, kernel, stride, padding, size = CASES[name]
    extra = tuple(s - 1 for s in stride)
    x, weight = draw(2, into, *size, key=1).requires_grad_(), draw(into, out, *kernel, key=2)
    bias = draw(out, key=3) if has_bias else None
    for more in ((0, 0), extra):
        window = Window(kernel, stride, padding, (1, 1), 1)
        found = FusedTransposedConvolution.apply(x, weight, bias, window, more)
        expected = F.conv_transpose2d(
            x.double(), weight.double(), None if bias is None else bias.double(), stride, padding, more
        )
        assert_close(found, expected, tolerance)
        assert_close(gradient(found, x, 4), gradient(expected, x, 4), tolerance)


def test_channels_last_in_and_out():
    x, weight = whole(2, 3, 6, 5, key=1), whole(4, 3, 3, 3, key=2)
    window = Window((3, 3), (1, 1), (1, 1), (1, 1), 1)
    found = FusedConvolution.apply(x.to(memory_format=torch.channels_last), weight, None, window)
    assert found.is_contiguous(memory_format=torch.channels_last)
    assert_close(found, F.conv2d(x, weight, None, 1, 1), 1e-6)


@PRODUCTS_OF_BFLOAT16
def test_bfloat16_stays_bfloat16():
    x, weight, bias = whole(2, 3, 6, 5, key=1).bfloat16().requires_grad_(), whole(4, 3, 3, 3, key=2), whole(4)
    window = Window((3, 3), (1, 1), (1, 1), (1, 1), 1)
    found = FusedConvolution.apply(x, weight, bias, window)
    assert found.dtype == torch.bfloat16
    expected = F.conv2d(x.float(), weight, bias, 1, 1)
    assert_close(found, expected, 4e-3)
    assert_close(gradient(found, x, 4), gradient(expected, x, 4), 4e-3)


@pytest.mark.parametrize("scale", [1e-9, 1e9])
def test_numbers_of_any_size(scale):
    x, weight, bias = scale * normal(2, 3, 6, 5, key=1), normal(4, 3, 3, 3, key=2), scale * normal(4, key=3)
    window = Window((3, 3), (1, 1), (1, 1), (1, 1), 1)
    expected = F.conv2d(x.double(), weight.double(), bias.double(), 1, 1)
    assert_close(FusedConvolution.apply(x, weight, bias, window), expected, 1e-3)


def test_no_gradient_passes_to_weights():
    x, weight = normal(2, 3, 6, 5), normal(4, 3, 3, 3).requires_grad_()
    window = Window((3, 3), (1, 1), (1, 1), (1, 1), 1)
    found = FusedConvolution.apply(x, weight, None, window)
    assert torch.autograd.grad(found.sum(), weight, allow_unused=True) == (None,)
    x = normal(2, 4, 6, 5)
    found = FusedTransposedConvolution.apply(x, weight, None, window, (0, 0))
    assert torch.autograd.grad(found.sum(), weight, allow_unused=True) == (None,)
