"""What the paper says of k-NN, measured."""

import numpy as np

from proponent.paper._density_figures import KNN, DensityFigures
from proponent.paper._statement import Statement
from proponent.report import plain, signed


def knn_statements(figures: DensityFigures) -> tuple[Statement, ...]:
    """Measure the paper's statements on the k-NN density estimator."""
    return _cluster_of_k(figures), _two_values(figures), _nearest(figures)


def _cluster_of_k(figures: DensityFigures) -> Statement:
    own, labels = figures.estimates[KNN].self_influence.values, figures.clusters.labels
    clusters = np.flatnonzero(figures.clusters.sizes == figures.k)
    inside = np.isin(labels, clusters)
    m = int(inside.sum())
    found = int(inside[np.argsort(-own, kind="stable")[:m]].sum())
    numbers: dict[str, float | int] = {"samples in clusters of k": m, "of them among the highest": found}
    if m:
        lowest, highest = float(own[inside].min()), float(own[~inside].max())
        numbers |= {"lowest inside": lowest, "highest outside": highest}
        names = " and ".join(str(k) for k in clusters)
        measured = (
            f"{found} of the {m} highest lie in cluster {names}: {plain(lowest)} nats or more there, "
            f"{plain(highest)} or less elsewhere."
        )
    else:
        measured = f"No cluster has {figures.k} samples."
    return Statement(
        name="cluster of k",
        method=KNN,
        where="Section 3; appendix, self-influences",
        text="The samples of a cluster of exactly k have the highest self-influences, and they alone have "
        "large ones.",
        holds=bool(m and found == m),
        measured=measured,
        numbers=numbers,
    )


def _two_values(figures: DensityFigures) -> Statement:
    estimate = figures.estimates[KNN]
    scores = np.column_stack([estimate.influence.values, estimate.among.values])
    most = max(len(np.unique(column.round(12))) for column in scores.T)
    values, counts = np.unique(scores[:, 0].round(12), return_counts=True)
    shares = ", ".join(f"{signed(float(v))} for {c}" for v, c in zip(values[::-1], counts[::-1], strict=True))
    return Statement(
        name="two values",
        method=KNN,
        where="Section 3",
        text="For a fixed z there are only two values of influence.",
        holds=most <= 2,
        measured=f"On z: {shares} samples. With each sample for z: {most} at most.",
        numbers={"values on z": len(values), "most values on a sample": most},
    )


def _nearest(figures: DensityFigures) -> Statement:
    scores = figures.estimates[KNN].influence.values[:, 0]
    order = np.argsort(figures.distances, kind="stable")
    near, rest = scores[order[: figures.k]], scores[order[figures.k :]]
    return Statement(
        name="k nearest",
        method=KNN,
        where="Appendix, influences on z",
        text="The k nearest samples are strong proponents of z; the rest have little influence.",
        holds=bool(near.min() > np.abs(rest).max()),
        instead="They are its strongest. How strong is R_k+1/R_k of z alone; it may be next to nothing.",
        holds_instead=bool(near.min() >= rest.max()),
        measured=f"{signed(float(near.min()))} nats for the {figures.k} nearest, "
        f"{signed(float(rest.max()))} for the rest.",
        numbers={
            "lowest of the nearest": float(near.min()),
            "largest of the rest": float(np.abs(rest).max()),
        },
    )
