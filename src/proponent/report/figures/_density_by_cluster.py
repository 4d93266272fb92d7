"""Scores of samples cluster by cluster."""

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes

from proponent.report.figures._density_clusters import CLUSTER_COLOURS
from proponent.report.figures._style import FAINT, INK
from proponent.scores import FloatArray


def draw_by_cluster(
    ax: Axes,
    values: FloatArray,
    labels: npt.NDArray[np.integer],
    unit: str = "nats",
) -> Axes:
    """Draw the self-influences of each cluster side by side, with a bar at their median.

    Args:
        ax: Where to draw.
        values: Self-influence, ``[n]``.
        labels: The cluster of each, ``[n]``; its size stands under its number.
        unit: What a value of 1 means.

    Returns:
        `ax`.
    """
    names, sizes = np.unique(labels, return_counts=True)
    for i, k in enumerate(names):
        mine = np.sort(values[labels == k])
        aside = np.linspace(-0.24, 0.24, len(mine))  # from the lowest on the left to the highest
        ax.scatter(i + aside, mine, s=11, color=CLUSTER_COLOURS[i % 6], alpha=0.8, linewidth=0)
        ax.hlines(np.median(mine), i - 0.34, i + 0.34, color=INK, linewidth=1.3, zorder=3)
    ax.set_xticks(range(len(names)), [f"{k}\n{size}" for k, size in zip(names, sizes, strict=True)])
    ax.grid(axis="y", color=FAINT, linewidth=0.6)
    ax.set_axisbelow(True)
    ax.set_xlabel("cluster, its samples (bar: median)")
    ax.set_ylabel(f"self-influence ({unit})")
    return ax
