"""Self-influence of 60,000 samples under the paper's multilayer perceptron on one GPU, one checkpoint."""

import sys
from functools import partial

from _captum_rival import captum_self_influence
from _contest import contest, in_tf32
from _harness import Benchmark, Outcome, Settings, at_most
from _truth import true_gradients
from _workload import mlp_workload, our_self_influence

PRECISIONS = ("float32", "tf32", "bfloat16")


def measure(settings: Settings) -> Outcome:
    """Time us in each precision, and captum's squared norm, which is biased by the noise of one gradient."""
    n = 6 if settings.smoke else 60_000
    ours, theirs = ((3, 6), (2, 6)) if settings.smoke else ((4000, 10_000), (1024, 2048))
    work = mlp_workload(settings, n, 2)
    few = work.first(64)
    first, second = (
        true_gradients(work.vae, work.objective, few.samples, half) for half in work.noise.chunk(2)
    )
    sides = {
        precision: {f"batch {size}": our_self_influence(work, size, precision) for size in ours}
        for precision in PRECISIONS
    }
    sides["captum, tf32"] = {
        f"batch {size}": in_tf32(partial(captum_self_influence, work, size, True)) for size in theirs
    }
    truth = (first * second).sum(1)
    entries = contest(sides, truth, settings.device, f"self-influence of {n} samples, one checkpoint")
    captum = entries.pop("captum, tf32")
    return Outcome(
        measured={
            **{f"seconds, {precision}": entry.seconds for precision, entry in entries.items()},
            "times faster than captum, tf32": captum.seconds / entries["tf32"].seconds,
            **{precision: entry.record() for precision, entry in entries.items()},
            "samples": n,
        },
        rivals={"captum, biased form, tf32": captum.record()},
    )


BENCHMARK = Benchmark(
    name="self_influence_gpu",
    claim="On one H200 the unbiased self-influence of 60,000 samples under the MLP takes at most 0.1 s per "
    "checkpoint.",
    goal={"seconds, tf32": at_most(0.1)},
    measure=measure,
    needs_gpu=True,
)

if __name__ == "__main__":
    sys.exit(BENCHMARK.main())
