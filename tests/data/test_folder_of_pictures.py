import os
import sys
from pathlib import Path

import numpy as np
import pytest
from data_toys import encoded, make_image, reasons, write_pictures
from PIL import Image

from proponent.data import open_data
from proponent.data._left_aside import UnusableError
from proponent.data._listing import list_pictures, read_inside


@pytest.fixture
def photos(tmp_path):
    return write_pictures(tmp_path / "photos", 4, 20, 20)


def test_paths_are_ids_in_order(tmp_path):
    for below in ("b/deep/er", "a", "."):
        write_pictures(tmp_path / "photos" / below, 2)
    data = open_data(tmp_path / "photos")
    assert data.ids.tolist() == ["0.png", "1.png", "a/0.png", "a/1.png", "b/deep/er/0.png", "b/deep/er/1.png"]
    assert data.duplicates.tolist() == [0, 1, 0, 1, 0, 1]


def test_one_small_size_is_kept(photos):
    data = open_data(photos)
    assert data.values.shape == (4, 3, 20, 20)
    assert data.notes == ()
    pixels = np.asarray(make_image(20, 20, seed=2))
    np.testing.assert_array_equal(data.values[2], np.moveaxis(pixels, 2, 0))


def test_one_small_size_may_be_oblong(tmp_path):
    assert open_data(write_pictures(tmp_path / "x", 3, 20, 40)).values.shape == (3, 3, 20, 40)


def test_an_oblong_size_leaves_aside_what_is_of_another(tmp_path):
    photos = write_pictures(tmp_path / "x", 3, 20, 40)
    (photos / "a.png").write_bytes(encoded(make_image(20, 40))[:30])  # its size can't be known beforehand
    data = open_data(photos)
    assert list(reasons(data)) == ["a.png"]


@pytest.mark.parametrize(("height", "width"), [(65, 65), (20, 70)])
def test_large_pictures_become_squares(height, width, tmp_path):
    data = open_data(write_pictures(tmp_path / "x", 3, height, width))
    assert data.values.shape == (3, 3, 32, 32)
    assert data.notes == ("Pictures of 1 size: the centre square of each was resized to 32 x 32.",)
    assert data.describe(0) == {"size": f"{width} x {height}"}


def test_mixed_sizes_become_squares(photos):
    make_image(30, 20).save(photos / "other.png")
    data = open_data(photos)
    assert data.values.shape == (5, 3, 32, 32)
    assert "Pictures of 2 sizes" in data.notes[0]


def test_a_size_that_is_asked_for(photos):
    data = open_data(photos, size=10)
    assert data.values.shape == (4, 3, 10, 10)
    means = np.asarray(make_image(20, 20), dtype=float).reshape(10, 2, 10, 2, 3).mean((1, 3))
    assert np.abs(np.moveaxis(data.values[0], 0, 2) - means).max() <= 1  # rounded in each direction


def test_the_centre_is_taken(tmp_path):
    pixels = np.zeros((40, 120, 3), dtype=np.uint8)
    pixels[:, 40:80] = 200
    (tmp_path / "x").mkdir()
    Image.fromarray(pixels).save(tmp_path / "x" / "a.png")
    assert (open_data(tmp_path / "x", size=8).values == 200).all()


def test_grey_where_all_are(tmp_path):
    photos = write_pictures(tmp_path / "x", 3, channels=1)
    make_image(20, 20, 1).convert("RGB").save(photos / "grey in colour.png")
    assert open_data(photos).values.shape == (4, 1, 20, 20)
    assert open_data(photos, grey=False).values.shape == (4, 3, 20, 20)


def test_colour_where_one_is(tmp_path):
    photos = write_pictures(tmp_path / "x", 300, channels=1)  # more than a block
    make_image(20, 20).save(photos / "z.png")
    data = open_data(photos)
    assert data.values.shape == (301, 3, 20, 20)
    assert (data.values[:300, 0] == data.values[:300, 2]).all()
    assert open_data(photos, grey=True).values.shape == (301, 1, 20, 20)
    cached = open_data(photos, tmp_path / "cache")
    np.testing.assert_array_equal(cached.values, data.values)


def test_other_files_are_counted_apart(photos):
    for name in ("a.txt", "b.TXT", "c.csv", ".hidden.png", "Thumbs.db", "readme"):
        (photos / name).write_text("text")
    (photos / ".git").mkdir()
    write_pictures(photos / "__MACOSX")
    data = open_data(photos)
    assert len(data) == 4
    assert data.left_aside == ()
    assert data.notes == (
        "4 files that are no pictures (.txt: 2, .csv: 1, no suffix: 1).",
        "4 hidden files or folders not looked at.",
    )


def test_what_is_broken_is_named(photos):
    whole = encoded(make_image(50, 50), "JPEG")
    (photos / "cut.jpg").write_bytes(whole[: len(whole) // 2])
    (photos / "empty.png").touch()
    (photos / "text.jpg").write_text("no picture")
    (photos / "noise.png").write_bytes(b"\x89PNG\r\n\x1a\n" + np.random.default_rng(0).bytes(500))
    (photos / "phone.HEIC").write_bytes(b"....ftypheic")
    (photos / "drawing.svg").write_text("<svg/>")
    (photos / "program.eps").write_text("%!PS")
    data = open_data(photos)
    assert len(data) == 4
    found = reasons(data)
    assert found["cut.jpg"].startswith("can't be decoded: image file is truncated")
    assert found["empty.png"] == "an empty file"
    assert found["text.jpg"] == "not a picture that can be read; it begins with 'no picture'"
    assert "noise.png" in found
    assert found["phone.HEIC"] == "HEIC files can't be read; convert it to JPEG or PNG"
    assert found["drawing.svg"].startswith("SVG files can't be read")
    assert found["program.eps"].startswith("EPS files can't be read")
    assert len(found) == 7
    assert repr(data) == "<DataSet of images, 4 x 3 x 20 x 20, 7 left aside>"


def test_a_program_in_disguise_is_not_run(photos):
    (photos / "a.png").write_text("%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n")
    assert reasons(open_data(photos))["a.png"].startswith("not a picture that can be read")


def test_names_lie_and_content_tells(photos):
    (photos / "really a png.jpg").write_bytes(encoded(make_image(20, 20)))
    (photos / "no suffix").write_bytes(encoded(make_image(20, 20), "WEBP"))
    assert len(open_data(photos)) == 6


def test_gigantic_pictures(photos, monkeypatch):
    make_image(200, 200).save(photos / "large.png")
    make_image(120, 110).save(photos / "larger than the limit.png")
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 10_000)
    found = reasons(open_data(photos))
    assert found["large.png"].startswith("too many pixels: Image size (40000 pixels) exceeds")
    assert found["larger than the limit.png"].startswith("too many pixels")
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", None)
    assert len(open_data(photos)) == 6


def test_a_gigantic_file_is_not_read(photos):
    with (photos / "sparse.png").open("wb") as file:
        file.truncate(3 << 30)
    assert reasons(open_data(photos)) == {"sparse.png": "a file of 3,072 MiB; pictures may have 512"}


def test_odd_names(photos):
    names = [
        "<img src=x onerror=alert(1)>.png",
        "<script>.png",
        "new\nline.png",
        "\u202egpj.png",
        "'; DROP TABLE--.png",
        "%2e%2e.png",
    ]
    names += ["ünï 😀.png", "-rf.png", "a" * 240 + ".png"]
    for name in names:
        make_image(20, 20).save(photos / name)
    data = open_data(photos)
    assert set(names) <= set(data.ids.tolist())
    captions = dict(zip(data.ids.tolist(), data.captions.tolist(), strict=True))
    assert captions["new\nline.png"] == "new\\nline.png"
    assert captions["\u202egpj.png"] == "\\u202egpj.png"
    assert captions["ünï 😀.png"] == "ünï 😀.png"


@pytest.mark.skipif(sys.platform != "linux", reason="other systems refuse such names")
def test_names_that_are_no_text(photos, tmp_path):
    raw = os.fsencode(photos) + b"/\xff\xfe.png"
    Path(os.fsdecode(raw)).write_bytes(encoded(make_image(20, 20, seed=77)))
    for _ in range(2):
        data = open_data(photos, tmp_path / "cache")
        assert data.ids[-1] == "\\xff\\xfe.png"
        assert data.picture(4).size == (20, 20)


def test_links_are_not_followed_out(photos, tmp_path):
    outside = write_pictures(tmp_path / "outside", 1)
    (photos / "out.png").symlink_to(outside / "0.png")
    (photos / "folder out").symlink_to(outside)
    (photos / "passwords.png").symlink_to("/etc/passwd")
    (photos / "gone.png").symlink_to(photos / "nothing.png")
    (photos / "ring.png").symlink_to(photos / "ring.png")
    (photos / "in.png").symlink_to(photos / "0.png")
    (photos / "self").symlink_to(photos)
    (photos / "ring").symlink_to(photos / "ring")
    (photos / "notes.txt").symlink_to("/etc/passwd")
    data = open_data(photos)
    assert "in.png" in data.ids.tolist()
    found = reasons(data)
    for name in ("out.png", "folder out", "passwords.png"):
        assert found[name] == "a link out of the folder"
    assert found["self"] == "a link to a folder"
    assert found["gone.png"].startswith("it can't be opened: No such file")
    assert found["ring.png"].startswith("it can't be opened")
    assert len(data) == 5


def test_a_link_made_after_reading_is_not_followed(photos, tmp_path):
    data = open_data(photos)
    outside = write_pictures(tmp_path / "outside", 1)
    (photos / "0.png").unlink()
    (photos / "0.png").symlink_to(outside / "0.png")
    with pytest.raises(FileNotFoundError, match=r"`0.png` can't be read any more: a link out of the folder"):
        data.picture(0)
    assert data.thumbnail(0).size == (20, 20)  # of what was read


def test_the_folder_itself_may_be_a_link(photos, tmp_path):
    (tmp_path / "link").symlink_to(photos)
    assert len(open_data(tmp_path / "link")) == 4


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="a system without pipes")
def test_pipes_are_not_waited_for(photos, tmp_path):
    os.mkfifo(photos / "pipe.png")
    os.mkfifo(photos / "pipe")
    assert reasons(open_data(photos)) == {"pipe.png": "not an ordinary file"}
    os.mkfifo(tmp_path / "pipe.csv")
    with pytest.raises(ValueError, match=r"is no ordinary file"):
        open_data(tmp_path / "pipe.csv")


@pytest.mark.skipif(sys.platform != "linux", reason="needs a file that can't be read")
def test_a_file_that_cannot_be_read():
    with pytest.raises(UnusableError, match=r"it can't be opened: Input/output error"):
        read_inside(Path("/proc/self").resolve(), "mem", 16)


def test_a_folder_that_cannot_be_opened(tmp_path):
    listing = list_pictures(tmp_path / "gone")
    assert [item.reason for item in listing.left_aside] == [
        "the folder can't be opened: No such file or directory"
    ]


def test_folders_deeper_than_python_recurses(tmp_path):
    levels = [tmp_path]
    try:
        for _ in range(1010):
            levels.append(levels[-1] / "d")
            levels[-1].mkdir()
        write_pictures(levels[-1], 1)
        data = open_data(tmp_path)
        assert data.ids.tolist() == ["d/" * 1010 + "0.png"]
    finally:  # who cleans up would recurse
        (levels[-1] / "0.png").unlink()
        for level in reversed(levels[1:]):
            level.rmdir()


def test_animations_give_their_first_picture(photos):
    frames = [make_image(20, 20, 1, seed=i) for i in range(3)]
    frames[0].save(photos / "a.gif", save_all=True, append_images=frames[1:], loop=0)
    data = open_data(photos)
    assert data.notes == ("1 file with more than one picture: the first was taken.",)
    place = data.ids.tolist().index("a.gif")
    np.testing.assert_array_equal(data.values[place, 0], np.asarray(frames[0]))


def test_an_empty_folder(tmp_path):
    with pytest.raises(ValueError, match=r"must hold pictures, but holds nothing"):
        open_data(tmp_path)
    (tmp_path / ".hidden").touch()
    with pytest.raises(ValueError, match=r"holds nothing but 1 hidden file"):
        open_data(tmp_path)


def test_a_folder_without_pictures(tmp_path):
    (tmp_path / "a.txt").touch()
    (tmp_path / "b.csv").touch()
    with pytest.raises(ValueError, match=r"holds only 2 other files \(.*.csv: 1.*\). Name one of them"):
        open_data(tmp_path)


def test_a_folder_of_unreadable_forms(tmp_path):
    (tmp_path / "a.heic").touch()
    with pytest.raises(ValueError, match=r"none of 1 file can, the first, `a.heic`: HEIC files"):
        open_data(tmp_path)


def test_a_folder_in_which_all_is_broken(tmp_path):
    for i in range(5):
        (tmp_path / f"{i}.png").write_text("no")
    with pytest.raises(
        ValueError, match=r"No sample of .* can be used: `0.png`: not a picture.*; and 2 more"
    ):
        open_data(tmp_path)


def test_a_saved_data_set_is_for_the_hub(tmp_path):
    for name in ("state.json", "data-0.arrow"):
        (tmp_path / name).touch()
    with pytest.raises(ValueError, match=r"open it by `datasets.load_from_disk` and pass that"):
        open_data(tmp_path)


def test_the_original_is_shown(tmp_path):
    photos = write_pictures(tmp_path / "x", 2, 300, 400, form="JPEG")
    data = open_data(photos)
    assert data.picture(0).size == (400, 300)
    assert data.picture(0, 100).size == (100, 75)
    assert data.thumbnail(1).size == (128, 96)
    assert open_data(write_pictures(tmp_path / "y", 2)).thumbnail(0).size == (20, 20)  # never enlarged


def test_another_picture_of_the_same_name_is_not_shown(photos):
    data = open_data(photos)
    make_image(20, 20, seed=99).save(photos / "1.png")
    with pytest.raises(
        ValueError, match=r"The picture of `1.png` is another one than when the data were read"
    ):
        data.picture(1)
    np.testing.assert_array_equal(np.asarray(data.thumbnail(1)), np.moveaxis(data.values[1], 0, 2))


def test_a_picture_that_is_gone(photos):
    data = open_data(photos)
    (photos / "1.png").unlink()
    with pytest.raises(FileNotFoundError, match=r"The picture of `1.png` can't be read any more"):
        data.picture(1)
    assert data.thumbnail(1).size == (20, 20)
