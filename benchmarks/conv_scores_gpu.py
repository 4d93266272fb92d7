"""Scores of the paper's convolutional model on one GPU, per checkpoint, against the exact rivals.

A ratio of 2,000 to captum's exact path was hoped for, from 4,988 s that a prototype had measured. At its
best batch captum takes 150 to 200 s on the same machine, so that 2,000 would mean 0.1 s: a third of the 0.2
to 0.4 s that the operations and bytes of the passes alone come to. The quickest exact rival is `vmap(grad)`.
"""

import sys
from functools import partial

from _captum_rival import captum_scores
from _contest import contest, in_tf32
from _harness import Benchmark, Outcome, Settings, at_least, at_most, relative_error
from _truth import true_scores
from _vmap_rival import vmap_scores
from _workload import QUERIES, conv_workload, our_scores

PRECISIONS = ("tf32", "bfloat16")


def measure(settings: Settings) -> Outcome:
    """Time 50,000 samples on 128 queries in each precision; the exact rivals on fewer, and scale."""
    n, q = (2, 1) if settings.smoke else (50_000, QUERIES)
    sizes = (1, 2) if settings.smoke else (2500,)
    work = conv_workload(settings, n, q)
    truth = true_scores(work.first(16, 16))
    ours = {
        precision: {f"batch {size}": our_scores(work, size, precision) for size in sizes}
        for precision in PRECISIONS
    }
    entries = contest(ours, truth, settings.device, f"{n} samples x {q} queries, one checkpoint", repeats=3)
    few, some = work.first(32, 8), work.first(480, 32)
    rivals = {
        # Each of captum's backward passes runs through the whole batch: a sample at a time is its best.
        "captum, slow path, tf32": (few, partial(captum_scores, few, fast=False), (1, 2)),
        "captum, slow path in batches, tf32": (few, partial(captum_scores, few, fast=False), (32,)),
        "vmap(grad), tf32": (some, partial(vmap_scores, some), (32, 128)),
    }
    records = {}
    for side, (timed, score, batches) in rivals.items():
        works = {f"batch {size}": in_tf32(partial(score, size)) for size in batches}
        title = f"{len(timed.samples)} samples x {len(timed.queries)} queries"
        entry = contest({side: works}, truth[:, :8], settings.device, title, repeats=1)[side]
        records[side] = entry.scaled_record(timed, work)
    wrong = relative_error(captum_scores(work.first(16, 16), 16, True), truth)
    seconds = entries["tf32"].seconds
    return Outcome(
        measured={
            **{f"seconds, {precision}": entries[precision].seconds for precision in PRECISIONS},
            **{f"times faster than {side}": record["seconds"] / seconds for side, record in records.items()},
            **{precision: entry.record() for precision, entry in entries.items()},
            "samples": n,
            "queries": q,
        },
        rivals={**records, "captum, fast path": {"error against float64": wrong}},
    )


BENCHMARK = Benchmark(
    name="conv_scores_gpu",
    claim="On one H200 the convolutional VAE's scores of 50,000 samples on 128 queries take at most 1.5 s a "
    "checkpoint in tf32, and come 100 times faster than from captum's exact path at its best batch and 5 "
    "times faster than by vmap(grad).",
    goal={
        "seconds, tf32": at_most(1.5),
        "times faster than captum, slow path, tf32": at_least(100),
        "times faster than captum, slow path in batches, tf32": at_least(100),
        "times faster than vmap(grad), tf32": at_least(5),
    },
    measure=measure,
    needs_gpu=True,
)

if __name__ == "__main__":
    sys.exit(BENCHMARK.main())
