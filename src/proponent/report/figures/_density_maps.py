"""Scores of samples over the plane in which they lie."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from proponent.report.figures._density_clusters import check_plane, mark_query, write_above
from proponent.report.figures._density_scale import ColourScale, influence_scale, self_influence_scale
from proponent.report.figures._density_scored import Scored
from proponent.report.figures._style import MUTED, OPPONENT, PROPONENT
from proponent.scores import FloatArray


def draw_self_influence_map(ax: Axes, points: FloatArray, scored: Scored) -> Axes:
    """Draw every sample in the colour of its self-influence, with a colour bar.

    Args:
        ax: Where to draw.
        points: The samples, ``[n, 2]``.
        scored: Their self-influences; the names of clusters stand above them.

    Returns:
        `ax`.

    Raises:
        ValueError: The points are not in a plane.
    """
    _draw(ax, points, scored, self_influence_scale(scored.values), "self-influence")
    return ax


def draw_influence_map(ax: Axes, points: FloatArray, scored: Scored, query: FloatArray) -> Axes:
    """Draw every sample in the colour of its influence on a query: proponents blue, opponents red.

    Args:
        ax: Where to draw.
        points: The samples, ``[n, 2]``.
        scored: Their influences; the names of clusters stand above them.
        query: The point that is asked about, ``[2]``; a cross marks it.

    Returns:
        `ax`.

    Raises:
        ValueError: The points are not in a plane.
    """
    bar = _draw(ax, points, scored, influence_scale(scored.values), "influence on z")
    bar.set_title("proponent", fontsize=7, color=PROPONENT, loc="center", weight="normal", pad=5)
    bar.set_xlabel("opponent", fontsize=7, color=OPPONENT, labelpad=5)
    mark_query(ax, query)
    return ax


def _draw(ax: Axes, points: FloatArray, scored: Scored, scale: ColourScale, name: str) -> Axes:
    """Draw the map, and give back the axes of its colour bar."""
    values, labels = scored.values, scored.labels
    check_plane(points)
    order = np.argsort(np.abs(values), kind="stable")  # the strongest lie on top
    dots = ax.scatter(
        points[order, 0], points[order, 1], c=values[order],
        s=17, cmap=scale.colours, norm=scale.norm, edgecolor=MUTED, linewidth=0.35,
    )  # fmt: skip
    figure = ax.get_figure()
    assert figure is not None
    bar = figure.colorbar(dots, ax=ax, extend=scale.extend, shrink=0.82, aspect=26, pad=0.02)
    bar.outline.set_linewidth(0)
    bar.ax.tick_params(labelsize=7, width=0.5)
    bar.set_label(f"{name} ({scored.unit}{scale.note})", fontsize=8)
    bar.ax.minorticks_off()
    if not scale.note:
        bar.locator = MaxNLocator(5)
        bar.update_ticks()
    for k in np.unique(labels) if labels is not None else ():
        write_above(ax, points[labels == k], str(k))
    ax.set_aspect("equal")
    ax.margins(0.06, 0.09)
    ax.set_xticks([])
    ax.set_yticks([])
    for side in ("left", "bottom"):
        ax.spines[side].set_visible(False)
    return bar.ax
