import re
from html.parser import HTMLParser

import numpy as np
import pytest
from matplotlib.figure import Figure

from proponent import Scores
from proponent.report import Picture, figure_png, render_html, summarise, write_html

HOSTILE = '<script>alert("x")</script>'
VOID = {"meta", "img", "br", "link", "input", "hr"}


class Checker(HTMLParser):
    """Collects tags, and fails where one is closed that was not opened last."""

    def __init__(self):
        super().__init__()
        self.open, self.tags = [], []

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def check(page):
    checker = Checker()
    checker.feed(page)
    assert checker.open == []
    return checker.tags


def make_summary(full=True):
    ids = np.array([HOSTILE, "b", "c", "d"])
    own = Scores(np.array([3.0, -1.0, 1.2, 0.5]), ids, standard_errors=np.full(4, 0.12) if full else None)
    if not full:
        return summarise("bare", own)
    influence = Scores(np.arange(8.0).reshape(4, 2) - 3, ids, query_ids=np.array([HOSTILE, "q"]))
    foreign = np.array([True, False, False, True])
    return summarise(HOSTILE, own, influence, foreign, {HOSTILE: np.arange(4.0)}, {HOSTILE: HOSTILE})


def make_images(ids):
    return {id_: np.random.default_rng(0).random((8, 8)) for id_ in ids}


def test_names_are_never_markup():
    page = render_html(make_summary(), make_images([HOSTILE, "b"]), make_images([HOSTILE]))
    assert "<script" not in page
    assert "&lt;script&gt;" in page
    assert all(tag != "script" for tag, _ in check(page))


def test_the_page_stands_on_its_own():
    picture = Picture(figure_png(Figure((1, 1)), dpi=50), alt="a figure", caption="a caption")
    page = render_html(make_summary(), make_images(["b"]), make_images(["q"]), (picture,))
    tags = check(page)
    addresses = [value for _, attrs in tags for name, value in attrs.items() if name in ("src", "href")]
    assert len(addresses) > 2
    assert all(address.startswith("data:image/png;base64,") for address in addresses)
    assert not re.search(r"https?://|@import|url\(", page)
    policy = [attrs["content"] for _, attrs in tags if attrs.get("http-equiv") == "Content-Security-Policy"]
    assert policy == ["default-src 'none'; img-src data:; style-src 'unsafe-inline'"]


def test_every_image_says_what_it_shows():
    picture = Picture(figure_png(Figure((1, 1)), dpi=50), alt="a figure")
    images = [
        attrs
        for tag, attrs in check(render_html(make_summary(), make_images(["b"]), pictures=(picture,)))
        if tag == "img"
    ]
    assert images
    assert all(attrs["alt"] for attrs in images)


def test_the_sign_and_the_unit_are_explained():
    page = render_html(make_summary())
    assert "Positive is a proponent: training on the sample lowered the loss of the query." in page
    assert "In nats." in page
    assert "its median is 11% of the median score" in page
    assert "1 of 4 are under 0" in page


def test_the_verdict_and_the_table_are_there():
    page = render_html(make_summary())
    assert "planted samples among the first" in page
    assert 'class="verdict"' in page


def test_empty_states_say_what_is_missing():
    page = render_html(make_summary(full=False))
    check(page)
    assert "No samples were planted among these" in page
    assert "No queries were asked" in page
    assert "verdict" not in page.split("</style>")[1]
    assert "standard error" not in page


def test_samples_without_a_picture_are_shown_by_name():
    page = render_html(make_summary(full=False))
    assert '<span class="name">b</span>' in page
    assert "<img" not in page


def test_the_page_is_written(tmp_path):
    path = write_html(tmp_path / "new" / "index.html", "<p>β</p>")
    assert path.read_text("utf-8") == "<p>β</p>"


@pytest.mark.parametrize("invert", [True, False])
def test_ink_on_paper(invert):
    images = {"b": np.zeros((2, 2))}
    white = {"b": np.ones((2, 2))}
    same = render_html(make_summary(), images, invert=invert) == render_html(make_summary(), white)
    assert same is invert
