"""Edges tell shapes apart by where their strokes run."""

import numpy as np
import pytest

from proponent.review._edges import edge_strengths


def bars(down, n=1, side=28, at=14):
    pictures = np.zeros((n, 1, side, side))
    (pictures[..., at:, :] if down else pictures[..., at:])[...] = 1.0
    return pictures


def directions(pictures):
    """The strength of each of the 8 directions, over all parts."""
    return edge_strengths(pictures).reshape(len(pictures), -1, 8).sum((0, 1))


@pytest.mark.parametrize(
    ("pictures", "direction"),
    [(bars(False), 0), (bars(True), 2), (1 - bars(False), 4), (1 - bars(True), 6)],
)
def test_each_direction_has_its_place(pictures, direction):
    found = directions(pictures)
    assert found.argmax() == direction
    assert found.sum() == pytest.approx(found[direction])


def test_a_slant_is_shared_by_its_neighbours():
    picture = np.add.outer(np.arange(28.0), 2 * np.arange(28.0))[None, None]  # 26.6 degrees
    found = directions(picture)[1:]
    assert set(np.flatnonzero(found > 0.05 * found.max())) <= {0, 1, 2, 3, 4, 5, 6}
    inner = edge_strengths(picture).reshape(7, 7, 8)[3, 3] ** 2
    share = np.arctan2(1, 2) / (np.pi / 4)
    np.testing.assert_allclose(inner / inner.sum(), [1 - share, share, 0, 0, 0, 0, 0, 0], atol=1e-5)


def test_strength_grows_with_the_root_of_the_light():
    picture = np.random.default_rng(0).random((3, 3, 28, 28))
    np.testing.assert_allclose(edge_strengths(4 * picture), 2 * edge_strengths(picture), rtol=1e-3, atol=1e-3)
    np.testing.assert_allclose(edge_strengths(picture + 5), edge_strengths(picture), rtol=1e-2, atol=1e-2)


def test_a_picture_turned_is_its_edges_turned():
    picture = np.random.default_rng(1).random((2, 1, 28, 28))
    found = edge_strengths(picture).reshape(2, 7, 7, 8)
    turned = edge_strengths(picture[:, :, ::-1, ::-1]).reshape(2, 7, 7, 8)
    np.testing.assert_allclose(turned, np.roll(found[:, ::-1, ::-1], 4, 3), atol=1e-3)


@pytest.mark.parametrize(("shape", "count"), [((2, 1, 8, 8), 392), ((2, 3, 5, 40), 280), ((2, 1, 1, 1), 8)])
def test_any_size(shape, count):
    found = edge_strengths(np.random.default_rng(0).integers(0, 255, shape, dtype=np.uint8))
    assert found.shape == (2, count)
    assert np.isfinite(found).all()


def test_a_plain_picture_has_none():
    assert not edge_strengths(np.full((1, 3, 16, 16), 200, np.uint8)).any()
