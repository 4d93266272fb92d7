import numpy as np
import pytest
from PIL import Image

from proponent.data import open_data


@pytest.fixture
def photos(tmp_path):
    folder = tmp_path / "photos"
    generator = np.random.default_rng(0)
    for i, shape in enumerate([(90, 120, 3), (120, 90, 3), (100, 100, 3)]):
        (folder / f"year {i}").mkdir(parents=True)
        Image.fromarray(generator.integers(0, 256, shape, dtype=np.uint8)).save(folder / f"year {i}" / "a.jpg")
    return folder


def test_a_folder_of_photographs(photos):
    data = open_data(photos)
    assert (data.kind, data.values.shape, data.values.dtype) == ("images", (3, 3, 32, 32), np.uint8)
    assert data.ids.tolist() == ["year 0/a.jpg", "year 1/a.jpg", "year 2/a.jpg"]
    assert data.left_aside == ()
    assert data.notes == ("Pictures of 3 sizes: the centre square of each was resized to 32 x 32.",)
    assert data.picture(0).size == (120, 90)
