"""Self-influence of 1,000,000 samples in 64 dimensions by kernels and by nearest neighbours, on one GPU.

The floor counts the products of all ordered pairs, as the estimators form them: 0.388 s for the kernels, and
0.129 s for the nearest neighbours. As a pair's product is the same in either order, half of that would do for
the products: 0.194 s and 0.065 s. The kernels' floor would then be their powers of two, 0.239 s for all
ordered pairs, or 0.120 s if these are shared as well, and so 0.194 s.
"""

import math
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from _harness import Benchmark, Outcome, Settings, at_most, median_seconds, medians
from _torch_densities import torch_kernel_self_influence, torch_nearest_self_influence
from proponent.density import KernelDensity, KNNDensity
from proponent.scores import FloatArray

BANDWIDTH, NEIGHBOURS = 1.0, 10
BUDGET_GIB = 16
# Peaks of an H200, from NVIDIA's data sheet (November 2023), without sparsity: 1,979 TFLOP/s with it in
# float16, 67 in float32.
FLOPS_HALF, FLOPS_FLOAT32 = 989.5e12, 67e12
# Powers of 2 a second: 16 a clock and multiprocessor (CUDA C++ Programming Guide, throughput of native
# arithmetic instructions, compute capability 9.0), 132 of them at 1.98 GHz.
POWERS = 16 * 132 * 1.98e9
# A float32 number as the sum of two halves: high * high, high * low, low * high.
PRODUCTS_OF_SPLIT_NUMBERS = 3


@dataclass(frozen=True)
class Side:
    """One estimator.

    Attributes:
        estimator: Fitted.
        truth: What it should say of some samples, computed in float64 from differences.
        floor: Seconds that its arithmetic takes at least.
        torch_rows: The same in plain torch, of some rows.
    """

    estimator: KernelDensity | KNNDensity
    truth: Callable[[Tensor, Tensor], Tensor]
    floor: float
    torch_rows: Callable[[Tensor, slice], Tensor]


def measure(settings: Settings) -> Outcome:
    """Time both estimators, hold some of their scores against the truth, and time torch on some rows."""
    n, d = (300, 4) if settings.smoke else (1_000_000, 64)
    samples = np.random.default_rng(settings.seed).normal(size=(n, d))
    flops, at_once = 2 * n * n * d, 100 if settings.smoke else 1000
    shared: dict[str, Any] = {"device": settings.device, "memory_budget": f"{BUDGET_GIB}GiB"}
    sides = {
        "KDE": Side(
            KernelDensity(BANDWIDTH, precision="float32", **shared).fit(samples),
            kernel_truth,
            max(PRODUCTS_OF_SPLIT_NUMBERS * flops / FLOPS_HALF, n * n / POWERS),
            lambda x, rows: torch_kernel_self_influence(x, BANDWIDTH, rows, at_once),
        ),
        "k-NN": Side(
            KNNDensity(NEIGHBOURS, **shared).fit(samples),
            nearest_truth,
            flops / FLOPS_HALF,
            lambda x, rows: torch_nearest_self_influence(x, NEIGHBOURS, rows, at_once),
        ),
    }
    seconds = medians(
        {name: lambda side=side: scores(side) for name, side in sides.items()}, settings.device, 3
    )
    measured: dict[str, Any] = {"samples": n, "dimensions": d, "budget, GiB": float(BUDGET_GIB)}
    rivals = {}
    for name, side in sides.items():
        found, peak = with_peak(side, settings.device)
        by_hand = flops / FLOPS_FLOAT32
        measured |= {
            f"seconds, {name}": seconds[name],
            f"floor by counting, {name}, seconds": side.floor,
            f"times the floor, {name}": seconds[name] / side.floor,
            f"times one product in float32, {name}": seconds[name] / by_hand,
            f"largest error in nats, {name}": largest_error(found, side, samples, settings),
            f"peak memory, {name}, GiB": peak,
        }
        rivals[f"torch in float32, {name}"] = against_torch(side, samples, settings)
    return Outcome(measured, rivals)


def scores(side: Side) -> FloatArray:
    """What a user calls: samples and scores lie in the memory of the process."""
    return side.estimator.self_influence(progress=False).values


def with_peak(side: Side, device: torch.device) -> tuple[FloatArray, float]:
    """Scores, and the memory that was taken for them on the GPU, samples included."""
    if device.type != "cuda":
        return scores(side), 0.0
    torch.cuda.empty_cache()
    torch.cuda.reset_peak_memory_stats(device)
    return scores(side), torch.cuda.max_memory_allocated(device) / 2**30


def largest_error(found: FloatArray, side: Side, samples: FloatArray, settings: Settings) -> float:
    """The largest deviation of scores from the truth, over random rows."""
    n = len(samples)
    rows = np.random.default_rng(settings.seed + 1).permutation(n)[:256]
    x = torch.as_tensor(samples, device=settings.device)
    truth = side.truth(x, torch.as_tensor(rows, device=x.device)).cpu().numpy()
    return float(np.abs(found[rows] - truth).max())


def kernel_truth(x: Tensor, rows: Tensor) -> Tensor:
    """By kernels, in float64."""
    logs = []
    for part in torch.split(rows, 32):
        t = distances(x[part], x).div_(BANDWIDTH).square_().div_(-2)
        t[torch.arange(len(part), device=x.device), part] = -torch.inf
        logs.append(t.logsumexp(1))
    return math.log1p(-1 / len(x)) + torch.nn.functional.softplus(-torch.cat(logs), threshold=50)


def nearest_truth(x: Tensor, rows: Tensor) -> Tensor:
    """By radii, in float64."""
    radii = [distances(x[part], x).topk(NEIGHBOURS + 1, 1, largest=False).values for part in rows.split(32)]
    R = torch.cat(radii)
    return math.log1p(-1 / len(x)) + x.shape[1] * (R[:, -1] / R[:, -2]).log()


def distances(points: Tensor, others: Tensor) -> Tensor:
    """By differences."""
    return torch.cdist(points, others, compute_mode="donot_use_mm_for_euclid_dist")


def against_torch(side: Side, samples: FloatArray, settings: Settings) -> dict[str, Any]:
    """Time the torch version on a share of the rows, each of which takes as long as any other."""
    x = torch.as_tensor(samples, dtype=torch.float32, device=settings.device)
    n = len(x)
    rows = slice(0, min(n, 100_000))
    seconds = median_seconds(lambda: side.torch_rows(x, rows), settings.device, 2) * n / rows.stop
    few = slice(0, min(n, 256))
    truth = side.truth(torch.as_tensor(samples, device=x.device), torch.arange(few.stop, device=x.device))
    error = float((side.torch_rows(x, few).double() - truth).abs().max())
    return {"seconds": seconds, "rows timed": rows.stop, "rows": n, "largest error in nats": error}


BENCHMARK = Benchmark(
    name="density_self_influence_gpu",
    claim="On one H200 the exact self-influence of 1,000,000 samples in 64 dimensions takes at most 3 times "
    "as long as its products alone would at the peak rate, by kernels and by nearest neighbours, within a "
    "memory budget of 16 GiB.",
    goal={
        "times the floor, KDE": at_most(3),
        "times the floor, k-NN": at_most(3),
        "largest error in nats, KDE": at_most(1e-4),
        "largest error in nats, k-NN": at_most(1e-10),
        "peak memory, KDE, GiB": at_most(BUDGET_GIB + 1),  # and the samples, in float64
        "peak memory, k-NN, GiB": at_most(BUDGET_GIB + 1),
    },
    measure=measure,
    needs_gpu=True,
)

if __name__ == "__main__":
    sys.exit(BENCHMARK.main())
