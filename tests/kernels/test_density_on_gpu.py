"""On a GPU density estimators go through the kernels, and say what they say on a CPU."""

import numpy as np
import pytest
import torch
from kernel_cases import INTERPRETED

from proponent.density import KernelDensity, KNNDensity
from proponent.density._bring import bring

if INTERPRETED:
    pytest.skip("needs a GPU, where estimators call kernels", allow_module_level=True)


def points(n, d, seed, offset=0.0):
    return np.random.default_rng(seed).normal(size=(n, d)) + offset


def both(make, samples, **fit):
    return (make(device=device).fit(samples, **fit) for device in ("cuda", "cpu"))


@pytest.mark.parametrize("d", [1, 3, 64, 100])
def test_nearest_neighbours(d):
    samples, queries = points(5000, d, 0, 1e3), points(40, d, 1, 1e3)
    on_gpu, on_cpu = both(lambda device: KNNDensity(6, device=device), samples)
    np.testing.assert_allclose(
        on_gpu.self_influence().values, on_cpu.self_influence().values, rtol=1e-10, atol=1e-10
    )
    np.testing.assert_allclose(on_gpu.influence(queries).values, on_cpu.influence(queries).values, atol=1e-10)
    np.testing.assert_allclose(on_gpu.score_samples(queries), on_cpu.score_samples(queries), rtol=1e-12)


def test_nearest_neighbours_among_copies():
    samples = np.random.default_rng(0).integers(0, 3, size=(3000, 2)).astype(float)
    on_gpu, on_cpu = both(lambda device: KNNDensity(6, device=device), samples)
    np.testing.assert_array_equal(on_gpu.self_influence().values, on_cpu.self_influence().values)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("d", [1, 3, 64, 100])
def test_kernels(d, weighted):
    samples, queries = points(5000, d, 0, 1e3), points(40, d, 1, 1e3)
    weights = np.random.default_rng(2).exponential(size=5000) if weighted else None
    on_gpu = KernelDensity(1.0, device="cuda", precision="float32").fit(samples, sample_weight=weights)
    on_cpu = KernelDensity(1.0).fit(samples, sample_weight=weights)
    error = on_gpu.self_influence().values - on_cpu.self_influence().values
    assert np.abs(error).max() < 1e-4
    assert np.abs(on_gpu.score_samples(queries) - on_cpu.score_samples(queries)).max() < 1e-4


def test_kernels_so_narrow_that_products_would_not_do():
    samples = points(3000, 8, 0)
    on_gpu = KernelDensity(1e-3, device="cuda", precision="float32").fit(samples)
    on_cpu = KernelDensity(1e-3).fit(samples)
    np.testing.assert_allclose(on_gpu.self_influence().values, on_cpu.self_influence().values, rtol=1e-6)


@pytest.mark.parametrize("shape", [(7, 3), (1_000_003, 9), (3, 3_000_000)])
def test_arrays_arrive_as_they_are(shape):
    array = np.random.default_rng(0).normal(size=shape)
    np.testing.assert_array_equal(bring(array, torch.device("cuda")).cpu().numpy(), array)


@pytest.mark.parametrize("kind", ["nearest", "kernels"])
def test_memory_stays_within_the_budget(kind):
    samples, budget = points(200_000, 16, 0), 256 << 20
    if kind == "nearest":
        estimator = KNNDensity(6, device="cuda", memory_budget=budget).fit(samples)
    else:
        estimator = KernelDensity(1.0, device="cuda", precision="float32", memory_budget=budget).fit(samples)
    torch.cuda.empty_cache()
    torch.cuda.reset_peak_memory_stats()
    before = torch.cuda.memory_allocated()
    estimator.self_influence()
    held = samples.nbytes + 2 * 8 * len(samples)  # samples and results
    assert torch.cuda.max_memory_allocated() - before <= budget + held
