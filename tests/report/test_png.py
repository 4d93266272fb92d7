import base64
import io

import numpy as np
import pytest
from matplotlib.image import imread

from proponent.report._png import data_uri, png_bytes


def read(content):
    return (imread(io.BytesIO(content), format="png") * 255).round().astype(np.uint8)


@pytest.mark.parametrize("shape", [(1, 1), (8, 8), (3, 7), (5, 4, 3)])
def test_another_reader_sees_the_same_pixels(shape):
    pixels = np.random.default_rng(0).integers(0, 256, shape, dtype=np.uint8)
    np.testing.assert_array_equal(read(png_bytes(pixels))[..., : 3 if len(shape) == 3 else None], pixels)


def test_floats_are_from_nought_to_one_and_the_rest_is_cut():
    np.testing.assert_array_equal(
        read(png_bytes([[0.0, 0.5], [1.0, 7.0], [-1.0, 0.2]])), [[0, 128], [255, 255], [0, 51]]
    )


def test_the_address_holds_the_file():
    image = np.eye(3)
    start = "data:image/png;base64,"
    assert data_uri(image).startswith(start)
    assert base64.b64decode(data_uri(image).removeprefix(start)) == png_bytes(image)


@pytest.mark.parametrize("shape", [(3,), (2, 2, 4), (1, 2, 2, 3), (0, 2)])
def test_other_shapes_are_refused(shape):
    with pytest.raises(ValueError, match=r"An image must be \[h, w\] or \[h, w, 3\], got shape"):
        png_bytes(np.zeros(shape))
