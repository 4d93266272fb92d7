"""The review page with 10,000 samples: how soon it is there, and how soon a decision is on the disk."""

import sqlite3
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

from _harness import Benchmark, Outcome, Settings, at_least, at_most, print_table
from _page import CHROMIUM, Page, chromium, colored_items, served

if TYPE_CHECKING:
    from playwright.sync_api import Browser
    from playwright.sync_api import Page as Tab

VISITS = 5
PAINTED = "seconds to the first paint, slowest visit"
SEEN = "seconds until the first sample is on screen, slowest visit"
ON_DISK = "milliseconds from the key to the decision on disk, median"
ROWS = "decisions on disk, share"
GOAL = {PAINTED: at_most(2), SEEN: at_most(2), ON_DISK: at_most(50), ROWS: at_least(1)}

# Times of the page's own clock: when a key came, and when the server had answered, which it does once the
# row is committed and synced.
LISTEN = """() => {
  window.keys = [];
  document.addEventListener("keydown", (event) => window.keys.push(event.timeStamp), true);
  performance.setResourceTimingBufferSize(100000);
}"""
ANSWERS = """() => performance.getEntriesByType("resource")
  .filter((entry) => entry.name.endsWith("/api/decide")).map((entry) => entry.responseEnd)"""
LOADED = """(picture) => picture.complete ||
  new Promise((resolve) => picture.addEventListener("load", () => resolve(true), { once: true }))"""
# Waits until a number of decisions is saved, and the next sample is there.
SETTLED = """(count) => new Promise((resolve) => {
  const look = () => {
    const isSaved = document.getElementById("saving").textContent.startsWith(`${count} decision`);
    const isReady = !document.querySelector(".badge.waiting") && document.querySelector("#strip .now");
    if (isSaved && isReady) resolve();
    else setTimeout(look, 5);
  };
  look();
})"""
# Scrolls through everything in two seconds, and notes the time between frames.
SCROLL = """() => new Promise((resolve) => {
  const view = document.querySelector(".gallery-view"), frames = [];
  let start = null, last = null;
  const step = (now) => {
    start ??= now;
    if (last !== null) frames.push(now - last);
    last = now;
    view.scrollTop = (view.scrollHeight * (now - start)) / 2000;
    if (now - start < 2000) requestAnimationFrame(step);
    else resolve(frames);
  };
  requestAnimationFrame(step);
})"""


def measure(settings: Settings) -> Outcome:
    """Visit the page, decide by keys, and scroll the grid."""
    n, decisions = (60, 3) if settings.smoke else (10_000, 200)
    if settings.smoke and not CHROMIUM.exists():
        print(f"there is no Chromium at {CHROMIUM}: nothing was run")
        return Outcome(dict.fromkeys(GOAL, float("nan")))
    with tempfile.TemporaryDirectory() as folder, chromium() as browser:
        version = browser.version
        path = Path(folder) / "review.sqlite"
        with served(colored_items(n, seed=settings.seed), path) as page:
            visits = [visit(browser, page) for _ in range(1 if settings.smoke else VISITS)]
            tab = open_tab(browser, page)
            waits = decide(tab, decisions)
            frames = scroll(tab)
        with sqlite3.connect(path) as log:
            (rows,) = log.execute("SELECT count(*) FROM decisions").fetchone()
        log.close()
    worst = sorted(waits)[int(0.95 * (len(waits) - 1))]
    print_table("decisions", ("", "milliseconds"), [("median", median(waits)), ("95%", worst)])
    return Outcome(
        {
            PAINTED: max(painted for painted, _ in visits),
            SEEN: max(seen for _, seen in visits),
            ON_DISK: median(waits),
            ROWS: rows / decisions,
            "milliseconds from the key to the decision on disk, 95th percentile": worst,
            "decisions": decisions,
            "samples": n,
            "visits": [dict(zip(("first paint", "first sample"), each, strict=True)) for each in visits],
            "scrolling all samples in 2 seconds": frames,
            "chromium": version,
        }
    )


def open_tab(browser: "Browser", page: Page) -> "Tab":
    """Open the page as one who was never there, and wait for its first sample."""
    tab = browser.new_context(viewport={"width": 1280, "height": 800}).new_page()
    tab.goto(page.address)
    tab.locator("#large img").evaluate(LOADED)
    return tab


def visit(browser: "Browser", page: Page) -> tuple[float, float]:
    """Seconds from the start of the visit to the first paint, and to the first sample on screen."""
    tab = open_tab(browser, page)
    seen = tab.evaluate("performance.now()")
    painted = tab.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime")
    tab.context.close()
    return painted / 1000, seen / 1000


def decide(tab: "Tab", decisions: int) -> list[float]:
    """Milliseconds from each key to the answer that its decision is on the disk."""
    tab.evaluate(LISTEN)
    for k in range(decisions):
        tab.keyboard.press("kkd"[k % 3])
        tab.evaluate(SETTLED, k + 1)
    keys, answers = tab.evaluate("window.keys"), tab.evaluate(ANSWERS)
    return [answer - key for key, answer in zip(keys, answers, strict=True)]


def scroll(tab: "Tab") -> Mapping[str, Any]:
    """The frames while the grid goes by."""
    tab.keyboard.press("g")
    tab.locator(".gallery-tile img").first.evaluate(LOADED)
    frames = tab.evaluate(SCROLL)
    return {
        "frames a second": 1000 * len(frames) / sum(frames),
        "longest frame, milliseconds": max(frames),
        "elements": tab.evaluate("document.querySelectorAll('.gallery-tile').length"),
    }


BENCHMARK = Benchmark(
    name="review_page",
    claim="The review page of 10,000 samples is there within 2 s, and a decision on disk within 50 ms.",
    goal=GOAL,
    measure=measure,
)

if __name__ == "__main__":
    sys.exit(BENCHMARK.main())
