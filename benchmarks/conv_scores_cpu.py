"""Scores of the paper's convolutional model on two CPU cores, against the exact rivals.

Five times is missed, and counting says why: every exact way needs a forward pass, a pass back to the
layers and the weights' gradients, 947 MFLOP a sample, and two thirds of our time are already the library's
own convolutions. Nothing that is left to save makes more than 1.5 times.
"""

import sys
from functools import partial

from _captum_rival import captum_scores
from _contest import contest, difference
from _harness import Benchmark, Outcome, Settings, at_least, at_most, relative_error
from _truth import true_scores
from _vmap_rival import vmap_scores
from _workload import conv_workload, our_scores


def measure(settings: Settings) -> Outcome:
    """Time us, captum's slow path and `vmap(grad)`; say how wrong captum's fast path is."""
    n, q, sizes = (2, 1, (1, 2)) if settings.smoke else (48, 16, (4, 16))
    work = conv_workload(settings, n, q)
    truth = true_scores(work.first(4, 4))
    sides = {
        "proponent": {f"batch {size}": our_scores(work, size) for size in (4, 16)},
        "captum, slow path": {f"batch {size}": partial(captum_scores, work, size, False) for size in (1, 2)},
        "vmap(grad)": {f"chunk {size}": partial(vmap_scores, work, size) for size in sizes},
    }
    entries = contest(sides, truth, settings.device, f"{n} samples x {q} queries", repeats=3)
    ours, captum, vmap = entries.values()
    part = work.first(16, 8)
    batched = {"captum, slow path in batches": {"batch 16": partial(captum_scores, part, 16, False)}}
    (slow,) = contest(batched, truth, settings.device, "16 samples x 8 queries", repeats=1).values()
    rival = min(captum, vmap, key=lambda entry: entry.seconds)
    return Outcome(
        measured={
            "times faster than the best exact rival": rival.seconds / ours.seconds,
            "difference from the best exact rival": difference(ours.scores, rival.scores),
            "samples": n,
            "queries": q,
            **ours.record(),
        },
        rivals={
            "captum, slow path": captum.record(),
            "captum, slow path in batches": slow.scaled_record(part, work),
            "vmap(grad)": vmap.record(),
            "captum, fast path": {
                "error against float64": relative_error(captum_scores(work.first(4, 4), 4, True), truth)
            },
        },
    )


BENCHMARK = Benchmark(
    name="conv_scores_cpu",
    claim="On two CPU cores the convolutional model's scores come at least 5 times faster than from the best "
    "exact rival, captum's slow path or vmap(grad).",
    goal={
        "times faster than the best exact rival": at_least(5),
        "difference from the best exact rival": at_most(1e-5),
    },
    measure=measure,
)

if __name__ == "__main__":
    sys.exit(BENCHMARK.main())
