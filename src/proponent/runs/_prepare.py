"""From a data set to the numbers that a model takes."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from proponent.runs._scaling import Floats, Scaling
from proponent.runs._settings import Likelihood

if TYPE_CHECKING:
    from proponent.data import DataSet

_SHARES = (Likelihood.BERNOULLI, Likelihood.SQUARED_ERROR)
_FIRST_FEW = 5


@dataclass(frozen=True, eq=False)
class Prepared:
    """What a model is trained on.

    Attributes:
        values: The samples, ``[n, ...]``.
        scaling: How they came about.
        likelihood: The likelihood that suits them.
        notes: What was taken for granted, for a person to read.
    """

    values: Floats
    scaling: Scaling
    likelihood: str
    notes: tuple[str, ...] = ()


def prepare(data: "DataSet", likelihood: str | None = None) -> Prepared:
    """Bring a data set to numbers for a model.

    Pictures become shares of 1, for a Bernoulli likelihood. Columns of rows are standardised, each by its own
    mean and deviation, and other numbers by a common one, for a Gaussian likelihood; numbers that lie between
    0 and 1 stay as they are.

    Args:
        data: The data set.
        likelihood: The likelihood, where it is given: for one that wants numbers between 0 and 1, none are
            moved there.

    Raises:
        ValueError: All columns are constant, or all numbers the same.
    """
    asked = likelihood
    said: tuple[str, ...]
    if data.values.dtype == np.uint8:
        said = () if data.kind == "images" else ("Bytes, taken for pixels and divided by 255.",)
        scaling = Scaling("bytes")
        return Prepared(scaling(data.values), scaling, asked or Likelihood.BERNOULLI, said)
    if asked in _SHARES:
        return Prepared(Scaling()(data.values), Scaling(), asked)
    if data.kind == "rows":
        scaling = _by_columns(data.values, data.columns)
        shown = ", ".join(f"`{name}`" for name in scaling.dropped[:_FIRST_FEW])
        more = ", ..." if len(scaling.dropped) > _FIRST_FEW else ""
        said = (f"Columns left out, since they are constant: {shown}{more}.",) if scaling.dropped else ()
        said += ("Each column is standardised; the likelihood is Gaussian.",)
        return Prepared(scaling(data.values, data.columns), scaling, asked or Likelihood.GAUSSIAN, said)
    low, high = float(data.values.min()), float(data.values.max())
    if low >= 0 and high <= 1:
        said = ("All numbers lie between 0 and 1: the likelihood is Bernoulli.",)
        said = () if asked or data.kind == "images" else said
        return Prepared(Scaling()(data.values), Scaling(), asked or Likelihood.BERNOULLI, said)
    scaling = _overall(data.values, low, high)
    said = (
        f"Numbers from {low:.4g} to {high:.4g}, standardised by their common mean and deviation; the "
        "likelihood is Gaussian.",
    )
    return Prepared(scaling(data.values), scaling, asked or Likelihood.GAUSSIAN, said)


def _by_columns(values: npt.NDArray[Any], columns: tuple[str, ...]) -> Scaling:
    mean, deviation = values.mean(0, dtype=np.float64), values.std(0, dtype=np.float64)
    # Rounding makes the deviation of a constant column a little more than nothing.
    varies = values.min(0) < values.max(0)
    if not varies.any():
        raise ValueError(
            f"The data must vary, but every column is constant: {', '.join(map(repr, columns[:_FIRST_FEW]))}."
        )
    return Scaling(
        "columns",
        tuple(mean[varies].tolist()),
        tuple(deviation[varies].tolist()),
        tuple(name for name, kept in zip(columns, varies, strict=True) if kept),
        tuple(name for name, kept in zip(columns, varies, strict=True) if not kept),
    )


def _overall(values: npt.NDArray[Any], low: float, high: float) -> Scaling:
    if low == high:
        raise ValueError(f"The data must vary, but every number is {low:g}.")
    return Scaling("overall", (float(values.mean(dtype=np.float64)),), (float(values.std(dtype=np.float64)),))
