"""What the paper says of influences on a query under well-separated spherical mixtures, measured."""

import math

import numpy as np

from proponent.paper._density_figures import KDE, KNN, MIXTURE, DensityFigures
from proponent.paper._statement import Statement
from proponent.report import signed
from proponent.scores import FloatArray

_ROUNDING = 1e-9


def mixture_query_statements(figures: DensityFigures) -> tuple[Statement, ...]:
    """Measure the paper's statements on the influences of samples on a query under the mixture."""
    return _elsewhere(figures), _opponents(figures), _rule(figures), _nearest(figures)


def _elsewhere(figures: DensityFigures) -> Statement:
    scores = figures.estimates[MIXTURE].influence.values[figures.clusters.labels != 0, 0]
    n = len(figures.clusters.points)
    printed, right = -math.log1p(1 / n), math.log1p(-1 / n)
    miss, miss_instead = (float(np.abs(scores - value).max()) for value in (printed, right))
    return Statement(
        name="other clusters",
        method=MIXTURE,
        where="Appendix, proof of the influence",
        text="A sample outside the cluster of z has the influence −log(1 + 1/N).",
        holds=miss < _ROUNDING,
        instead="It has log((N − 1)/N).",
        holds_instead=miss_instead < _ROUNDING,
        measured=f"{_digits(float(scores[0]))} nats each; as printed {_digits(printed)}.",
        numbers={"influence": float(scores[0]), "as printed": printed, "instead": right},
    )


def _opponents(figures: DensityFigures) -> Statement:
    scores = figures.estimates[MIXTURE].influence.values[:, 0]
    inside = figures.clusters.labels == 0
    count, lowest = int((scores[inside] < 0).sum()), float(scores[inside].min())
    elsewhere = float(scores[~inside].min())
    return Statement(
        name="opponents in the cluster of z",
        method=MIXTURE,
        where="Section 3; appendix, influences on z",
        text="Samples of the same cluster as z can be opponents, even strong ones.",
        holds=lowest < elsewhere - _ROUNDING,
        measured=f"{count} of {int(inside.sum())} samples of cluster 0 are opponents, the strongest at "
        f"{signed(lowest)} nats; elsewhere {signed(elsewhere)}.",
        numbers={
            "opponents in cluster 0": count,
            "lowest in cluster 0": lowest,
            "lowest elsewhere": elsewhere,
        },
    )


def _rule(figures: DensityFigures) -> Statement:
    scores, labels = figures.estimates[MIXTURE].among.values, figures.clusters.labels
    x = figures.clusters.points
    u2, d = (figures.clusters.from_means**2).sum(1), x.shape[1]
    s2 = np.array([u2[labels == k].mean() / d for k in np.unique(labels)])[labels]
    apart = ((x[:, None] - x[None]) ** 2).sum(-1)  # ‖z − x_i‖², [i, z]
    printed = apart > (d + 2) * s2 + u2 / s2
    share = figures.clusters.sizes[labels] / len(labels)
    corrected = apart > (d + 2) * s2 + u2[:, None] * u2 / (d * s2) - 2 * share * s2
    within = labels[:, None] == labels
    opponents, pairs = int((scores < 0)[within].sum()), int(within.sum())
    wrong, wrong_instead = (int((rule != (scores < 0))[within].sum()) for rule in (printed, corrected))
    return Statement(
        name="rule for opponents",
        method=MIXTURE,
        where="Appendix, influences on z",
        text="x_i is an opponent if |z−x_i|² > (d+2)σ² + |z−μ|²/σ².",
        holds=wrong <= wrong_instead,
        instead="If |z−x_i|² > (d+2)σ² + |x_i−μ|²|z−μ|²/(dσ²) − 2σ²N_k/N.",
        holds_instead=wrong_instead < wrong,
        measured=f"{opponents} of {pairs:,} pairs within a cluster are opponents. The printed rule misjudges "
        f"{wrong} pairs, the corrected one {wrong_instead}.",
        numbers={
            "pairs": pairs,
            "opponents": opponents,
            "misjudged as printed": wrong,
            "misjudged corrected": wrong_instead,
        },
    )


def _nearest(figures: DensityFigures) -> Statement:
    found = {name: _own_strongest(estimate.among.values) for name, estimate in figures.estimates.items()}
    printed = _own_strongest(figures.forms["paper"].among.values)
    from_mean = np.linalg.norm(figures.clusters.from_means, axis=1)
    strongest = figures.estimates[MIXTURE].among.values.argmax(0)
    farther = from_mean[strongest] >= from_mean - _ROUNDING
    n = len(strongest)
    return Statement(
        name="nearest everywhere",
        method=MIXTURE,
        where="Section 3, table",
        text="The strongest proponents of z are the nearest samples, wherever z lies in its cluster.",
        holds=found[MIXTURE] == n,
        instead="Away from the centre, samples beyond z can be stronger than the nearest.",
        holds_instead=bool(found[MIXTURE] < n and farther.all()),
        measured=f"With each of the {n} samples for z, z itself is the strongest proponent for "
        f"{found[KNN]} (k-NN), {found[KDE]} (KDE), {found[MIXTURE]} (mixture; {printed} as printed).",
        numbers={
            "samples": n,
            "own strongest, as printed": printed,
            "strongest nearer to the centre than z": int((~farther).sum()),
        }
        | {"own strongest, " + name: count for name, count in found.items()},
    )


def _own_strongest(scores: FloatArray) -> int:
    """How many samples are the strongest proponents of themselves; ties count."""
    return int((np.diag(scores) >= scores.max(0) - _ROUNDING).sum())


def _digits(value: float) -> str:
    """Five digits, where three would hide the difference."""
    return f"{value:.5f}".replace("-", "−")
