"""The correlation is the gradient of every convolution, against autograd over a grid of windows."""

from itertools import product

import pytest
import torch
import torch.nn.functional as F

from asserts import assert_close
from proponent.gradients import Correlation, OuterProducts
from proponent.gradients._correlation import _sample_by_sample, _shift_by_shift, correlate, patches
from proponent.kernels import Window
from toys import normal

FORWARD = {1: F.conv1d, 2: F.conv2d, 3: F.conv3d}
TRANSPOSED = {1: F.conv_transpose1d, 2: F.conv_transpose2d, 3: F.conv_transpose3d}
N, M = 3, 2


def autograd(function, images, gradient, weight):
    """The weight's gradient of each sample, its draws together, one backward pass each."""
    rows = []
    for x, g in zip(images, gradient, strict=True):
        leaf = weight.clone().requires_grad_()
        rows.append(torch.autograd.grad(function(x, leaf), leaf, g)[0].flatten())
    return torch.stack(rows)


def convolution_case(size, window, out=4, into=2):
    """Anchor and field of a convolution, and the truth."""
    dimensions = len(size)
    g = window.groups
    images = normal(N, M, into * g, *size, key="images")
    weight = normal(out * g, into, *window.kernel, key="weight")

    def function(x, w):
        return FORWARD[dimensions](x, w, None, window.stride, window.padding, window.dilation, window.groups)

    gradient = normal(N, M, *function(images[0], weight).shape[1:], key="gradient")
    return gradient, images, autograd(function, images, gradient, weight)


def transposed_case(size, window, extra, out=2, into=4):
    """Anchor and field of a transposed convolution, and the truth."""
    dimensions = len(size)
    g = window.groups
    images = normal(N, M, into * g, *size, key="images")
    weight = normal(into * g, out, *window.kernel, key="weight")

    def function(x, w):
        return TRANSPOSED[dimensions](
            x, w, None, window.stride, window.padding, extra, window.groups, window.dilation
        )

    gradient = normal(N, M, *function(images[0], weight).shape[1:], key="gradient")
    return images, gradient, autograd(function, images, gradient, weight)


def assert_right(anchor, field, window, expected):
    for way in (correlate, _sample_by_sample, _shift_by_shift):
        assert_close(way(anchor, field, window), expected, 1e-12)
    block = Correlation(("weight",), anchor, field, window)
    assert block.size == expected.shape[1]
    assert_close(block.gradients()[0], expected, 1e-12)
    if window.groups == 1:
        unfolded = patches(block)
        assert isinstance(unfolded, OuterProducts)
        assert unfolded.terms == M * anchor[0, 0, 0].numel()
        assert_close(unfolded.gradients()[0], expected, 1e-12)


def spans(kernel, dilation):
    return dilation * (kernel - 1) + 1


@pytest.mark.parametrize("groups", [1, 2])
@pytest.mark.parametrize("kernel", [1, 2, 3, 4])
def test_convolutions_of_one_dimension(kernel, groups):
    for stride, padding, dilation, size in product((1, 2, 3), (0, 1, 2), (1, 2, 3), (7, 8)):
        if size + 2 * padding < spans(kernel, dilation):
            continue
        window = Window((kernel,), (stride,), (padding,), (dilation,), groups)
        assert_right(*convolution_case_with(window, (size,)))


@pytest.mark.parametrize("groups", [1, 2])
@pytest.mark.parametrize("kernel", [1, 2, 3, 4])
def test_transposed_convolutions_of_one_dimension(kernel, groups):
    for stride, padding, dilation, extra in product((1, 2, 3), (0, 1, 2), (1, 2, 3), (0, 1, 2)):
        out = 4 * stride - 2 * padding + spans(kernel, dilation) + extra
        if extra >= max(stride, dilation) or out < 1:
            continue
        window = Window((kernel,), (stride,), (padding,), (dilation,), groups)
        anchor, field, expected = transposed_case((5,), window, (extra,))
        assert_right(anchor, field, window, expected)


def convolution_case_with(window, size):
    anchor, field, expected = convolution_case(size, window)
    return anchor, field, window, expected


# kernel, stride, padding, dilation: different along each axis, so that none stands for another.
PLANES = [
    ((3, 2), (2, 1), (1, 0), (1, 1)),
    ((2, 3), (1, 2), (0, 1), (2, 1)),
    ((4, 4), (2, 2), (1, 1), (1, 1)),
    ((4, 1), (2, 3), (2, 0), (1, 3)),
    ((1, 4), (3, 2), (0, 3), (1, 2)),
    ((3, 3), (3, 2), (2, 1), (2, 3)),
    ((5, 2), (1, 1), (2, 1), (1, 4)),
    ((2, 5), (4, 3), (1, 2), (3, 1)),
]


@pytest.mark.parametrize("groups", [1, 2])
@pytest.mark.parametrize(("kernel", "stride", "padding", "dilation"), PLANES)
def test_convolutions_of_two_dimensions(kernel, stride, padding, dilation, groups):
    window = Window(kernel, stride, padding, dilation, groups)
    for size in ((9, 8), (8, 7), (7, 9)):
        assert_right(*convolution_case_with(window, size))


@pytest.mark.parametrize("groups", [1, 2])
@pytest.mark.parametrize(("kernel", "stride", "padding", "dilation"), PLANES)
def test_transposed_convolutions_of_two_dimensions(kernel, stride, padding, dilation, groups):
    window = Window(kernel, stride, padding, dilation, groups)
    for extra in ((0, 0), tuple(max(s, d) - 1 for s, d in zip(stride, dilation, strict=True))):
        anchor, field, expected = transposed_case((4, 5), window, extra)
        assert_right(anchor, field, window, expected)


VOLUMES = [
    ((2, 1, 3), (1, 2, 1), (0, 1, 1), (1, 1, 2)),
    ((3, 2, 2), (2, 1, 3), (1, 0, 2), (1, 3, 1)),
    ((1, 3, 2), (1, 1, 2), (0, 2, 1), (1, 2, 1)),
]


@pytest.mark.parametrize("groups", [1, 2])
@pytest.mark.parametrize(("kernel", "stride", "padding", "dilation"), VOLUMES)
def test_convolutions_of_three_dimensions(kernel, stride, padding, dilation, groups):
    window = Window(kernel, stride, padding, dilation, groups)
    assert_right(*convolution_case_with(window, (5, 4, 6)))
    extra = tuple(max(s, d) - 1 for s, d in zip(stride, dilation, strict=True))
    anchor, field, expected = transposed_case((3, 4, 2), window, extra)
    assert_right(anchor, field, window, expected)


def test_a_window_that_meets_nothing_but_padding():
    """Taps that never see the field have no gradient; the first phase begins far behind it."""
    window = Window((3,), (4,), (4,), (4,), 1)
    anchor, field, expected = convolution_case((2,), window)
    assert expected.view(N, -1, 2, 3)[..., 0].abs().max() == 0
    assert_right(anchor, field, window, expected)


def test_windows_that_reach_far_beyond_the_field_see_zeros():
    """More padding behind the field than before it, as uneven padding has it."""
    window = Window((4, 3), (2, 1), (1, 0), (1, 2), 1)
    anchor, field = normal(N, M, 3, 4, 5), normal(N, M, 2, 5, 6, key="field")
    behind = F.pad(field, (0, 3, 0, 4))
    expected = autograd(
        lambda x, w: F.conv2d(x, w, None, window.stride, (0, 0), window.dilation),
        F.pad(behind, (0, 0, 1, 0))[..., :10, :],
        anchor,
        normal(3, 2, 4, 3, key="weight"),
    )
    assert_right(anchor, field, window, expected)


def test_memory_in_another_order_makes_no_difference():
    window = Window((3, 2), (2, 1), (1, 0), (1, 1), 1)
    anchor, field, expected = convolution_case((9, 8), window)
    last = [part.flatten(0, 1).to(memory_format=torch.channels_last) for part in (anchor, field)]
    assert_right(*(part.view(N, M, *part.shape[1:]) for part in last), window, expected)
    draws_first = [part.transpose(0, 1).contiguous().transpose(0, 1) for part in (anchor, field)]
    assert_right(*draws_first, window, expected)


def test_written_out():
    """An anchor of two positions over a field of three, at stride one and padding one."""
    anchor = torch.tensor([[[[2.0, 3.0, 5.0, 7.0]]]])
    field = torch.tensor([[[[1.0, 10.0, 100.0]]]])
    window = Window((2,), (1,), (1,), (1,), 1)
    # Tap 0 sees 0, 1, 10, 100; tap 1 sees 1, 10, 100, 0.
    for way in (_sample_by_sample, _shift_by_shift):
        assert way(anchor, field, window).tolist() == [[3 + 50 + 700, 2 + 30 + 500]]
