"""Scores of the paper's multilayer perceptron on two CPU cores, against captum's fast path."""

import sys
from functools import partial

from _captum_rival import captum_scores
from _contest import contest, difference
from _harness import Benchmark, Outcome, Settings, at_least, at_most
from _truth import true_scores
from _vmap_rival import vmap_scores
from _workload import mlp_workload, our_scores


def measure(settings: Settings) -> Outcome:
    """Time us, captum's fast path and `vmap(grad)` on the same scores."""
    n, q, sizes = (6, 3, (2, 6)) if settings.smoke else (256, 128, (64, 128))
    work = mlp_workload(settings, n, q)
    sides = {
        "proponent": {f"batch {size}": our_scores(work, size) for size in sizes},
        "captum, fast path": {f"batch {size}": partial(captum_scores, work, size, True) for size in sizes},
        "vmap(grad)": {f"chunk {size}": partial(vmap_scores, work, size) for size in sizes},
    }
    entries = contest(sides, true_scores(work.first(4, 4)), settings.device, f"{n} samples x {q} queries")
    ours, captum, vmap = entries.values()
    return Outcome(
        measured={
            "times faster than captum": captum.seconds / ours.seconds,
            "times faster than vmap(grad)": vmap.seconds / ours.seconds,
            "difference from captum": difference(ours.scores, captum.scores),
            "samples": n,
            "queries": q,
            **ours.record(),
        },
        rivals={"captum, fast path": captum.record(), "vmap(grad)": vmap.record()},
    )


BENCHMARK = Benchmark(
    name="mlp_scores_cpu",
    claim="On two CPU cores the MLP's scores come at least 1.3 times faster than from captum's fast path.",
    goal={"times faster than captum": at_least(1.3), "difference from captum": at_most(1e-5)},
    measure=measure,
)

if __name__ == "__main__":
    sys.exit(BENCHMARK.main())
