import pytest
import torch

from proponent.density._place import Place, slices

PLACE = Place(torch.device("cpu"), torch.float32, 1000)


def test_slices_cover_all():
    assert [*slices(7, 3)] == [slice(0, 3), slice(3, 6), slice(6, 7)]


@pytest.mark.parametrize(("row_bytes", "size"), [(1, 20), (100, 10), (300, 3), (501, 1), (5000, 1)])
def test_parts_fit_the_budget_but_have_a_row_at_least(row_bytes, size):
    parts = [*PLACE.parts(20, row_bytes)]
    assert parts == [*slices(20, size)]
    assert PLACE.share(1 / 2).rows(row_bytes) == max(1, 500 // row_bytes)


def test_on_a_cpu_there_is_no_more_than_its_caches_hold():
    large = Place(torch.device("cpu"), torch.float64, 1 << 40)
    assert large.cached.budget == 1 << 25
    assert PLACE.cached == PLACE
    there = Place(torch.device("cuda"), torch.float64, 1 << 40)
    assert there.cached == there
