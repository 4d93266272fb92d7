"""Layouts are found where weights show them, and called ambiguous where nothing does."""

import pytest
import torch

from proponent.gradients._layout import PROBE_WEIGHTS, Layout, find_layout
from toys import normal

N = len(PROBE_WEIGHTS)
TOLERANCE = 1e-9
LAYOUTS = {
    "one-row-a-sample": ((N, 4), Layout(0, True)),
    "samples-first": ((2 * N, 4), Layout(0, True)),
    "draws-first": ((2 * N, 4), Layout(0, False)),
    "second-axis": ((2, N, 4), Layout(1, True)),
    "second-axis-samples-first": ((5, 2 * N, 4), Layout(1, True)),
    "second-axis-draws-first": ((5, 2 * N, 4), Layout(1, False)),
    "as-many-draws-as-samples": ((N, N, 4), Layout(1, True)),
    "as-many-positions-as-samples": ((N, N, 4), Layout(0, True)),
    "third-axis": ((N, 2, N, 2), Layout(2, True)),
}


def pair(shape, layout, key="gradient"):
    """The gradient of a sum of losses, and of the weighted sum, with the samples lying as told."""
    gradient = normal(*shape, key=key)
    rows = shape[layout.axis]
    sample = torch.arange(rows) // (rows // N) if layout.samples_first else torch.arange(rows) % N
    weights = torch.tensor(PROBE_WEIGHTS, dtype=gradient.dtype)[sample]
    return gradient, gradient * weights.view(-1, *[1] * (len(shape) - layout.axis - 1))


@pytest.mark.parametrize("name", LAYOUTS)
def test_found(name):
    shape, layout = LAYOUTS[name]
    assert find_layout(*pair(shape, layout), len(shape) - 1, TOLERANCE) == (layout, False)


def test_samples_are_looked_for_in_the_leading_axes_alone():
    gradient, weighted = pair((2, N, 4), Layout(1, True))
    assert find_layout(gradient, weighted, 1, TOLERANCE) == (None, False)
    assert find_layout(gradient[0], weighted[0], 0, TOLERANCE) == (None, False)


def test_samples_that_lie_along_no_axis():
    gradient = normal(2 * N, 4)
    for weighted in (7 * gradient, normal(2 * N, 4, key="other")):
        assert find_layout(gradient, weighted, 1, TOLERANCE) == (None, False)
    uneven, weighted = normal(N + 1, 4), 7 * normal(N + 1, 4)
    assert find_layout(uneven, weighted, 1, TOLERANCE) == (None, False)


def test_one_row_out_of_place_is_no_layout():
    gradient, weighted = pair((2 * N, 4), Layout(0, True))
    weighted[1, 2] *= 1 + 1e-6
    assert find_layout(gradient, weighted, 1, TOLERANCE) == (None, False)
    assert find_layout(gradient, weighted, 1, 1e-4) == (Layout(0, True), False)


def test_the_tolerance_is_relative_to_the_largest_number():
    gradient, weighted = pair((2 * N, 4), Layout(0, True))
    rounded = weighted + 1e-12 * weighted.abs().max()
    for scale in (1e-20, 1.0, 1e20):
        assert find_layout(scale * gradient, scale * rounded, 1, TOLERANCE) == (Layout(0, True), False)


def test_zeros_tell_nothing():
    zeros = torch.zeros(2 * N, 4)
    assert find_layout(zeros, zeros, 1, TOLERANCE) == (Layout(0, True), True)
    assert find_layout(zeros[:N, None], zeros[:N, None], 2, TOLERANCE) == (Layout(0, True), False)


@pytest.mark.parametrize("name", LAYOUTS)
def test_split_brings_samples_first_and_draws_second(name):
    """A tensor whose numbers name their own place."""
    shape, layout = LAYOUTS[name]
    n, m = N, shape[layout.axis] // N
    rest = [size for axis, size in enumerate(shape) if axis != layout.axis]
    places = torch.arange(n * m * torch.Size(rest).numel()).view(n, m, *rest)
    joined = places if layout.samples_first else places.transpose(0, 1)
    tensor = joined.reshape(n * m, *rest).movedim(0, layout.axis)
    assert tensor.shape == shape
    assert torch.equal(layout.split(tensor, n), places)
