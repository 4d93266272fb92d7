"""How many planted samples a ranking finds among the first k."""

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes

from proponent.evaluation import detect, detection_curve
from proponent.report.figures._style import FAINT, MUTED, SERIES
from proponent.scores import FloatArray


def draw_detection(ax: Axes, rankings: Mapping[str, FloatArray], foreign: npt.NDArray[np.bool_]) -> Axes:
    """Draw the detection curves of several rankings, with their ROC areas in the legend.

    The dashed line is the best that any ranking could do, the dotted one is chance.

    Args:
        ax: Where to draw.
        rankings: A score for each sample, ``[n]``, by name; self-influence first, high is suspect.
        foreign: Which samples were planted, ``[n]``.

    Returns:
        `ax`.
    """
    total, planted = len(foreign), int(foreign.sum())
    k = np.arange(total + 1)
    ax.plot(k, np.minimum(k, planted), color=MUTED, linewidth=0.9, linestyle=(0, (4, 3)), zorder=1)
    ax.plot(k, k * planted / total, color=MUTED, linewidth=0.9, linestyle=(0, (1, 2)), zorder=1)
    for i, (name, values) in enumerate(rankings.items()):
        ax.plot(
            k, detection_curve(values, foreign),
            color=SERIES[i % len(SERIES)], linewidth=2.2 if i == 0 else 1.6, zorder=3 if i == 0 else 2,
            label=f"{name} ({detect(values, foreign).roc_area:.3f})",
        )  # fmt: skip
    ax.grid(color=FAINT, linewidth=0.6)
    ax.set_axisbelow(True)
    ax.set_xlim(0, total)
    ax.set_ylim(0, planted * 1.03)
    ax.set_xlabel("samples looked at, the highest first")
    ax.set_ylabel(f"planted samples found, of {planted}")
    ax.legend(loc="lower right", fontsize=8, title="sorted by (ROC area)", title_fontsize=8, alignment="left")
    return ax
