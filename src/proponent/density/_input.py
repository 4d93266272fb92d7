"""Arrays of any kind, as scikit-learn and torch take them."""

from typing import Any

import numpy as np
from torch import Tensor

from proponent.scores import FloatArray

_LARGEST = 1e150
_FARTHEST = 1e12


def plain(values: Any) -> Any:
    """The data of a tensor, wherever it lies; everything else as it is."""
    return values.detach().cpu().numpy() if isinstance(values, Tensor) else values


def check_range(points: FloatArray, name: str = "X") -> None:
    """Refuse numbers whose squares overflow.

    Raises:
        ValueError: Names the largest.
    """
    largest = float(np.abs(points).max())
    if largest > _LARGEST:
        raise ValueError(
            f"`{name}` must hold numbers up to {_LARGEST:g}, as distances are squared, but one is "
            f"{largest:.3g}. Scale the features, or leave the point out."
        )


def check_within_sight(queries: FloatArray, samples: FloatArray) -> None:
    """Refuse queries so far out that the samples can't be told apart from there.

    Raises:
        ValueError: Says which.
    """
    middle = samples.mean(0)
    reach = float(np.abs(samples - middle).max())
    far = np.abs(queries - middle).max(1)
    if reach > 0 and far.max() > _FARTHEST * reach:
        raise ValueError(
            f"Queries must lie within {_FARTHEST:g} times the samples' own spread, as float64 can't tell "
            f"samples apart from farther out, but query {int(far.argmax())} lies {far.max() / reach:.1g} "
            "times as far. Leave it out."
        )


def writable(points: FloatArray) -> FloatArray:
    """The same, or a copy of what torch may not touch."""
    return np.require(points, requirements="W")
