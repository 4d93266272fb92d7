"""How figures look: one palette, light paper, thin axes."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import matplotlib as mpl

INK = "#1f2933"
MUTED = "#7b8794"
FAINT = "#e4e7eb"
PROPONENT = "#1c6fb0"
OPPONENT = "#c2410c"
PLANTED = "#d99000"
# The first is self-influence, the others are its rivals.
SERIES = (PROPONENT, "#3f4b59", "#8b98a5", "#b8a07a", "#6f9a7d")

_SETTINGS: Any = {  # its keys are a type of their own in matplotlib 3.11
    "font.size": 9,
    "font.family": "sans-serif",
    "axes.titlesize": 10,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.titlepad": 8,
    "axes.labelsize": 9,
    "axes.labelcolor": INK,
    "axes.edgecolor": MUTED,
    "axes.linewidth": 0.7,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlecolor": INK,
    "text.color": INK,
    "xtick.color": MUTED,
    "ytick.color": MUTED,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "xtick.major.width": 0.7,
    "ytick.major.width": 0.7,
    "legend.frameon": False,
    "figure.facecolor": "white",
    "axes.facecolor": "white",
    "savefig.facecolor": "white",
    "savefig.dpi": 200,
}


@contextmanager
def figure_style() -> Iterator[None]:
    """Draw in the library's style within the block; a caller's own settings come back after it."""
    with mpl.rc_context(_SETTINGS):
        yield
