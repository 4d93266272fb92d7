"""Samples with their scores, as the figures on density take them."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from proponent.scores import FloatArray

Labels = npt.NDArray[np.integer] | npt.NDArray[np.character]


@dataclass(frozen=True, eq=False)
class Scored:
    """Scores of samples, one each.

    Attributes:
        values: Self-influence, or influence on one query, ``[n]``.
        labels: The cluster of each sample, ``[n]``, by its number or by a name; where there are clusters.
        unit: What a value of 1 means.
    """

    values: FloatArray
    labels: Labels | None = None
    unit: str = "nats"
