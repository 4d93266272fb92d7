"""Influences on densities against the distances alone, and densities against scikit-learn, on a CPU."""

import sys
from collections.abc import Callable, Mapping
from functools import partial

import numpy as np
import sklearn.neighbors
import torch
from sklearn.metrics.pairwise import euclidean_distances
from torch import Tensor

from _harness import Benchmark, Outcome, Settings, at_most, median_seconds, medians, print_table
from proponent.density import KernelDensity, KNNDensity
from proponent.scores import FloatArray

BANDWIDTH = "scott"
ESTIMATORS = {
    "KDE": partial(KernelDensity, BANDWIDTH),
    # Most queries get half of their density from one sample.
    "KDE, narrow": partial(KernelDensity, 0.3),
    "k-NN": partial(KNNDensity, 10),
}
ROWS = (512, 1024, 2048)
DIFFERENCE = "score_samples, largest difference from scikit-learn"
GOAL = {
    "KDE, times the distances": at_most(1.5),
    "k-NN, times the distances": at_most(1.5),
    DIFFERENCE: at_most(1e-10),
}


def measure(settings: Settings) -> Outcome:
    """Time all influences, and all ways to the distances, in turns; then the densities.

    Influences come in a new matrix, whose memory the system clears when it is first written to. So do the
    distances that they are held against; what those take in memory that is there already is kept beside.
    """
    n, q, d, few = (300, 20, 4, 5) if settings.smoke else (100_000, 1000, 32, 100)
    generator = np.random.default_rng(settings.seed)
    samples, queries = generator.normal(size=(n, d)), generator.normal(size=(q, d))
    fitted = {name: make().fit(samples) for name, make in ESTIMATORS.items()}
    ours = {name: partial(density.influence, queries, progress=False) for name, density in fitted.items()}
    ways = distances(samples, queries) | distances_in_place(samples, queries)
    seconds = medians(ours | ways, settings.device, repeats=9)
    print_table(f"{n:,} samples x {q:,} queries, {d} dimensions", ("", "seconds"), [*seconds.items()])
    new = min(seconds[name] for name in distances(samples, queries))
    in_place = min(seconds[name] for name in ways)
    densities, theirs = log_densities(samples, queries, few, settings)
    return Outcome(
        measured={
            **{f"{name}, times the distances": seconds[name] / new for name in ours},
            **{f"{name}, times the distances in place": seconds[name] / in_place for name in ours},
            **densities,
            "seconds": {name: seconds[name] for name in ours},
            "samples": n,
            "queries": q,
            "dimensions": d,
        },
        rivals={
            "seconds of distances": {name: seconds[name] for name in ways},
            "scikit-learn's score_samples": theirs,
        },
    )


def distances(samples: FloatArray, queries: FloatArray) -> Mapping[str, Callable[[], object]]:
    """Ways to a new matrix of distances."""
    left, right = torch.from_numpy(samples), torch.from_numpy(queries)

    def in_new_memory(rows: int) -> Tensor:
        return in_chunks(left, right, rows, torch.from_numpy(np.empty((len(left), len(right)))))

    return {
        "torch.cdist": partial(torch.cdist, left, right),
        "scikit-learn, euclidean_distances": partial(euclidean_distances, samples, queries),
        **{f"torch.cdist of {rows} rows": partial(in_new_memory, rows) for rows in ROWS},
    }


def distances_in_place(samples: FloatArray, queries: FloatArray) -> Mapping[str, Callable[[], object]]:
    """Ways to distances in a matrix that is there already."""
    left, right = torch.from_numpy(samples), torch.from_numpy(queries)
    out = torch.zeros(len(left), len(right), dtype=torch.float64)
    return {
        f"torch.cdist of {rows} rows, in place": partial(in_chunks, left, right, rows, out) for rows in ROWS
    }


def in_chunks(left: Tensor, right: Tensor, rows: int, out: Tensor) -> Tensor:
    """Write distances, some rows at a time."""
    for start in range(0, len(left), rows):
        out[start : start + rows] = torch.cdist(left[start : start + rows], right)
    return out


def log_densities(
    samples: FloatArray, queries: FloatArray, few: int, settings: Settings
) -> tuple[Mapping[str, float], Mapping[str, object]]:
    """Hold `score_samples` against scikit-learn's, on as many queries as it takes seconds for.

    With one leaf its tree sums kernel by kernel. With more it adds and subtracts bounds on the way, of which
    rounding errors stay.
    """
    ours = KernelDensity(BANDWIDTH).fit(samples)
    tree = sklearn.neighbors.KernelDensity(bandwidth=BANDWIDTH).fit(samples)
    leaf = sklearn.neighbors.KernelDensity(bandwidth=BANDWIDTH, leaf_size=len(samples) + 1).fit(samples)
    mine, some = ours.score_samples(queries), queries[:few]
    # A query's share of each: ours takes all of them, as it is made for many.
    each = {
        "proponent": median_seconds(partial(ours.score_samples, queries), settings.device) / len(queries),
        "tree": median_seconds(partial(tree.score_samples, some), settings.device, 1, 0) / few,
        "one leaf": median_seconds(partial(leaf.score_samples, some), settings.device, 3) / few,
    }
    print_table("score_samples", ("", "seconds a query"), [*each.items()])
    measured = {
        DIFFERENCE: _largest(mine[:few] - leaf.score_samples(some)),
        "score_samples, times faster than scikit-learn": each["tree"] / each["proponent"],
        "score_samples, times faster than scikit-learn with one leaf": each["one leaf"] / each["proponent"],
    }
    theirs = {
        "seconds a query": each["tree"],
        "seconds a query, one leaf": each["one leaf"],
        "queries": few,
        "largest difference from its own sums with one leaf": _largest(
            tree.score_samples(some) - leaf.score_samples(some)
        ),
    }
    return measured, theirs


def _largest(difference: FloatArray) -> float:
    return float(np.abs(difference).max())


BENCHMARK = Benchmark(
    name="density_influence_cpu",
    claim="On two CPU cores KDE and k-NN influences take at most 1.5 times as long as distances alone.",
    goal=GOAL,
    measure=measure,
)

if __name__ == "__main__":
    sys.exit(BENCHMARK.main())
