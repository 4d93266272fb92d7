"""Scores of samples against what one would guess them from: likelihood, distance."""

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes

from proponent.report.figures._density_clusters import scatter_clusters
from proponent.report.figures._density_scale import typical
from proponent.report.figures._style import FAINT, MUTED
from proponent.scores import FloatArray


def draw_against_log_likelihood(
    ax: Axes,
    log_likelihoods: FloatArray,
    values: FloatArray,
    labels: npt.NDArray[np.integer] | None = None,
    unit: str = "nats",
) -> Axes:
    """Draw a mark for each sample at its log-likelihood and its self-influence.

    Args:
        ax: Where to draw.
        log_likelihoods: In nats, ``[n]``.
        values: Self-influence, ``[n]``.
        labels: The cluster of each, ``[n]``, shown by colour and form.
        unit: The unit of self-influence.

    Returns:
        `ax`.
    """
    _draw(ax, log_likelihoods, values, labels)
    ax.set_xlabel("log-likelihood (nats)")
    ax.set_ylabel(_named(ax, "self-influence", unit))
    return ax


def draw_against_distance(
    ax: Axes,
    distances: FloatArray,
    values: FloatArray,
    labels: npt.NDArray[np.integer] | None = None,
    unit: str = "nats",
) -> Axes:
    """Draw a mark for each sample at its distance to a query and its influence on it.

    Distances that span more than a power of ten are drawn on a log scale.

    Args:
        ax: Where to draw.
        distances: Of the samples to the query, ``[n]``.
        values: Influence, ``[n]``.
        labels: The cluster of each, ``[n]``, shown by colour and form.
        unit: The unit of influence.

    Returns:
        `ax`.
    """
    _draw(ax, distances, values, labels)
    logarithmic = bool(distances.min() > 0 and distances.max() > 10 * distances.min())
    if logarithmic:
        ax.set_xscale("log")
    ax.set_xlabel("distance to z" + (" (log scale)" if logarithmic else ""))
    ax.set_ylabel(_named(ax, "influence on z", unit))
    return ax


def _draw(ax: Axes, x: FloatArray, values: FloatArray, labels: npt.NDArray[np.integer] | None) -> None:
    linear = typical(values)
    if linear > 0:
        ax.set_yscale("symlog", linthresh=linear)
    ax.axhline(0, color=MUTED, linewidth=0.7, zorder=0)
    ax.grid(color=FAINT, linewidth=0.6)
    ax.set_axisbelow(True)
    scatter_clusters(ax, x, values, np.zeros(len(values), int) if labels is None else labels)


def _named(ax: Axes, name: str, unit: str) -> str:
    return f"{name} ({unit}{', symmetric log scale' if ax.get_yscale() == 'symlog' else ''})"
