"""The influence of Gaussian mixtures by implicit differentiation, against refits without each sample.

Refits start where the fit to all samples ended. Ours are steps by the curvature of that fit, many at a time;
scikit-learn's are steps of EM, one refit after the other, and are done for a few samples.
"""

import sys
import time
import warnings
from collections.abc import Callable, Mapping
from copy import deepcopy
from typing import Any

import numpy as np
import sklearn.mixture
from scipy.stats import spearmanr
from sklearn.exceptions import ConvergenceWarning

from _harness import Benchmark, Outcome, Settings, at_least, at_most, print_table
from proponent.density import GaussianMixture
from proponent.scores import FloatArray

TYPES = ("full", "tied", "diag", "spherical")
COMPONENTS, DIMENSION = 3, 4
DISTANCES = {"separated": 8.0, "overlapping": 2.5}
LOWEST = "full, separated: lowest correlation of a query"
WORST = "all types, overlapping too: lowest correlation of a query"
MISS = "all types, overlapping too: largest error, of the largest influence"
GOAL = {
    LOWEST: at_least(0.99),
    "full, separated: correlation of all scores": at_least(0.99),
    WORST: at_least(0.99),
    MISS: at_most(0.1),
}


def measure(settings: Settings) -> Outcome:
    """Score all samples on queries in both ways, for all types of covariances."""
    n, q, theirs = (150, 6, 1) if settings.smoke else (2000, 50, 20)
    rows, rivals = {}, {}
    for place, distance in DISTANCES.items():
        samples, labels = drawn(n, distance, settings.seed)
        queries, owners = drawn(q, distance, settings.seed + 1)
        queries[::5] *= 1.5  # some lie where there are few samples
        for name in TYPES[:1] if settings.smoke else TYPES:
            mixture = GaussianMixture(COMPONENTS, covariance_type=name, device=settings.device).fit(samples)
            row, refits = _compared(mixture, queries, labels[:, None] == owners)
            rows[f"{name}, {place}"] = row
            rivals[f"{name}, {place}"] = _scikit_learns(mixture, queries, refits[:theirs])
    print_table("correlation", ("", *next(iter(rows.values()))), [(k, *v.values()) for k, v in rows.items()])
    print_table(
        "scikit-learn", ("", *next(iter(rivals.values()))), [(k, *v.values()) for k, v in rivals.items()]
    )
    full = rows["full, separated"]
    return Outcome(
        measured={
            LOWEST: full["lowest of a query"],
            "full, separated: correlation of all scores": full["all scores"],
            WORST: min(row["lowest of a query"] for row in rows.values()),
            MISS: max(row["largest error"] / row["largest influence"] for row in rows.values()),
            "by type": rows,
        },
        rivals={"scikit-learn": {"by type": rivals}},
    )


def drawn(count: int, distance: float, seed: int) -> tuple[FloatArray, FloatArray]:
    """Samples of three Gaussians of different shapes, which are the same for all seeds, and their labels."""
    shape, generator = np.random.default_rng(0), np.random.default_rng(seed)
    labels = np.arange(count) % COMPONENTS
    turns = [np.linalg.qr(shape.normal(size=(DIMENSION, DIMENSION)))[0] for _ in range(COMPONENTS)]
    stretches = np.stack([turn * np.linspace(0.5, 1.5, DIMENSION) for turn in turns])
    noise = generator.normal(size=(count, DIMENSION))
    return distance * np.eye(COMPONENTS, DIMENSION)[labels] + np.einsum(
        "nij,nj->ni", stretches[labels], noise
    ), labels


def _compared(
    mixture: GaussianMixture, queries: FloatArray, together: Any
) -> tuple[Mapping[str, Any], FloatArray]:
    """How far the two ways agree, and how long they take."""
    linear, seconds = _timed(lambda: mixture.influence(queries, progress=False))
    refits, refit_seconds = _timed(lambda: mixture.leave_one_out(queries, progress=False))
    S, R = linear.values, refits.values
    each = [float(np.corrcoef(S[:, j], R[:, j])[0, 1]) for j in range(len(queries))]
    ranks = [float(spearmanr(S[:, j], R[:, j])[0]) for j in range(len(queries))]
    own = [float(spearmanr(S[chosen, j], R[chosen, j])[0]) for j, chosen in enumerate(np.asarray(together).T)]
    row = {
        "lowest of a query": min(each),
        "median query": float(np.median(each)),
        "all scores": float(np.corrcoef(S.ravel(), R.ravel())[0, 1]),
        "of ranks, own component, lowest": min(own),
        "of ranks, all samples, lowest": min(ranks),
        "largest influence": float(np.abs(R).max()),
        "largest error": float(np.abs(S - R).max()),
        "smallest curvature": float(linear.facts["smallest_curvature"]),
        "jumps": len(refits.facts["jumped"]),
        "not converged": len(refits.facts["not_converged"]) + len(refits.facts["collapsed"]),
        "seconds": seconds,
        "seconds of refits": refit_seconds,
    }
    return row, R


def _scikit_learns(mixture: GaussianMixture, queries: FloatArray, ours: FloatArray) -> Mapping[str, float]:
    """The same refits by scikit-learn, for as many samples as `ours` has, and the time for all."""
    samples, count = mixture.samples_, len(ours)
    start = sklearn.mixture.GaussianMixture(
        COMPONENTS,
        covariance_type=mixture.covariance_type,
        reg_covar=0,
        tol=1e-13,
        max_iter=10_000,
        warm_start=True,
        random_state=0,
    ).fit(samples)

    def refit() -> FloatArray:
        whole = start.score_samples(queries)
        rows = []
        for i in range(count):
            without = deepcopy(start).fit(np.delete(samples, i, 0))
            rows.append(whole - without.score_samples(queries))
        return np.stack(rows)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        values, seconds = _timed(refit)
    return {
        "seconds of refits, from a few": seconds / count * len(samples),
        "largest difference from ours": float(np.abs(values - ours).max()),
        "largest influence among them": float(np.abs(ours).max()),
    }


def _timed(work: Callable[[], Any]) -> tuple[Any, float]:
    start = time.perf_counter()
    result = work()
    return result, time.perf_counter() - start


BENCHMARK = Benchmark(
    name="density_full_mixture",
    claim="For a full-covariance mixture of three separated components and 2,000 samples, influence by "
    "implicit differentiation correlates with refits without each sample to at least 0.99, for every query; "
    "so it does for the other types of covariances and where components overlap, and no score is off by more "
    "than a tenth of the largest.",
    goal=GOAL,
    measure=measure,
)

if __name__ == "__main__":
    sys.exit(BENCHMARK.main())
