"""Scores of the paper's multilayer perceptron on one GPU, per checkpoint, against captum's fast path."""

import sys
from functools import partial

from _captum_rival import captum_scores
from _contest import contest, in_tf32
from _harness import Benchmark, Outcome, Settings, at_least, at_most
from _truth import true_scores
from _vmap_rival import vmap_scores
from _workload import mlp_workload, our_scores

PRECISIONS = ("float32", "tf32", "bfloat16")


def measure(settings: Settings) -> Outcome:
    """Time 60,000 samples on 128 queries in each precision, and the rivals in tf32 on as many."""
    n, q = (6, 3) if settings.smoke else (60_000, 128)
    ours, theirs = ((3, 6), (2, 6)) if settings.smoke else ((10_000, 20_000), (512, 1024, 2048))
    work = mlp_workload(settings, n, q)
    captum = {f"batch {size}": in_tf32(partial(captum_scores, work, size, True)) for size in theirs}
    vmap = {f"chunk {size}": in_tf32(partial(vmap_scores, work, size)) for size in theirs}
    sides = {
        precision: {f"batch {size}": our_scores(work, size, precision) for size in ours}
        for precision in PRECISIONS
    }
    sides |= {"captum, fast path, tf32": captum, "vmap(grad), tf32": vmap}
    truth = true_scores(work.first(32, 32))
    entries = contest(sides, truth, settings.device, f"{n} samples x {q} queries, one checkpoint")
    fast = entries["captum, fast path, tf32"]
    few = work.first(64, 16)
    slow = {"captum, slow path, tf32": {"batch 1": in_tf32(partial(captum_scores, few, 1, False))}}
    entries |= contest(slow, truth[:, :16], settings.device, f"{len(few.samples)} samples")
    return Outcome(
        measured={
            **{f"seconds, {precision}": entries[precision].seconds for precision in PRECISIONS},
            "times faster than captum, tf32": fast.seconds / entries["tf32"].seconds,
            **{precision: entries[precision].record() for precision in PRECISIONS},
            "samples": n,
            "queries": q,
        },
        rivals={
            "captum, fast path, tf32": fast.record(),
            "captum, slow path, tf32": entries["captum, slow path, tf32"].scaled_record(few, work),
            "vmap(grad), tf32": entries["vmap(grad), tf32"].record(),
        },
    )


BENCHMARK = Benchmark(
    name="mlp_scores_gpu",
    claim="On one H200 the MLP's scores of 60,000 samples on 128 queries take at most 0.10 s a checkpoint in "
    "tf32 and 0.065 s in bfloat16, and come 12 times faster than from captum's fast path.",
    goal={
        "seconds, tf32": at_most(0.10),
        "seconds, bfloat16": at_most(0.065),
        "times faster than captum, tf32": at_least(12),
    },
    measure=measure,
    needs_gpu=True,
)

if __name__ == "__main__":
    sys.exit(BENCHMARK.main())
