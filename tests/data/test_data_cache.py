import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from data_toys import encoded, make_image, write_hub_parquet, write_pictures

from proponent.data import DataChangedError, open_data
from proponent.data._cache import Cache, read_block

COUNT = 700  # three blocks
SECONDS = 60


@pytest.fixture
def photos(tmp_path):
    folder = write_pictures(tmp_path / "photos", 5, 20, 20)
    for i in range(5, COUNT):  # links cost nothing to make
        os.link(folder / f"{i % 5}.png", folder / f"{i}.png")
    (folder / "broken.png").write_bytes(b"no")
    return folder


def touch(path):
    os.utime(path, ns=(1, 1))


def count_decodes(monkeypatch):
    from proponent.data import _pictures

    counted = []
    fitted = _pictures.fitted

    def counting(*arguments):
        counted.append(arguments)
        return fitted(*arguments)

    monkeypatch.setattr(_pictures, "fitted", counting)
    return counted


def test_a_finished_cache_decodes_nothing(photos, tmp_path, monkeypatch):
    first = open_data(photos, tmp_path / "cache")
    decoded = count_decodes(monkeypatch)
    again = open_data(photos, tmp_path / "cache")
    assert decoded == []
    np.testing.assert_array_equal(first.values, again.values)
    assert again.left_aside == first.left_aside
    assert {file.name for file in (tmp_path / "cache").iterdir()} == {
        *("data.json", "samples.npy", "samples.parquet", "files.parquet")
    }


class Stopped(Exception):
    pass


def test_what_was_read_before_a_stop_is_not_decoded_again(photos, tmp_path, monkeypatch):
    def stop(done, total):
        if done >= 512:
            raise Stopped

    with pytest.raises(Stopped):
        open_data(photos, tmp_path / "cache", progress=stop)
    decoded, told = count_decodes(monkeypatch), []
    data = open_data(photos, tmp_path / "cache", progress=lambda done, total: told.append((done, total)))
    assert len(decoded) == COUNT - 512
    assert told == [(256, COUNT + 1), (512, COUNT + 1), (COUNT + 1, COUNT + 1)]
    np.testing.assert_array_equal(data.values, open_data(photos).values)


def test_a_file_that_changed_before_the_end_is_read_again(photos, tmp_path):
    def stop(done, total):
        raise Stopped

    with pytest.raises(Stopped):
        open_data(photos, tmp_path / "cache", progress=stop)
    (photos / "0.png").unlink()
    make_image(20, 20, seed=99).save(photos / "0.png")
    data = open_data(photos, tmp_path / "cache")
    assert data.fingerprint == open_data(photos).fingerprint


def test_a_damaged_block_is_read_again(photos, tmp_path):
    def stop(done, total):
        if done >= 512:
            raise Stopped

    with pytest.raises(Stopped):
        open_data(photos, tmp_path / "cache", progress=stop)
    one, other = sorted((tmp_path / "cache" / "shards").iterdir())
    one.write_bytes(one.read_bytes()[:1000])
    other.write_bytes(b"")
    assert open_data(photos, tmp_path / "cache").fingerprint == open_data(photos).fingerprint
    assert read_block(tmp_path / "none.npz") is None


@pytest.mark.parametrize("form", ["folder", "table"])
def test_a_killed_reading_ends_in_the_same(form, photos, tmp_path, monkeypatch):
    source, cache = photos, tmp_path / "cache"
    if form == "table":
        contents = [encoded(make_image(20, 20, seed=i % 7)) for i in range(2000)]
        source = write_hub_parquet(tmp_path / "x.parquet", contents)
    script = (
        "import sys, time; from proponent.data import open_data; "
        "open_data(*sys.argv[1:], progress=lambda done, total: time.sleep(0.05))"
    )
    process = subprocess.Popen([sys.executable, "-c", script, str(source), str(cache)])
    began = time.monotonic()
    while len(list(cache.glob("shards/0*.npz"))) < 2:
        assert process.poll() is None, "it ended before it could be killed"
        assert time.monotonic() - began < SECONDS
        time.sleep(0.002)
    process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    decoded, kept = count_decodes(monkeypatch), len(list(cache.glob("shards/0*.npz")))
    assert not (cache / "data.json").exists()
    resumed = open_data(source, cache)
    assert len(decoded) == len(resumed) - 256 * kept
    whole = open_data(source)
    assert resumed.fingerprint == whole.fingerprint
    np.testing.assert_array_equal(resumed.values, whole.values)
    assert not (cache / "shards").exists()


def test_files_that_were_only_touched_are_the_same(photos, tmp_path, monkeypatch):
    before = open_data(photos, tmp_path / "cache")
    for path in photos.iterdir():
        touch(path)
    decoded = count_decodes(monkeypatch)
    assert open_data(photos, tmp_path / "cache").fingerprint == before.fingerprint
    assert decoded == []
    stamps = Cache(tmp_path / "cache").read_stamps()
    assert all(stamp.modified == 1 for stamp, _ in stamps)


def test_files_that_changed_are_named(photos, tmp_path):
    open_data(photos, tmp_path / "cache")
    make_image(20, 20, seed=50).save(photos / "new.png")
    (photos / "7.png").unlink()
    (photos / "8.png").unlink()
    make_image(20, 20, seed=51).save(photos / "8.png")
    (photos / "broken.png").write_bytes(b"longer")
    with pytest.raises(
        DataChangedError,
        match=r"since they were read into .*cache`: 1 new \(`new.png`\), 1 gone \(`7.png`\), 2 changed "
        r"\(`8.png`, `broken.png`\). Bring the old data back, or read the new ones into another folder",
    ) as raised:
        open_data(photos, tmp_path / "cache")
    assert (raised.value.new, raised.value.gone) == (("new.png",), ("7.png",))
    assert raised.value.changed == ("8.png", "broken.png")


def test_many_changes_are_counted(photos, tmp_path):
    open_data(photos, tmp_path / "cache")
    for i in range(10, 20):
        (photos / f"{i}.png").unlink()
    with pytest.raises(DataChangedError, match=r"10 gone \(`10.png`, `11.png`, `12.png`, \.\.\.\)"):
        open_data(photos, tmp_path / "cache")


def test_a_file_of_the_same_size_with_another_content(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("a,b\n1,2\n")
    before = open_data(path, tmp_path / "cache")
    touch(path)
    assert open_data(path, tmp_path / "cache").fingerprint == before.fingerprint
    path.write_text("a,b\n1,3\n")
    with pytest.raises(DataChangedError, match=r"1 changed \(`x.csv`\)"):
        open_data(path, tmp_path / "cache")


def test_moved_data_are_the_same(photos, tmp_path):
    before = open_data(photos, tmp_path / "cache")
    after = open_data(photos.rename(tmp_path / "elsewhere"), tmp_path / "cache")
    assert after.fingerprint == before.fingerprint
    assert after.source["path"].endswith("elsewhere")
    assert after.picture(0).size == (20, 20)


def test_another_way_of_reading_is_refused(photos, tmp_path):
    open_data(photos, tmp_path / "cache")
    with pytest.raises(
        ValueError, match="were read in another way: size was None and is 16 now; grey was None and"
    ):
        open_data(photos, tmp_path / "cache", size=16, grey=True)


def test_another_array_is_refused(tmp_path):
    open_data(np.zeros((40, 3)), tmp_path / "cache")
    with pytest.raises(DataChangedError, match=r"32 changed \(`item 1`, `item 2`"):
        open_data(np.ones((40, 3)), tmp_path / "cache")


def test_a_cache_of_another_version(photos, tmp_path):
    open_data(photos, tmp_path / "cache")
    record = json.loads((tmp_path / "cache" / "data.json").read_text())
    (tmp_path / "cache" / "data.json").write_text(json.dumps(record | {"format": 0}))
    with pytest.raises(ValueError, match=r"was made by another version of this library. Delete it"):
        open_data(photos, tmp_path / "cache")


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("data.json", b"{", "must be a JSON file"),
        ("samples.npy", b"\x93NUMPY", "is damaged: .*Delete it to have it made anew"),
        ("samples.npy", None, "is damaged: its samples are gone"),
        ("samples.parquet", b"PAR1", "is damaged"),
        ("files.parquet", None, "is damaged"),
    ],
)
def test_a_damaged_cache(name, content, message, photos, tmp_path):
    open_data(photos, tmp_path / "cache")
    if content is None:
        (tmp_path / "cache" / name).unlink()
    else:
        (tmp_path / "cache" / name).write_bytes(content)
    with pytest.raises(ValueError, match=message):
        open_data(photos, tmp_path / "cache")


def test_a_cache_with_too_few_samples(photos, tmp_path):
    open_data(photos, tmp_path / "cache")
    np.save(tmp_path / "cache" / "samples.npy", np.zeros((3, 3, 20, 20), dtype=np.uint8))
    with pytest.raises(ValueError, match="is damaged: its samples are 3, not 700"):
        open_data(photos, tmp_path / "cache")


def test_an_object_that_changed_before_the_end_is_read_again(tmp_path):
    def stop(done, total):
        raise Stopped

    numbers = np.random.default_rng(0).normal(size=(6000, 3))
    with pytest.raises(Stopped):
        open_data(numbers, tmp_path / "cache", progress=stop)
    assert len(list((tmp_path / "cache" / "shards").iterdir())) == 1
    data = open_data(numbers + 1, tmp_path / "cache")
    np.testing.assert_array_equal(data.values, (numbers + 1).astype(np.float32))


def test_an_object_whose_first_samples_cannot_be_used(tmp_path):
    numbers = np.full((6000, 3), np.nan)
    numbers[5000:] = 1

    def stop(done, total):
        raise Stopped

    with pytest.raises(Stopped):
        open_data(numbers, tmp_path / "cache", progress=stop)
    assert len(open_data(numbers, tmp_path / "cache")) == 1000
