"""A memory budget is kept: 60,000 samples on 1,000 queries under the paper's perceptron.

On a GPU the whole job is measured, by its allocator. On a CPU one of 100 shards is, by the process's
resident memory: every shard needs the same, and all of them would take hours.
"""

import ctypes
import gc
import sys
from collections.abc import Callable
from pathlib import Path

import torch

from _harness import Benchmark, Outcome, Settings, at_most
from _workload import mlp_workload
from proponent.attribution import TracIn
from proponent.training import Trajectory

SIZES = (60_000, 1_000)
ONE_SHARD = {"shard_size": 600, "part": (0, 100)}
BUDGETS_GPU, BUDGETS_CPU = ("1GiB", "4GiB", "16GiB"), ("384MiB", "1GiB")
GIB = {"384MiB": 0.375, "1GiB": 1.0, "4GiB": 4.0, "16GiB": 16.0}


def measure(settings: Settings) -> Outcome:
    """Score under several budgets, and compare the peaks with them."""
    gpu = settings.device.type == "cuda"
    n, q = (300, 7) if settings.smoke else SIZES
    work = mlp_workload(settings, n, q)
    path = Trajectory.from_state_dicts([work.vae.state_dict()])
    options = {"progress": False} if gpu or settings.smoke else {"progress": False, **ONE_SHARD}
    # What the libraries load once is not the job's.
    TracIn(work.vae, work.objective, path, weights="unit", device=settings.device).influence(
        work.samples[:64], work.queries[:64], progress=False
    )
    ratios = {}
    for budget in BUDGETS_GPU if gpu else BUDGETS_CPU:
        method = TracIn(
            work.vae, work.objective, path, weights="unit", memory_budget=budget, device=settings.device
        )

        def score(method: TracIn = method) -> object:
            return method.influence(work.samples, work.queries, **options)

        ratios[budget] = peak_bytes(score, settings.device) / (GIB[budget] * 2**30)
    return Outcome({"peak over budget": max(ratios.values()), **{f"at {k}": v for k, v in ratios.items()}})


def peak_bytes(score: Callable[[], object], device: torch.device) -> int:
    """The most memory that scoring takes beyond what was taken before."""
    gc.collect()
    if device.type == "cuda":
        torch.cuda.empty_cache()
        before = torch.cuda.memory_allocated(device)
        torch.cuda.reset_peak_memory_stats(device)
        score()
        return torch.cuda.max_memory_allocated(device) - before
    ctypes.CDLL(None).malloc_trim(0)  # what was freed goes back to the system
    Path("/proc/self/clear_refs").write_text("5")  # the peak starts anew
    before = status("VmRSS")
    score()
    return status("VmHWM") - before


def status(name: str) -> int:
    """A number that Linux keeps of this process, in bytes."""
    lines = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    return int(lines[name].split()[0]) * 1024


BENCHMARK = Benchmark(
    name="memory_budget",
    claim="Scoring 60,000 samples on 1,000 queries, on a CPU one of their 100 shards, takes at most 1.2 "
    "times the memory that was asked for.",
    goal={"peak over budget": at_most(1.2)},
    measure=measure,
)

if __name__ == "__main__":
    sys.exit(BENCHMARK.main())
