"""The offline report in a real browser, opened from its file."""

from io import BytesIO

import pytest

pytest.importorskip("playwright", reason="playwright is not installed")
pytest.importorskip("uvicorn", reason="the extra `review` is not installed")

from PIL import Image
from playwright.sync_api import expect
from report_toys import SCRIPT, make_report, noise

from _page import CHROMIUM, chromium
from proponent.report import render_report, write_html
from proponent.report._thumbnails import thumbnails

pytestmark = pytest.mark.skipif(not CHROMIUM.exists(), reason=f"there is no Chromium at {CHROMIUM}")

N = 40


@pytest.fixture(scope="module")
def browser():
    with chromium() as started:
        yield started


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    report = make_report(N)
    found = thumbnails(lambda i, side: noise(i, 16), range(N), 400_000)
    views = {
        id_: {"thumb": found[i], "details": {"size": "16 x 16"}} for i, id_ in enumerate(report.samples.ids)
    }
    page = render_report(report, views, {SCRIPT: {"thumb": found[0]}})
    return write_html(tmp_path_factory.mktemp("page") / "report.html", page)


@pytest.fixture(params=[{}, {"color_scheme": "dark"}, {"viewport": {"width": 360, "height": 640}}])
def tab(browser, path, request):
    """The page; whatever it complains of or asks the network for fails the test."""
    complaints, asked = [], []
    with browser.new_context(**request.param) as context:
        tab = context.new_page()
        tab.on("console", lambda message: complaints.append(message.text))
        tab.on("pageerror", lambda error: complaints.append(str(error)))
        tab.on("dialog", lambda dialog: complaints.append(dialog.message))
        tab.on("request", lambda request: asked.append(request.url))
        tab.goto(path.as_uri())
        expect(tab.locator("#highest .tile")).to_have_count(6)
        yield tab
    assert complaints == []
    assert [url for url in asked if not url.startswith("data:")] == [path.as_uri()]


def names(tab, where):
    return [tile.get_attribute("title") for tile in tab.locator(f"{where} .tile").all()]


def test_galleries_follow_the_ranking(tab):
    assert names(tab, "#highest")[:2] == [f"folder/{N - 1:04d}.png", f"folder/{N - 2:04d}.png"]
    assert names(tab, "#lowest")[:2] == [SCRIPT, "folder/0001.png"]
    before = names(tab, "#highest")
    tab.get_by_label("Ranked by").select_option("self-influence")
    assert names(tab, "#highest") != before
    expect(tab.locator("#about")).to_have_text("About self-influence.")
    expect(tab.locator("#chosen-count")).to_have_text(f"All {N} samples, sorted by self-influence")
    assert tab.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_the_brush_filters_the_gallery(tab):
    plot = tab.locator(".scatter-plot")
    plot.scroll_into_view_if_needed()
    box = plot.bounding_box()
    left, right = box["x"] + 60, box["x"] + box["width"] - 13
    tab.mouse.move((left + right) / 2, box["y"] + 13)
    tab.mouse.down()
    tab.mouse.move(right, box["y"] + box["height"] - 45, steps=3)
    tab.mouse.up()
    expect(tab.locator("#chosen-count")).to_have_text("20 samples, sorted by loss")
    first = tab.locator("#chosen .gallery-tile").first
    expect(first).to_have_attribute("title", f"folder/{N - 1:04d}.png")
    tab.locator(".scatter-axes select").first.select_option("ranking gradient norm")
    expect(tab.locator("#chosen-count")).to_have_text(f"All {N} samples, sorted by loss")


def test_a_closer_look(tab):
    tab.locator("#lowest .tile").first.click()
    expect(tab.locator("#closer-name")).to_have_text(SCRIPT)
    expect(tab.locator("#closer-facts")).to_contain_text("place 40")
    expect(tab.locator("#closer-copies")).to_have_text("Its exact copies: folder/0001.png")
    tab.keyboard.press("Escape")
    expect(tab.locator("#closer")).to_be_hidden()


def test_queries_stand_with_proponents_and_opponents(tab):
    assert names(tab, ".query .for") == ["folder/0001.png", "folder/0002.png"]
    assert names(tab, ".query .against") == [SCRIPT]
    expect(tab.locator(".query .for .number").first).to_have_text("+2.00")
    expect(tab.locator(".query .against .number")).to_have_text("−3.00")


@pytest.mark.parametrize("kind", ["rows", "arrays"])
def test_rows_are_lines_of_a_table_and_arrays_curves(browser, tmp_path, kind):
    report = make_report(8, kind)
    view = {"details": {"column": 1.5}} | ({"values": [0.0, 1.0, -1.0]} if kind == "arrays" else {})
    path = write_html(
        tmp_path / "report.html", render_report(report, dict.fromkeys(report.samples.ids, view))
    )
    with browser.new_context() as context:
        tab = context.new_page()
        tab.goto(path.as_uri())
        if kind == "arrays":
            expect(tab.locator("#highest .tile .curve")).to_have_count(6)
            return
        heads = tab.locator("#highest thead th").all_inner_texts()
        assert heads == ["sample", "loss", "column"]
        assert tab.locator("#highest tbody tr").first.locator("th, td").all_inner_texts() == [
            "folder/0007.png",
            "7.00",
            "1.50",
        ]
        tab.locator("#highest tbody button").first.click()
        expect(tab.locator("#closer-sample")).to_contain_text("column")


def test_it_fits_on_paper(browser, path):
    with browser.new_context(viewport={"width": 720, "height": 1000}) as context:
        tab = context.new_page()
        tab.goto(path.as_uri())
        tab.emulate_media(media="print")
        expect(tab.locator("#explorer")).to_be_hidden()
        expect(tab.locator("#highest")).to_be_visible()
        assert tab.evaluate("document.documentElement.scrollWidth <= innerWidth")
        assert Image.open(BytesIO(tab.screenshot())).size[0] == 720
