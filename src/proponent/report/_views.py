"""How samples are shown: a picture, a curve, or the cells of a row."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from proponent.report._thumbnails import thumbnails

if TYPE_CHECKING:
    from proponent.data import DataSet

_POINTS, _CELLS, _LETTERS = 96, 24, 160

View = dict[str, Any]


def views_of(data: "DataSet", positions: Sequence[int], budget: int) -> Mapping[int, View]:
    """Make what the page draws of each sample: `thumb`, `values`, `details`, as its components take them.

    Args:
        data: The samples.
        positions: Which, the most important first.
        budget: How many characters the pictures may take.
    """
    views: dict[int, View] = {i: {"details": _details(data, i)} for i in positions}
    if data.kind == "rows":
        return views
    if data.kind == "arrays" and is_curve(data.values.shape[1:]):
        for i in positions:
            views[i]["values"] = _curve(np.asarray(data.values[i]))
        return views
    for i, address in thumbnails(data.thumbnail, positions, budget).items():
        views[i]["thumb"] = address
    return views


def is_curve(shape: tuple[int, ...]) -> bool:
    """Whether samples of a shape are drawn as a line.

    >>> is_curve((100,)), is_curve((1, 100)), is_curve((8, 8))
    (True, True, False)
    """
    return len(shape) < 2 or 1 in shape[-2:]


def _details(data: "DataSet", i: int) -> dict[str, str | float | int]:
    cells = list(data.describe(i).items())[:_CELLS]
    return {
        name: value[:_LETTERS] if isinstance(value, str) else rounded(value)  # what a page shows of it
        for name, value in cells
    }


def rounded(value: float | int, digits: int = 4) -> float | int:
    """Round to significant digits.

    >>> rounded(123.456), rounded(7.0)
    (123.5, 7)
    """
    number = float(f"{value:.{digits}g}")
    return int(number) if number.is_integer() and abs(number) < 1e15 else number


def _curve(sample: npt.NDArray[Any]) -> list[float | int]:
    """The numbers of a curve; of a long one the means of equal parts."""
    numbers = sample.reshape(-1).astype(np.float64)
    if len(numbers) > _POINTS:
        numbers = np.array([part.mean() for part in np.array_split(numbers, _POINTS)])
    return [rounded(value) for value in numbers.tolist()]
