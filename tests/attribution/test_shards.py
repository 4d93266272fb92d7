from itertools import pairwise

import pytest

from proponent.attribution._scorers import even_slices
from proponent.attribution._shards import part_of, shards_of


@pytest.mark.parametrize(
    ("samples", "size", "count"), [(1, 256, 1), (257, 256, 2), (60_000, 3750, 16), (10**6, 4096, 245)]
)
def test_shards_depend_on_the_number_of_samples_alone(samples, size, count):
    shards = shards_of(samples)
    assert len(shards) == count
    assert shards[0] == slice(0, min(size, samples))
    assert shards[-1].stop == samples
    assert all(a.stop == b.start for a, b in pairwise(shards))


def test_parts_cover_all_shards_once():
    shards = shards_of(103, size=10)
    for of in range(1, 12):
        parts = [part_of(shards, (k, of)) for k in range(of)]
        assert [shard for part in parts for shard in part] == list(range(11))
        assert all(len(part) >= 1 for part in parts)


@pytest.mark.parametrize("part", [(-1, 2), (2, 2), (0, 0)])
def test_a_part_that_is_not_there(part):
    with pytest.raises(ValueError, match=r"`part` must be \(k, of\) with k from 0"):
        part_of(shards_of(4, size=1), part)


def test_more_parts_than_shards():
    with pytest.raises(
        ValueError, match=r"of which there are 2, into at most as many parts, got 3\. Set a smaller"
    ):
        part_of(shards_of(4, size=2), (0, 3))


def test_an_empty_shard():
    with pytest.raises(ValueError, match="`shard_size` must be at least 1, got 0"):
        shards_of(4, size=0)


@pytest.mark.parametrize(
    ("count", "most", "lengths"), [(10, 4, [4, 3, 3]), (8, 4, [4, 4]), (3, 9, [3]), (5, 1, 5 * [1])]
)
def test_slices_are_of_nearly_equal_lengths(count, most, lengths):
    assert [part.stop - part.start for part in even_slices(count, most)] == lengths
