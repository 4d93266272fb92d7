"""Arrays of any kind, as scikit-learn and torch take them."""

from typing import Any

import numpy as np
from torch import Tensor

from proponent.scores import FloatArray


def plain(values: Any) -> Any:
    """The data of a tensor, wherever it lies; everything else as it is."""
    return values.detach().cpu().numpy() if isinstance(values, Tensor) else values


def writable(points: FloatArray) -> FloatArray:
    """The same, or a copy of what torch may not touch."""
    return np.require(points, requirements="W")
