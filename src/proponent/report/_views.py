"""How samples are shown: a picture, a curve, or the cells of a row."""

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from proponent.report._thumbnails import thumbnails

if TYPE_CHECKING:
    from proponent.data import DataSet

_POINTS = 96
# Cells of a sample and letters of a cell, the most first.
_ROOM = ((24, 160), (16, 80), (12, 40), (8, 24), (4, 12))
_TEXT = 600_000  # characters of all cells beside pictures

View = dict[str, Any]


def views_of(data: "DataSet", positions: Sequence[int], budget: int) -> Mapping[int, View]:
    """Make what the page draws of each sample: `thumb`, `values`, `details`, as its components take them.

    Args:
        data: The samples.
        positions: Which, the most important first.
        budget: How many characters the pictures, or the cells of rows, may take.
    """
    cells = fitting({i: data.describe(i) for i in positions}, budget if data.kind == "rows" else _TEXT)
    views: dict[int, View] = {i: {"details": each} for i, each in cells.items()}
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


def fitting(described: Mapping[int, Mapping[str, Any]], budget: int) -> dict[int, dict[str, Any]]:
    """Cut what there is to read of samples to what there is room for: the first cells, their first letters.

    Args:
        described: Names and values, by position.
        budget: How many characters they may take.
    """
    found: dict[int, dict[str, Any]] = {}
    for count, letters in _ROOM:
        found = {
            i: {
                name[:letters]: value[:letters] if isinstance(value, str) else rounded(value)
                for name, value in list(cells.items())[:count]
            }
            for i, cells in described.items()
        }
        if len(json.dumps(list(found.values()))) <= budget:
            break
    return found


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
