"""Scores of the paper's convolutional model on one GPU, per checkpoint, against captum's exact path."""

import sys
from functools import partial

from _captum_rival import captum_scores
from _contest import contest, in_tf32
from _harness import Benchmark, Outcome, Settings, at_least, at_most, relative_error
from _truth import true_scores
from _vmap_rival import vmap_scores
from _workload import QUERIES, conv_workload, our_scores

PRECISIONS = ("float32", "tf32", "bfloat16")


def measure(settings: Settings) -> Outcome:
    """Time 50,000 samples on 128 queries in each precision; the exact rivals on fewer, and scale."""
    n, q = (4, 2) if settings.smoke else (50_000, QUERIES)
    sizes = (2, 4) if settings.smoke else (500, 1000)
    work = conv_workload(settings, n, q)
    truth = true_scores(work.first(16, 16))
    ours = {
        precision: {f"batch {size}": our_scores(work, size, precision) for size in sizes}
        for precision in PRECISIONS
    }
    entries = contest(ours, truth, settings.device, f"{n} samples x {q} queries, one checkpoint", repeats=3)
    few, some = work.first(24, 8), work.first(480, 32)
    slow = {f"batch {size}": in_tf32(partial(captum_scores, few, size, False)) for size in (1, 4)}
    vmap = {f"chunk {size}": in_tf32(partial(vmap_scores, some, size)) for size in (32, 128)}
    rivals = {
        side: contest({side: works}, truth[:, :8], settings.device, "scored on fewer samples", repeats=3)[
            side
        ]
        for side, works in (("captum, slow path, tf32", slow), ("vmap(grad), tf32", vmap))
    }
    records = {
        "captum, slow path, tf32": rivals["captum, slow path, tf32"].scaled_record(few, work),
        "vmap(grad), tf32": rivals["vmap(grad), tf32"].scaled_record(some, work),
    }
    wrong = relative_error(captum_scores(work.first(16, 16), 16, True), truth)
    seconds = entries["tf32"].seconds
    return Outcome(
        measured={
            **{f"seconds, {precision}": entries[precision].seconds for precision in PRECISIONS},
            "times faster than captum's exact path, tf32": records["captum, slow path, tf32"]["seconds"]
            / seconds,
            "times faster than vmap(grad), tf32": records["vmap(grad), tf32"]["seconds"] / seconds,
            **{precision: entry.record() for precision, entry in entries.items()},
            "samples": n,
            "queries": q,
        },
        rivals={**records, "captum, fast path": {"error against float64": wrong}},
    )


BENCHMARK = Benchmark(
    name="conv_scores_gpu",
    claim="On one H200 the convolutional VAE's scores of 50,000 samples on 128 queries take at most 1.5 s a "
    "checkpoint in tf32, and come 2,000 times faster than from captum's exact path.",
    goal={
        "seconds, tf32": at_most(1.5),
        "times faster than captum's exact path, tf32": at_least(2000),
    },
    measure=measure,
    needs_gpu=True,
)

if __name__ == "__main__":
    sys.exit(BENCHMARK.main())
