import numpy as np
import pytest

from proponent.report import as_pictures


@pytest.mark.parametrize(
    ("shape", "expected"),
    [
        ((5, 8, 9), (5, 8, 9)),
        ((5, 1, 8, 9), (5, 8, 9)),
        ((5, 3, 8, 9), (5, 8, 9, 3)),
        ((5, 8, 9, 1), (5, 8, 9)),
        ((5, 8, 9, 3), (5, 8, 9, 3)),
        ((5, 3, 8, 3), (5, 3, 8, 3)),
        ((5, 7), None),
        ((5, 2, 8, 9), None),
        ((5, 2, 3, 4, 5), None),
    ],
)
def test_shapes(shape, expected):
    pictures = as_pictures(np.zeros(shape))
    assert (None if pictures is None else pictures.shape) == expected


def test_channels_are_moved_not_mixed():
    x = np.random.default_rng(0).random((2, 3, 4, 5))
    np.testing.assert_array_equal(as_pictures(x)[1, 2, 3], x[1, :, 2, 3])
