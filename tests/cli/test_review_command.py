import csv
import http.client
import signal
import subprocess
import sys
from contextlib import closing
from urllib.parse import urlsplit

import numpy as np
import pytest
from PIL import Image

from proponent.cli import main
from proponent.review import Decisions

SMALL = ["--latent-dim", "2", "--steps", "4", "--checkpoints", "2", "--batch-size", "8", "--device", "cpu"]
COMMAND = "import sys; from proponent.cli import main; sys.exit(main(sys.argv[1:]))"


@pytest.fixture
def photos(tmp_path):
    (tmp_path / "photos").mkdir()
    for i in range(12):
        colours = np.random.default_rng(i).integers(0, 255, (8, 8, 3), dtype=np.uint8)
        Image.fromarray(colours).save(tmp_path / "photos" / f"{i:02d}.png")
    return tmp_path / "photos"


@pytest.fixture
def run(photos, tmp_path):
    assert main(["train", str(photos), "--out", str(tmp_path / "run"), *SMALL]) == 0
    return tmp_path / "run"


def serve(*arguments):
    """Start the command; gives the process, the address, and what was said before it."""
    process = subprocess.Popen(
        [sys.executable, "-c", COMMAND, "review", *map(str, arguments), "--no-browser"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    said = []
    for line in process.stdout:
        if line.startswith("Open "):
            return process, line.split()[1], said
        said.append(line)
    raise AssertionError(process.communicate()[1])


def discard(address, i):
    parts = urlsplit(address)
    with closing(http.client.HTTPConnection(parts.hostname, parts.port, timeout=30)) as connection:
        connection.request("GET", f"/?{parts.query}")
        answer = connection.getresponse()
        cookie = answer.headers["set-cookie"].split(";")[0]
        answer.read()
        headers = {
            "Cookie": cookie,
            "Origin": f"http://{parts.netloc}",
            "Content-Type": "application/json",
        }
        connection.request("POST", "/api/decide", f'{{"i": {i}, "verdict": "discard"}}', headers)
        assert connection.getresponse().status == 200


def test_from_pictures_to_a_manifest(photos, run, tmp_path, capsys):
    """The data are named, not the run: what is done of it is taken, and the rest is done first."""
    process, address, said = serve(photos, "--out", run)
    try:
        assert "12 images to review. Stop with Ctrl-C; every decision is kept.\n" in said
        assert any("Training 4 models on halves" in line for line in said)
        discard(address, 3)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    finally:
        process.kill()
    assert (process.returncode, err) == (0, "")
    assert "1 decision so far.\n" in out
    assert str(run / "review.sqlite") in out
    assert f"Next: proponent apply {run} --out clean.parquet" in out
    capsys.readouterr()
    assert main(["apply", str(run), "--out", str(tmp_path / "clean.csv")]) == 0
    printed = capsys.readouterr().out
    assert "11 stay and 1 go. Of those that stay, 0 were kept, 0 left somebody unsure, and 11 were" in printed
    assert str(tmp_path / "clean.csv") in printed
    with (tmp_path / "clean.csv").open(encoding="utf-8", newline="") as file:
        assert [row["id"] for row in csv.DictReader(file) if row["keep"] == "False"] == ["03.png"]
    assert len(list(photos.iterdir())) == 12

    process, address, said = serve(run)
    try:
        assert said == ["12 images to review. Stop with Ctrl-C; every decision is kept.\n"]
        discard(address, 4)
    finally:
        process.kill()
        process.communicate()
    with closing(Decisions(run / "review.sqlite")) as decisions:
        assert decisions.current() == {"03.png": "discard", "04.png": "discard"}


def refused(capsys, *arguments):
    capsys.readouterr()
    assert main([str(argument) for argument in arguments]) == 2
    captured = capsys.readouterr()
    assert "Traceback" not in captured.err
    return " ".join((captured.err + captured.out).split())


def test_what_is_not_there_is_named(tmp_path, capsys):
    assert "nothing" in refused(capsys, "review", tmp_path / "nothing", "--out", tmp_path / "run")
    assert not (tmp_path / "run").exists()
    assert "must be a run's folder" in refused(capsys, "apply", tmp_path / "no", "--out", tmp_path / "c.csv")


def test_apply_before_a_review_is_refused(run, tmp_path, capsys):
    message = refused(capsys, "apply", run, "--out", tmp_path / "clean.csv")
    assert f"Nobody has reviewed `{run}` yet. Begin with `proponent review {run}`." in message


def test_apply_to_a_file_of_yours_is_refused(run, photos, tmp_path, capsys):
    with closing(Decisions(run / "review.sqlite")) as decisions:
        decisions.append("03.png", "discard")
    (tmp_path / "mine.csv").write_text("mine")
    message = refused(capsys, "apply", run, "--out", tmp_path / "mine.csv")
    assert "Nothing of yours is overwritten; name another file." in message
    assert (tmp_path / "mine.csv").read_text() == "mine"
    Image.new("RGB", (8, 8)).save(photos / "99.png")
    assert "The data changed under the run" in refused(capsys, "apply", run, "--out", tmp_path / "c.csv")


def test_options_of_the_other_are_refused(run, photos, tmp_path, capsys):
    assert "`--out` is for data" in refused(capsys, "review", run, "--out", tmp_path / "other")
    assert "`--data` is for a run" in refused(capsys, "review", photos, "--data", photos)


def test_a_port_that_is_no_port_is_refused(run, capsys):
    assert "65535" in refused(capsys, "review", run, "--port", "65536")
