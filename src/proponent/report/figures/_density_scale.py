"""From scores to colours, with long tails and infinite scores shown as what they are."""

from dataclasses import dataclass

import numpy as np
from matplotlib.colors import Colormap, LinearSegmentedColormap, Normalize, SymLogNorm

from proponent.report.figures._style import OPPONENT, PROPONENT
from proponent.scores import FloatArray

# A scale is logarithmic where the largest score is so many times the typical one.
LONG_TAIL = 100

SEQUENTIAL: Colormap = LinearSegmentedColormap.from_list(
    "self-influence", ["#fdf3d7", "#f2c14e", "#d5622b", "#8c1d40", "#2b0a3d"]
)
DIVERGING: Colormap = LinearSegmentedColormap.from_list(
    "influence", ["#6b1f02", OPPONENT, "#efa17f", "#f4f4f2", "#86b6dc", PROPONENT, "#0a3459"]
)


@dataclass(frozen=True, eq=False)
class ColourScale:
    """How scores become colours.

    Attributes:
        norm: From scores to 0 and 1.
        colours: From there to colours.
        note: What the label of a colour bar must add.
        extend: Towards which side scores are infinite, as matplotlib's colour bars name it.
    """

    norm: Normalize
    colours: Colormap
    note: str
    extend: str


def self_influence_scale(values: FloatArray) -> ColourScale:
    """A scale from 0, or the lowest if that is negative, to the highest finite one.

    Args:
        values: The scores, ``[n]``.
    """
    finite = values[np.isfinite(values)]
    low, high = float(finite.min(initial=0.0)), float(finite.max(initial=0.0))
    return _scale(values, SEQUENTIAL, low, high if high > low else low + 1.0)


def influence_scale(values: FloatArray) -> ColourScale:
    """A scale that is as long on either side of 0: blue for proponents, red for opponents.

    Args:
        values: The scores, ``[n]``.
    """
    limit = float(np.abs(values[np.isfinite(values)]).max(initial=0.0)) or 1.0
    return _scale(values, DIVERGING, -limit, limit)


def typical(values: FloatArray) -> float:
    """The size up to which a symmetric log scale is linear; 0 where a linear scale serves."""
    sizes = np.abs(values[np.isfinite(values)])
    middle = float(np.median(sizes)) if len(sizes) else 0.0
    return middle if sizes.max(initial=0.0) > LONG_TAIL * middle else 0.0


def _scale(values: FloatArray, colours: Colormap, low: float, high: float) -> ColourScale:
    sides = {(True, True): "both", (True, False): "min", (False, True): "max", (False, False): "neither"}
    extend = sides[bool((values == -np.inf).any()), bool((values == np.inf).any())]
    linear = typical(values)
    if linear > 0:
        norm: Normalize = SymLogNorm(linear, vmin=low, vmax=high, base=10)
        return ColourScale(norm, colours, ", symmetric log scale", extend)
    return ColourScale(Normalize(low, high), colours, "", extend)
