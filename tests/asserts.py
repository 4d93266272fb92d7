"""Properties with names, for whatever maps n samples to n results."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import torch
from torch import Tensor

from proponent.data import Batch, batch_size, take

PerSample = Callable[[Batch], Any]


def assert_close(actual: Any, expected: Any, tolerance: float = 1e-10) -> None:
    """The two agree in shape, and to a relative error of the whole in the Euclidean norm."""
    actual, expected = _tensor(actual), _tensor(expected)
    assert actual.shape == expected.shape, f"shapes {tuple(actual.shape)} and {tuple(expected.shape)}"
    assert bool(torch.isfinite(actual).all()), "values that are not finite"
    scale = float(expected.norm())
    error = float((actual - expected).norm())
    assert error <= tolerance * (scale or 1.0), (
        f"relative error {error / (scale or 1.0):.3g} > {tolerance:.3g}"
    )


def assert_same_bits(actual: Any, expected: Any) -> None:
    """The two agree in shape, dtype and every bit."""
    actual, expected = np.asarray(actual), np.asarray(expected)
    assert (actual.shape, actual.dtype) == (expected.shape, expected.dtype)
    assert actual.tobytes() == expected.tobytes(), f"{int((actual != expected).sum())} values differ"


def assert_gradients_close(
    actual: Mapping[str, Any], expected: Mapping[str, Any], tolerance: float = 1e-10
) -> None:
    """The same parameters, each with the same gradients relative to the gradient as a whole."""
    assert list(actual) == list(expected), f"parameters {sorted(actual)} and {sorted(expected)}"
    scale = sum(float(_tensor(gradient).norm()) ** 2 for gradient in expected.values()) ** 0.5
    for name, gradient in expected.items():
        error = float((_tensor(actual[name]) - _tensor(gradient)).norm()) / (scale or 1.0)
        assert error <= tolerance, f"`{name}`: relative error {error:.3g} > {tolerance:.3g}"


def assert_batch_size_invariant(
    compute: PerSample, batch: Batch, sizes: tuple[int, ...] = (1, 2, 3), tolerance: float = 1e-10
) -> None:
    """Computing in pieces gives what computing at once gives."""
    whole = _tensor(compute(batch))
    n = batch_size(batch)
    for size in sizes:
        pieces = [take(batch, slice(start, start + size)) for start in range(0, n, size)]
        assert_close(torch.cat([_tensor(compute(piece)) for piece in pieces]), whole, tolerance)


def assert_order_equivariant(compute: PerSample, batch: Batch, tolerance: float = 1e-10) -> None:
    """Samples in another order give the same results in that order."""
    order = torch.randperm(batch_size(batch), generator=torch.Generator().manual_seed(7))
    assert_close(compute(take(batch, order)), _tensor(compute(batch))[order], tolerance)


def assert_independent_of_others(compute: PerSample, batch: Batch, tolerance: float = 1e-10) -> None:
    """The result of a sample doesn't depend on which others stand beside it."""
    n = batch_size(batch)
    doubled = torch.cat([torch.arange(n), torch.zeros(n, dtype=torch.long)])
    assert_close(_tensor(compute(take(batch, doubled)))[:n], compute(batch), tolerance)


def assert_symmetric(matrix: Any, tolerance: float = 1e-10) -> None:
    """A matrix equals its transpose."""
    matrix = _tensor(matrix)
    assert_close(matrix, matrix.T, tolerance)


def assert_expectation(draws: Any, expected: Any, deviations: float = 4.5) -> None:
    """The mean of independent draws along the first axis lies within so many standard errors."""
    draws, expected = _tensor(draws), _tensor(expected)
    error = draws.std(0) / len(draws) ** 0.5
    distance = (draws.mean(0) - expected).abs()
    worst = float((distance / error.clamp_min(1e-300)).where(distance > 1e-12, 0.0).max())
    assert worst <= deviations, f"the mean of {len(draws)} draws is {worst:.3g} standard errors away"


def _tensor(values: Any) -> Tensor:
    if isinstance(values, Tensor):
        return values.detach().cpu().double()
    return torch.as_tensor(np.array(values, dtype=np.float64))
