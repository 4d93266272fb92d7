"""The gallery and the scatter work in one file opened from disk, as the offline report has them."""

import json
import re
from pathlib import Path

import pytest

import proponent.review

pytest.importorskip("playwright", reason="playwright is not installed")
pytest.importorskip("uvicorn", reason="the extra `review` is not installed")

from playwright.sync_api import expect

from _page import CHROMIUM, chromium
from proponent.report._bundle import bundled

STATIC = Path(proponent.review.__file__).parent / "static"
MOUNT = """
import { mountGallery } from "./gallery.js";
import { mountScatter } from "./scatter.js";
const items = JSON.parse(document.getElementById("items").textContent);
const gallery = mountGallery(document.getElementById("gallery"), items, { size: 64, name: "chosen" });
mountScatter(document.getElementById("scatter"), items, {
  x: { key: "loss", label: "loss", unit: "nats" }, y: { key: "influence", label: "self-influence" },
  onBrush: (chosen) => gallery.update(chosen ?? items),
});
"""


def test_page_asks_for_nothing_remote_and_has_nothing_inline():
    page = (STATIC / "index.html").read_text()
    assert not re.findall(r"<style|style=|\son\w+=|javascript:", page)
    assert re.findall(r"<script[^>]*>(.*?)</script>", page, re.DOTALL) == [""]
    for file in STATIC.iterdir():
        assert set(re.findall(r"https?://[\w./]+", file.read_text())) <= {"http://www.w3.org/2000/svg"}


@pytest.mark.skipif(not CHROMIUM.exists(), reason=f"there is no Chromium at {CHROMIUM}")
def test_brush_filters_the_gallery_in_a_file(tmp_path):
    items = [{"id": f"s{i}", "caption": f"s{i}", "loss": i, "influence": i**3} for i in range(9)]
    items += [{"id": "none", "caption": "none", "loss": 3.0, "details": {"column": 2}, "values": [0, 1]}]
    modules = {path.name: path.read_text() for path in STATIC.glob("*.js")}
    code = bundled(modules | {"report.js": MOUNT}, "report.js")
    style = (STATIC / "tokens.css").read_text() + (STATIC / "components.css").read_text()
    policy = "default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'unsafe-inline'"
    (tmp_path / "report.html").write_text(
        f'<!doctype html><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="{policy}">'
        f"<style>{style} #gallery, .gallery-view {{ height: 20rem }}</style>"
        '<div id="scatter"></div><div id="gallery"></div>'
        f'<script type="application/json" id="items">{json.dumps(items)}</script>'
        f'<script type="module">{code}</script>'
    )
    with chromium() as browser:
        tab, complaints = browser.new_page(), []
        tab.on("pageerror", lambda error: complaints.append(str(error)))
        tab.on("console", lambda message: complaints.append(message.text))
        tab.goto((tmp_path / "report.html").as_uri())
        tiles, status = tab.get_by_role("option"), tab.get_by_role("status")
        expect(tiles).to_have_count(10)
        expect(status).to_contain_text("9 samples. Drag over the plot to choose some. 1 sample without these")
        tab.get_by_text("Choose by numbers").click()
        tab.get_by_role("group", name="bounds of the axis across").get_by_label("from").fill("6")
        tab.keyboard.press("Enter")
        expect(status).to_contain_text("3 of 9 samples chosen.")
        expect(tiles).to_have_count(3)
        plot = tab.get_by_role("application")
        plot.focus()
        tab.keyboard.press("Escape")
        expect(tiles).to_have_count(10)
        tab.keyboard.press("Enter")  # a brush over the quarter on the right
        expect(tiles).to_have_count(2)
        for _ in range(4):
            tab.keyboard.press("Shift+ArrowLeft")
            tab.keyboard.press("ArrowLeft")
        expect(tiles).not_to_have_count(2)
        box = plot.bounding_box()
        tab.mouse.move(box["x"] + 58, box["y"] + 12)
        tab.mouse.down()
        tab.mouse.move(box["x"] + box["width"] - 12, box["y"] + box["height"] - 44, steps=3)
        tab.mouse.up()
        expect(status).to_contain_text("9 of 9 samples chosen.")
        assert complaints == []
