"""Clusters in the plane: who belongs to which."""

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes

from proponent.report.figures._density_scored import Labels
from proponent.report.figures._style import INK, MUTED
from proponent.scores import FloatArray

# Told apart by people who see colours otherwise, and by form besides.
CLUSTER_COLOURS = ("#1c6fb0", "#d99000", "#2a9273", "#b3446c", "#7b5ea7", "#4b5563")
_QUERY = "#0f8a3c"
CLUSTER_MARKERS = ("o", "s", "^", "D", "v", "p")


def draw_clusters(
    ax: Axes,
    points: FloatArray,
    labels: npt.NDArray[np.integer],
    notes: Mapping[int, str] | None = None,
    query: FloatArray | None = None,
) -> Axes:
    """Draw every sample in the colour and the form of its cluster, with the cluster's number above it.

    Args:
        ax: Where to draw.
        points: The samples, ``[n, 2]``.
        labels: The cluster of each, ``[n]``.
        notes: What else stands above a cluster, by its number.
        query: A point to be marked, ``[2]``.

    Returns:
        `ax`.

    Raises:
        ValueError: The points are not in a plane.
    """
    check_plane(points)
    scatter_clusters(ax, points[:, 0], points[:, 1], labels, size=15.0)
    for k in np.unique(labels):
        text = f"cluster {k}" + (f"\n{notes[int(k)]}" if notes and int(k) in notes else "")
        write_above(ax, points[labels == k], text, size=8.0)
    if query is not None:
        mark_query(ax, query)
    ax.set_aspect("equal")
    ax.margins(0.16, 0.14)
    return ax


def scatter_clusters(ax: Axes, x: FloatArray, y: FloatArray, labels: Labels, size: float = 13.0) -> None:
    """Draw a mark for each sample; what is infinite lies at the edge as a hollow triangle."""
    numbered = np.issubdtype(labels.dtype, np.integer)
    finite = np.isfinite(x) & np.isfinite(y)
    for i, k in enumerate(np.unique(labels)):
        mine = (labels == k) & finite
        ax.scatter(
            x[mine], y[mine],
            s=size, color=CLUSTER_COLOURS[i % 6], marker=CLUSTER_MARKERS[i % 6],
            alpha=0.85, edgecolor="white", linewidth=0.3,
            label=f"cluster {k}" if numbered else str(k),
        )  # fmt: skip
    if not finite.all():
        (left, right), (bottom, top) = ax.get_xlim(), ax.get_ylim()
        ax.scatter(
            np.clip(x[~finite], left, right), np.clip(y[~finite], bottom, top),
            s=28, facecolor="none", edgecolor=INK, marker="^", clip_on=False, label="infinite",
        )  # fmt: skip
        ax.set_xlim(left, right)
        ax.set_ylim(bottom, top)


def write_above(ax: Axes, points: FloatArray, text: str, size: float = 7.5) -> None:
    """Write a text above some points of the plane."""
    x, y = (float(points[:, 0].min()) + float(points[:, 0].max())) / 2, float(points[:, 1].max())
    ax.annotate(
        text, (x, y), xytext=(0, 4), textcoords="offset points",
        ha="center", va="bottom", fontsize=size, color=MUTED,
    )  # fmt: skip


def mark_query(ax: Axes, query: FloatArray, name: str = "z") -> None:
    """Mark a point that is asked about with a cross, and write its name where samples don't hide it."""
    ax.scatter(
        [query[0]], [query[1]],
        s=34, marker="x", color=_QUERY, linewidth=1.7, zorder=6, label=f"query {name}",
    )  # fmt: skip
    ax.annotate(
        name, (query[0], query[1]), xytext=(24, -24), textcoords="offset points",
        color=_QUERY, fontsize=9, weight="bold", zorder=6,
        arrowprops={"arrowstyle": "-", "color": _QUERY, "linewidth": 0.8, "shrinkB": 4},
    )  # fmt: skip


def check_plane(points: FloatArray) -> None:
    """Refuse points that are not in a plane.

    Raises:
        ValueError: They are not ``[n, 2]``.
    """
    if points.ndim != 2 or points.shape[1] != 2:
        raise ValueError(f"`points` must lie in the plane, [n, 2], got shape {points.shape}.")
