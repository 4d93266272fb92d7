"""The paper's figures on density estimators, drawn from their numbers.

matplotlib comes with the extra ``proponent[figures]``.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from proponent.paper._density_figures import FORMS, DensityFigures

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from proponent.report.figures import Scored


def clusters_picture(figures: DensityFigures) -> "Figure":
    """Draw the six clusters and the query."""
    from matplotlib.figure import Figure

    from proponent.report.figures import draw_clusters, figure_style

    data = figures.clusters
    notes = {
        k: f"{size} samples, σ = {deviation:g}"
        for k, (size, deviation) in enumerate(zip(data.sizes, data.deviations, strict=True))
    }
    with figure_style():
        figure = Figure(figsize=(5.4, 5.2), layout="constrained")
        ax = draw_clusters(figure.subplots(), data.points, data.labels, notes, figures.query)
        ax.set_title("Six clusters, and the query z")
    return figure


def self_influence_picture(figures: DensityFigures) -> "Figure":
    """Draw self-influences over the plane, and against log-likelihood, for each estimator."""
    from proponent.report.figures import draw_against_log_likelihood

    def against_likelihood(ax: "Axes", name: str) -> None:
        scored = _own(figures, name)
        draw_against_log_likelihood(ax, figures.estimates[name].log_likelihoods, scored)

    return _columns(figures, (_self_influence_over(figures), against_likelihood))


def influence_picture(figures: DensityFigures) -> "Figure":
    """Draw influences on z over the plane, around z, and against distance, for each estimator.

    Against distance all clusters but that of z share a mark: they lie as far away, with the same influence.
    """
    from proponent.report.figures import Scored, draw_against_distance

    names = np.where(figures.clusters.labels == 0, "cluster 0", "other clusters")

    def against_distance(ax: "Axes", name: str) -> None:
        influence = figures.estimates[name].influence
        scored = Scored(influence.values[:, 0], names, influence.unit)
        draw_against_distance(ax, figures.distances, scored)

    return _columns(
        figures, (_influence_over(figures), _influence_over(figures, cluster=0), against_distance)
    )


def overview_picture(figures: DensityFigures) -> "Figure":
    """Draw self-influences over the plane and influences around z, for each estimator."""
    return _columns(figures, (_self_influence_over(figures), _influence_over(figures, cluster=0)))


def forms_picture(figures: DensityFigures) -> "Figure":
    """Draw the mixture's self-influences by cluster: exact, corrected expansion, as printed."""
    from matplotlib.figure import Figure

    from proponent.report.figures import draw_by_cluster, figure_style

    titles = {"exact": "exact", "expansion": "corrected expansion", "paper": "as the paper prints it"}
    with figure_style():
        figure = Figure(figsize=(10, 3.4), layout="constrained")
        for ax, form in zip(figure.subplots(1, len(FORMS), sharey=True), FORMS, strict=True):
            own = figures.forms[form].self_influence
            draw_by_cluster(ax, own.values, figures.clusters.labels, own.unit)
            ax.set_title(titles[form])
            ax.label_outer()
    return figure


def _own(figures: DensityFigures, name: str) -> "Scored":
    """The self-influences under an estimator, cluster by cluster."""
    from proponent.report.figures import Scored

    own = figures.estimates[name].self_influence
    return Scored(own.values, figures.clusters.labels, own.unit)


def _self_influence_over(figures: DensityFigures) -> Callable[["Axes", str], None]:
    """Self-influences over the plane."""
    from proponent.report.figures import draw_self_influence_map

    def draw(ax: "Axes", name: str) -> None:
        draw_self_influence_map(ax, figures.clusters.points, _own(figures, name))

    return draw


def _influence_over(figures: DensityFigures, cluster: int | None = None) -> Callable[["Axes", str], None]:
    """Influences on z over the plane, or over one cluster alone."""
    from proponent.report.figures import Scored, draw_influence_map

    data = figures.clusters
    shown = np.full(len(data.points), True) if cluster is None else data.labels == cluster
    labels = data.labels if cluster is None else None

    def draw(ax: "Axes", name: str) -> None:
        influence = figures.estimates[name].influence
        scored = Scored(influence.values[shown, 0], labels, influence.unit)
        draw_influence_map(ax, data.points[shown], scored, figures.query)
        if cluster is not None:
            ax.set_xlabel(f"cluster {cluster} alone", fontsize=8)

    return draw


def _columns(figures: DensityFigures, rows: tuple[Callable[["Axes", str], None], ...]) -> "Figure":
    """A column for each estimator, under its name; one legend for all."""
    from matplotlib.figure import Figure

    from proponent.report.figures import figure_style

    with figure_style():
        figure = Figure(figsize=(10.2, 3.1 * len(rows)), layout="constrained")
        axes = figure.subplots(len(rows), len(figures.estimates), squeeze=False)
        for i, draw in enumerate(rows):
            for ax, name in zip(axes[i], figures.estimates, strict=True):
                draw(ax, name)
        for ax, title in zip(axes[0], _titles(figures), strict=True):
            ax.set_title(title, loc="center", pad=18)  # maps have no left edge; colour bars have titles too
        marks = {
            name: handle
            for ax in axes[:, 0]
            for handle, name in zip(*ax.get_legend_handles_labels(), strict=True)
        }
        if len(marks) > 1:
            figure.legend(marks.values(), marks, loc="outside lower center", ncols=len(marks), fontsize=8)
    return figure


def _titles(figures: DensityFigures) -> tuple[str, ...]:
    return f"k-NN, k = {figures.k}", f"KDE, bandwidth {figures.bandwidth:g}", "spherical mixture"
