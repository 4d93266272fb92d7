"""Scores of samples against what one would guess them from: likelihood, distance."""

import numpy as np
from matplotlib.axes import Axes

from proponent.report.figures._density_clusters import scatter_clusters
from proponent.report.figures._density_scale import typical
from proponent.report.figures._density_scored import Scored
from proponent.report.figures._style import FAINT, MUTED
from proponent.scores import FloatArray


def draw_against_log_likelihood(ax: Axes, log_likelihoods: FloatArray, scored: Scored) -> Axes:
    """Draw a mark for each sample at its log-likelihood and its self-influence.

    Args:
        ax: Where to draw.
        log_likelihoods: In nats, ``[n]``.
        scored: Self-influences; clusters are shown by colour and form.

    Returns:
        `ax`.
    """
    _draw(ax, log_likelihoods, scored)
    ax.set_xlabel("log-likelihood (nats)")
    ax.set_ylabel(_named(ax, "self-influence", scored.unit))
    return ax


def draw_against_distance(ax: Axes, distances: FloatArray, scored: Scored) -> Axes:
    """Draw a mark for each sample at its distance to a query and its influence on it.

    Distances that span more than a power of ten are drawn on a log scale.

    Args:
        ax: Where to draw.
        distances: Of the samples to the query, ``[n]``.
        scored: Influences on the query; clusters are shown by colour and form.

    Returns:
        `ax`.
    """
    _draw(ax, distances, scored)
    logarithmic = bool(distances.min() > 0 and distances.max() > 10 * distances.min())
    if logarithmic:
        ax.set_xscale("log")
    ax.set_xlabel("distance to z" + (" (log scale)" if logarithmic else ""))
    ax.set_ylabel(_named(ax, "influence on z", scored.unit))
    return ax


def _draw(ax: Axes, x: FloatArray, scored: Scored) -> None:
    linear = typical(scored.values)
    if linear > 0:
        ax.set_yscale("symlog", linthresh=linear)
    ax.axhline(0, color=MUTED, linewidth=0.7, zorder=0)
    ax.grid(color=FAINT, linewidth=0.6)
    ax.set_axisbelow(True)
    labels = np.zeros(len(x), int) if scored.labels is None else scored.labels
    scatter_clusters(ax, x, scored.values, labels)


def _named(ax: Axes, name: str, unit: str) -> str:
    return f"{name} ({unit}{', symmetric log scale' if ax.get_yscale() == 'symlog' else ''})"
