import pytest
import torch
from torch import nn

from proponent.attribution._budget import largest_batch, measure_memory


def test_only_what_lives_at_a_time_counts():
    here = torch.zeros(1000)

    def work():
        for _ in range(10):
            torch.zeros(1000)
        here.add_(1)
        return here.view(10, 100)[2:], torch.zeros(100)[:10]

    memory = measure_memory(work)
    assert memory.peak == 4000
    assert memory.kept == 400


def test_backward_passes_count():
    net = nn.Sequential(nn.Linear(10, 100), nn.Tanh(), nn.Linear(100, 1))
    gradients = 4 * sum(p.numel() for p in net.parameters())

    def work():
        return torch.autograd.grad(net(torch.ones(64, 10)).sum(), list(net.parameters()))

    memory = measure_memory(work)
    assert memory.kept == gradients
    assert memory.peak >= gradients + 64 * 100 * 4


def affine(fixed, each):
    sizes = []

    def peak_of(count):
        sizes.append(count)
        return fixed + each * count

    return peak_of, sizes


def test_the_batch_fills_the_budget():
    peak_of, sizes = affine(100, 10)
    assert largest_batch(peak_of, 1000, 5000, "sample") == 90
    assert sizes == [1, 8, 16, 32, 64, 90]  # each is measured before the next


def test_a_batch_far_below_the_budget_is_not_measured():
    peak_of, sizes = affine(100, 10)
    assert largest_batch(peak_of, 1_000_000, 5000, "sample") == 5000
    assert sizes == [1, 8]
    assert largest_batch(peak_of, 100_000, 5000, "sample") == 5000
    assert sizes[2:] == [1, 8, 2490, 4980, 5000]  # a quarter of the budget at once, then doubled


@pytest.mark.parametrize(("budget", "limit", "batch"), [(145, 50, 4), (145, 3, 3), (145, 1, 1), (110, 50, 1)])
def test_a_batch_smaller_than_the_probe(budget, limit, batch):
    assert largest_batch(affine(100, 10)[0], budget, limit, "sample") == batch


@pytest.mark.parametrize("budget", [500, 1000, 5000, 40_000])
@pytest.mark.parametrize("jump", [20, 60, 300])
def test_memory_that_jumps_is_found_out(budget, jump):
    tried = []

    def peak_of(count):  # a larger batch is computed in another way
        tried.append(10 * count * (1 if count < jump else 3))
        return tried[-1]

    batch = largest_batch(peak_of, budget, 5000, "sample")
    assert peak_of(batch) <= budget
    assert max(tried) <= 3 * budget
    assert peak_of(2 * batch) > budget or batch == 5000


def test_a_budget_too_small_for_one():
    with pytest.raises(ValueError, match=r"must leave at least 2 KiB for one query, but leaves 1 KiB. Raise"):
        largest_batch(affine(1024, 1024)[0], 1024, 5, "query")
