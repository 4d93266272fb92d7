"""What the paper says of all density estimators side by side, measured."""

import numpy as np

from proponent.paper._density_figures import KDE, KNN, MIXTURE, DensityFigures
from proponent.paper._orders import rank_correlation
from proponent.paper._statement import Statement

_FIRST = 10
# So many of the 10 nearest must be among the 10 strongest; the paper does not say how strictly it means it.
_ENOUGH = 8
_ROUNDING = 1e-12


def shared_statements(figures: DensityFigures) -> tuple[Statement, ...]:
    """Measure the paper's statements on several density estimators at once."""
    return _trend(figures), _nearest(figures)


def _trend(figures: DensityFigures) -> Statement:
    found = {
        name: rank_correlation(estimate.log_likelihoods, estimate.self_influence.values)
        for name, estimate in figures.estimates.items()
    }
    shown = {name: f"{value:.2f}".replace("-", "−") for name, value in found.items()}
    return Statement(
        name="likelihood",
        method="KDE and spherical mixture",
        where="Appendix, self-influences",
        text="Self-influences tend to decrease as the likelihood increases.",
        holds=found[KDE] < -0.5 and found[MIXTURE] < -0.5,
        measured=f"Rank correlation: KDE {shown[KDE]}, spherical mixture {shown[MIXTURE]}. "
        f"For k-NN, of which the paper does not say so, it is {shown[KNN]}.",
        numbers={"rank correlation, " + name: value for name, value in found.items()},
    )


def _nearest(figures: DensityFigures) -> Statement:
    nearest = np.argsort(figures.distances, kind="stable")[:_FIRST]
    found = {}
    for name, estimate in figures.estimates.items():
        scores = estimate.influence.values[:, 0]
        tenth = np.sort(scores)[-_FIRST]  # what ties with it counts
        found[name] = int((scores[nearest] >= tenth - _ROUNDING).sum())
    shown = ", ".join(f"{name} {count}" for name, count in found.items())
    return Statement(
        name="nearest",
        method="all three",
        where="Section 3, table; appendix, influences on z",
        text="The strongest proponents of z are the nearest samples.",
        holds=min(found.values()) >= _ENOUGH,
        measured=f"Of the {_FIRST} nearest, among the {_FIRST} strongest are: {shown}.",
        numbers={"nearest among the strongest, " + name: count for name, count in found.items()},
    )
