import numpy as np
import pytest

from proponent.data import as_floats


def test_bytes_are_pixels():
    np.testing.assert_allclose(as_floats(np.array([0, 51, 255], np.uint8)), [0, 0.2, 1], rtol=1e-7)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, np.bool_])
def test_floats_and_truths_keep_their_values(dtype):
    floats = as_floats(np.array([0, 1, 0], dtype))
    assert floats.dtype == np.float32
    np.testing.assert_array_equal(floats, [0, 1, 0])


def test_other_integers_are_refused():
    with pytest.raises(TypeError, match="`queries` must be floats, or pixels as uint8, got int64"):
        as_floats(np.arange(3), "queries")
