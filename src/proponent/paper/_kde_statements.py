"""What the paper says of kernel density estimators, measured."""

import math

import numpy as np

from proponent.paper._density_figures import KDE, DensityFigures
from proponent.paper._orders import rising_pairs
from proponent.paper._statement import Statement
from proponent.report import plain, signed


def kde_statements(figures: DensityFigures) -> tuple[Statement, ...]:
    """Measure the paper's statements on the kernel density estimator."""
    return _likelihood(figures), _smallest(figures), _distance(figures), _own_cluster(figures)


def _likelihood(figures: DensityFigures) -> Statement:
    estimate = figures.estimates[KDE]
    contrary = rising_pairs(estimate.log_likelihoods, estimate.self_influence.values)
    pairs = math.comb(len(estimate.log_likelihoods), 2)
    return Statement(
        name="reverse order of likelihood",
        method=KDE,
        where="Section 3; appendix, self-influences",
        text="Self-influences strictly obey the reverse order of likelihood.",
        holds=contrary == 0,
        measured=f"{contrary} of {pairs:,} pairs of samples are in another order.",
        numbers={"pairs": pairs, "pairs in another order": contrary},
    )


def _smallest(figures: DensityFigures) -> Statement:
    own, sizes = figures.estimates[KDE].self_influence.values, figures.clusters.sizes
    smallest = int(sizes.argmin())
    m = int(sizes[smallest])
    inside = figures.clusters.labels == smallest
    found = int(inside[np.argsort(-own, kind="stable")[:m]].sum())
    lowest, highest = float(own[inside].min()), float(own[~inside].max())
    return Statement(
        name="smallest cluster",
        method=KDE,
        where="Appendix, self-influences",
        text="The samples of the smallest cluster have the highest self-influences.",
        holds=found == m,
        measured=f"{found} of the {m} highest lie in cluster {smallest}: {plain(lowest)} nats or more there, "
        f"{plain(highest)} or less elsewhere.",
        numbers={
            "samples of the smallest cluster": m,
            "of them among the highest": found,
            "lowest inside": lowest,
            "highest outside": highest,
        },
    )


def _distance(figures: DensityFigures) -> Statement:
    scores = figures.estimates[KDE].influence.values[:, 0]
    farther, nearer = (rising_pairs(sign * figures.distances, scores) for sign in (1, -1))
    return Statement(
        name="distance",
        method=KDE,
        where="Section 3",
        text="A sample farther from z has a higher influence on it.",
        holds=farther > 0 and nearer == 0,
        instead="A lower one, as the paper's own equation and next sentence say.",
        holds_instead=nearer > 0 and farther == 0,
        measured=f"The nearer sample has the higher influence in {nearer:,} pairs, the farther one in "
        f"{farther:,}.",
        numbers={"pairs with the nearer higher": nearer, "pairs with the farther higher": farther},
    )


def _own_cluster(figures: DensityFigures) -> Statement:
    scores = figures.estimates[KDE].influence.values[:, 0]
    inside = figures.clusters.labels == 0
    proponents, foreign = int((scores[inside] > 0).sum()), int((scores[~inside] > 0).sum())
    lowest, n = float(scores[~inside].min()), len(scores)
    return Statement(
        name="own cluster",
        method=KDE,
        where="Appendix, influences on z",
        text="The proponents of z are all samples of cluster 0; the rest have slightly negative influences.",
        holds=proponents == int(inside.sum()) and foreign == 0 and lowest > -2 / n,
        measured=f"{proponents} of {int(inside.sum())} samples of cluster 0 are proponents, and {foreign} of "
        f"the other {int((~inside).sum())}, whose lowest is {signed(lowest)} nats.",
        numbers={
            "samples of cluster 0": int(inside.sum()),
            "of them proponents": proponents,
            "proponents elsewhere": foreign,
            "lowest elsewhere": lowest,
        },
    )
