import numpy as np
import pytest
import torch

from proponent.evaluation import neighbour_distances


@pytest.mark.parametrize("chunk", [1, 7, 1000])
def test_agrees_with_the_dense_reference(chunk):
    x = np.random.default_rng(0).normal(size=(40, 3, 2))
    flat = x.reshape(40, 6)
    dense = np.sqrt(((flat[:, None] - flat[None]) ** 2).sum(-1))
    np.fill_diagonal(dense, np.inf)
    expected = np.sort(dense)[:, :4].mean(1)
    np.testing.assert_allclose(neighbour_distances(x, k=4, chunk=chunk), expected, rtol=1e-12)


def test_small_distances_far_from_the_origin_survive_float32():
    x = 1000 + torch.arange(30, dtype=torch.float32)[:, None].repeat(1, 50) / 1024
    expected = np.sqrt(50) / 1024
    np.testing.assert_allclose(neighbour_distances(x, k=1), expected, rtol=1e-5)


def test_a_duplicate_is_a_neighbour_at_no_distance():
    assert neighbour_distances([[1, 2], [1, 2], [9, 9]], k=1)[0] == 0


def test_a_tuple_is_refused():
    with pytest.raises(TypeError, match="`samples` must be one array, got a tuple"):
        neighbour_distances((np.zeros((3, 1)), np.zeros((3, 1))))


@pytest.mark.parametrize("k", [0, 3])
def test_k_must_leave_neighbours(k):
    with pytest.raises(ValueError, match=f"`k` must be at least 1 and less than the 3 samples, got {k}"):
        neighbour_distances(np.zeros((3, 1)), k=k)


def test_chunk_must_be_positive():
    with pytest.raises(ValueError, match="`chunk` must be at least 1, got 0"):
        neighbour_distances(np.zeros((3, 1)), k=1, chunk=0)


def test_every_sample_among_copies_counts_the_others():
    samples = [[0.0], [0.0], [0.0], [5.0]]
    np.testing.assert_allclose(neighbour_distances(samples, k=2), [0, 0, 0, 5])
    np.testing.assert_allclose(neighbour_distances(samples, k=3), [5 / 3, 5 / 3, 5 / 3, 5])


def test_samples_that_are_not_finite_are_refused():
    with pytest.raises(ValueError, match="NaN"):
        neighbour_distances([[1.0], [np.nan], [2.0]], k=1)
