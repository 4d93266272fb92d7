"""Scores of samples over the plane in which they lie."""

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from proponent.report.figures._density_clusters import check_plane, mark_query, write_above
from proponent.report.figures._density_scale import ColourScale, influence_scale, self_influence_scale
from proponent.report.figures._style import MUTED
from proponent.scores import FloatArray


def draw_self_influence_map(
    ax: Axes,
    points: FloatArray,
    values: FloatArray,
    labels: npt.NDArray[np.integer] | None = None,
    unit: str = "nats",
) -> Axes:
    """Draw every sample in the colour of its self-influence, with a colour bar.

    Args:
        ax: Where to draw.
        points: The samples, ``[n, 2]``.
        values: Their self-influence, ``[n]``.
        labels: The cluster of each, ``[n]``; its number stands above it.
        unit: What a value of 1 means.

    Returns:
        `ax`.

    Raises:
        ValueError: The points are not in a plane.
    """
    return _draw(ax, points, values, self_influence_scale(values), f"self-influence ({unit}", labels)


def draw_influence_map(
    ax: Axes,
    points: FloatArray,
    values: FloatArray,
    query: FloatArray,
    labels: npt.NDArray[np.integer] | None = None,
    unit: str = "nats",
) -> Axes:
    """Draw every sample in the colour of its influence on a query, with a colour bar centred on 0.

    Args:
        ax: Where to draw.
        points: The samples, ``[n, 2]``.
        values: Their influence, ``[n]``.
        query: The point that is asked about, ``[2]``; a cross marks it.
        labels: The cluster of each, ``[n]``; its number stands above it.
        unit: What a value of 1 means.

    Returns:
        `ax`.

    Raises:
        ValueError: The points are not in a plane.
    """
    _draw(ax, points, values, influence_scale(values), f"influence on z ({unit}", labels)
    mark_query(ax, query)
    return ax


def _draw(
    ax: Axes,
    points: FloatArray,
    values: FloatArray,
    scale: ColourScale,
    label: str,
    labels: npt.NDArray[np.integer] | None,
) -> Axes:
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
    bar.set_label(f"{label}{scale.note})", fontsize=8)
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
    return ax
