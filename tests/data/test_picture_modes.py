import warnings

import numpy as np
import pytest
from data_toys import make_image
from PIL import Image

from proponent.data import open_data
from proponent.data._decoding import upright_size
from proponent.data._left_aside import UnusableError
from proponent.data._modes import on_white, to_eight_bits

GREY = np.linspace(0, 255, 64).astype(np.uint8).reshape(8, 8)


def read(tmp_path, image, name="a.png", **options):
    (tmp_path / "x").mkdir(exist_ok=True)
    image.save(tmp_path / "x" / name, **options)
    return open_data(tmp_path / "x").values[0]


def test_grey(tmp_path):
    np.testing.assert_array_equal(read(tmp_path, Image.fromarray(GREY))[0], GREY)


def test_black_and_white(tmp_path):
    values = read(tmp_path, Image.fromarray(GREY > 99))
    np.testing.assert_array_equal(values[0], (GREY > 99) * 255)


def test_sixteen_bits_keep_the_upper_eight(tmp_path):
    deep = GREY.astype(np.uint16) * 257
    np.testing.assert_array_equal(read(tmp_path, Image.fromarray(deep))[0], GREY)


def test_thirty_two_bits(tmp_path):
    np.testing.assert_array_equal(read(tmp_path, Image.fromarray(GREY.astype(np.int32)), "a.tif")[0], GREY)
    wide = Image.fromarray(GREY.astype(np.int32) * 1_000_000 - 7)
    np.testing.assert_array_equal(read(tmp_path, wide, "a.tif")[0], GREY)
    sixteen = Image.fromarray(GREY.astype(np.int32) * 256)
    np.testing.assert_array_equal(read(tmp_path, sixteen, "a.tif")[0], GREY)


def test_floats(tmp_path):
    np.testing.assert_array_equal(
        read(tmp_path, Image.fromarray(GREY.astype(np.float32) / 255), "a.tif")[0], GREY
    )
    np.testing.assert_array_equal(read(tmp_path, Image.fromarray(GREY.astype(np.float32)), "a.tif")[0], GREY)
    np.testing.assert_array_equal(
        read(tmp_path, Image.fromarray(GREY * np.float32(9) - 900), "a.tif")[0], GREY
    )


def test_floats_that_are_not_finite():
    with pytest.raises(UnusableError, match=r"its numbers are not all finite"):
        to_eight_bits(Image.fromarray(np.full((4, 4), np.nan, dtype=np.float32)))


def test_a_palette(tmp_path):
    colours = make_image(8, 8).quantize(16)
    values = read(tmp_path, colours)
    np.testing.assert_array_equal(np.moveaxis(values, 0, 2), np.asarray(colours.convert("RGB")))


def test_transparency_is_laid_on_white(tmp_path):
    pixels = np.zeros((8, 8, 4), dtype=np.uint8)
    pixels[..., 0], pixels[:4, :, 3] = 200, 255
    values = read(tmp_path, Image.fromarray(pixels))
    assert values[:, 0, 0].tolist() == [200, 0, 0]
    assert values[:, 7, 7].tolist() == [255, 255, 255]


@pytest.mark.parametrize("mode", ["LA", "PA", "RGBa", "La"])
def test_other_modes_with_transparency(mode):
    grey = Image.fromarray(GREY)
    image = Image.merge("LA", (grey, Image.new("L", (8, 8), 0)))
    if mode == "PA":
        image = grey.convert("P").convert("PA")
        image.putalpha(0)
    steps = {"PA": [], "La": ["La"], "RGBa": ["RGBA", "RGBa"], "LA": []}[mode]
    for step in steps:
        image = image.convert(step)
    assert image.mode == mode
    white = on_white(to_eight_bits(image))
    assert white.mode in ("L", "RGB")
    assert np.asarray(white).min() == 255


@pytest.mark.parametrize("mode", ["L", "RGB", "P"])
def test_one_transparent_colour(mode, tmp_path):
    image = Image.fromarray(np.where(GREY > 99, 255, 0).astype(np.uint8)).convert(mode)
    clear = {"L": 0, "RGB": (0, 0, 0), "P": image.convert("P").getpixel((0, 0))}[mode]
    assert read(tmp_path, image, transparency=clear).min() == 255


@pytest.mark.parametrize("mode", ["CMYK", "YCbCr", "LAB", "HSV"])
def test_other_colours(mode, tmp_path):
    colours = make_image(8, 8).convert(mode)
    values = to_eight_bits(colours)
    assert values.mode == "RGB"
    if mode == "CMYK":
        assert read(tmp_path, colours, "a.tif").shape == (3, 8, 8)


@pytest.mark.parametrize("form", ["jpg", "tif", "png", "webp"])
@pytest.mark.parametrize("orientation", range(1, 9))
def test_pictures_stand_upright(orientation, form, tmp_path):
    """Each file is stored turned, with the note that says how to turn it back."""
    upright = np.zeros((48, 24, 3), dtype=np.uint8)
    upright[:12, :12] = 250  # the upper left corner is bright
    undo = {
        2: Image.Transpose.FLIP_LEFT_RIGHT,
        3: Image.Transpose.ROTATE_180,
        4: Image.Transpose.FLIP_TOP_BOTTOM,
        5: Image.Transpose.TRANSPOSE,
        6: Image.Transpose.ROTATE_90,
        7: Image.Transpose.TRANSVERSE,
        8: Image.Transpose.ROTATE_270,
    }
    image = Image.fromarray(upright)
    stored = image.transpose(undo[orientation]) if orientation in undo else image
    notes = Image.Exif()
    notes[0x0112] = orientation
    values = read(tmp_path, stored, f"a.{form}", exif=notes)
    assert values.shape[1:] == (48, 24)
    assert values[0, 3:9, 3:9].min() > 200
    assert values[0, 16:, :].max() < 60
    data = open_data(tmp_path / "x", size=8)
    assert data.values[0, 0, 0, 0] < 200  # the corner is not in the centre square
    assert data.picture(0).size == (24, 48)
    assert data.describe(0) == {"size": "24 x 48"}


def test_damaged_notes_of_a_camera_are_no_reason(tmp_path):
    (tmp_path / "x").mkdir()
    make_image(20, 20).save(tmp_path / "x" / "a.jpg", exif=b"Exif\0\0II*\0\xff\xff\xff\xff broken")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(open_data(tmp_path / "x")) == 1


def test_notes_that_cannot_be_read():
    class Broken(Image.Image):
        def getexif(self):
            raise SyntaxError("broken")

    image = Broken()
    image._size = (3, 2)
    assert upright_size(image) == (2, 3)
