import pytest

from proponent.attribution._budget import largest_batch


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
