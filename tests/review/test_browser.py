"""The review page in a real browser, from the first sample to the manifest."""

import csv
import re
from contextlib import contextmanager
from dataclasses import replace

import pytest

pytest.importorskip("playwright", reason="playwright is not installed")
pytest.importorskip("uvicorn", reason="the extra `review` is not installed")

from playwright.sync_api import expect
from review_toys import SCRIPT

from _page import CHROMIUM, chromium, colored_items, served
from proponent.review._apply import write_manifest
from proponent.review._decisions import standing

pytestmark = pytest.mark.skipif(not CHROMIUM.exists(), reason=f"there is no Chromium at {CHROMIUM}")

NARROW = {"width": 360, "height": 640}
SAVED = re.compile(r"decisions? saved")


@pytest.fixture(scope="module")
def browser():
    with chromium() as started:
        yield started


@pytest.fixture
def context(browser):
    with browser.new_context(viewport={"width": 1280, "height": 800}) as context:
        yield context


@contextmanager
def opened(context, page, heard=()):
    """A tab with the page; anything it complains of fails the test, but what was to be `heard`."""
    tab, complaints = context.new_page(), []
    tab.on("pageerror", lambda error: complaints.append(str(error)))
    tab.on("console", lambda message: message.type == "error" and complaints.append(message.text))
    tab.goto(page.address)
    expect(tab.locator("#saving")).to_have_text(SAVED)
    yield tab
    tab.close()
    assert [text for text in complaints if not any(part in text for part in heard)] == []


@pytest.fixture
def page(tmp_path):
    with served(colored_items(40), tmp_path / "review.sqlite") as page:
        yield page


@pytest.fixture
def tab(context, page):
    with opened(context, page) as tab:
        on_screen(tab)
        yield tab


def on_screen(tab):
    """The sample that is shown, once there is one."""
    current = tab.locator("#strip li.now button")
    expect(current).to_be_visible()
    return current.get_attribute("aria-label").removeprefix("on screen: ").split(", ")[0]


def coming(tab):
    labels = [tile.get_attribute("aria-label") for tile in tab.locator("#strip li.next button").all()]
    return [label.removeprefix("next: ") for label in labels]


def press(tab, *keys):
    """Press keys one after the other; gives the sample that each met."""
    met = []
    for key in keys:
        met.append(on_screen(tab))
        tab.keyboard.press(key)
    return met


def all_saved(tab, count):
    expect(tab.locator("#saving")).to_have_text(f"{count} decision{'' if count == 1 else 's'} saved")
    expect(tab.locator(".badge.waiting")).to_have_count(0)


def verdicts(page):
    return page.decisions.current()


def test_the_whole_path(tab, page, tmp_path):
    discarded, kept, unsure, taken_back = press(tab, "d", "k", "u", "d")
    all_saved(tab, 4)
    assert verdicts(page) == {discarded: "discard", kept: "keep", unsure: "unsure", taken_back: "discard"}
    tab.keyboard.press("z")
    all_saved(tab, 3)
    assert on_screen(tab) == taken_back
    assert verdicts(page) == {discarded: "discard", kept: "keep", unsure: "unsure"}
    tab.reload()
    all_saved(tab, 3)
    assert on_screen(tab) == taken_back
    (again,) = press(tab, "d")
    all_saved(tab, 4)
    tab.get_by_role("button", name="Export").click()
    with tab.expect_download() as download:
        tab.get_by_role("menuitem", name="CSV").click()
    download.value.save_as(tmp_path / "export.csv")
    with (tmp_path / "export.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert {row["id"] for row in rows if row["verdict"] == "discard"} == {discarded, again}
    stands = standing(page.decisions.log())
    counts = write_manifest(tmp_path / "clean.csv", colored_items(40).ids, stands)
    assert counts == {"keep": 1, "discard": 2, "unsure": 1, "left": 36}


def test_decisions_keep_the_arm_that_brought_them(tab, page):
    press(tab, *"k" * 30)
    all_saved(tab, 30)
    arms = [row.arm for row in page.decisions.log()]
    assert {"queue", "control"} == set(arms)
    assert "control" not in tab.content()


def test_a_decision_taken_back_after_a_reload_keeps_its_arm(tab, page):
    press(tab, *"kkk")
    all_saved(tab, 3)
    before = page.decisions.log()[-1]
    tab.reload()
    press(tab, "z")
    all_saved(tab, 2)
    press(tab, "d")
    all_saved(tab, 3)
    after = page.decisions.log()[-1]
    assert (after.id, after.arm, after.ranking) == (before.id, before.arm, before.ranking)


def test_a_key_held_down_decides_once(tab, page):
    on_screen(tab)
    tab.keyboard.down("d")
    tab.keyboard.down("d")
    tab.keyboard.up("d")
    all_saved(tab, 1)
    assert len(page.decisions.log()) == 1


def test_passing_over_and_coming_back(tab, page):
    (passed, _, _) = press(tab, "ArrowRight", "k", "ArrowLeft")
    tab.keyboard.press("ArrowLeft")
    assert on_screen(tab) == passed
    expect(tab.locator("#stand")).to_be_empty()
    press(tab, *"d" * 39)
    all_saved(tab, 40)
    expect(tab.locator("#large")).to_contain_text("Nothing is left in the queue.")
    assert len(verdicts(page)) == 40


def test_what_is_on_screen_stays_when_the_ranking_changes(tab):
    shown = [on_screen(tab), *coming(tab)]
    tab.keyboard.press("r")
    tab.get_by_role("menuitemradio", name="gradient norm").click()
    expect(tab.locator("#ranking-name")).to_have_text("gradient norm")
    expect(tab.locator("#said")).to_contain_text("sorted by gradient norm")
    assert [on_screen(tab), *coming(tab)] == shown
    tab.keyboard.press("k")
    turn = tab.locator("#strip .turn:visible")
    expect(turn).to_have_count(1)
    assert on_screen(tab) == shown[1]


def test_learning_is_switched_off_by_a_key(tab, page):
    switch = tab.get_by_role("switch", name="Learning")
    expect(switch).to_be_checked()
    press(tab, "l")
    expect(switch).not_to_be_checked()
    expect(tab.locator("#learnt")).to_contain_text("does not learn")
    press(tab, *"k" * 9)  # those that stood ready came from a queue that learns
    all_saved(tab, 9)
    assert [row.learning for row in page.decisions.log()][::8] == [True, False]


def test_link_past_the_head_stays_in_the_view(tab):
    press(tab, "g")
    tab.get_by_role("link", name="To the samples").focus()
    tab.keyboard.press("Enter")
    expect(tab.locator("#view")).to_be_focused()
    expect(tab.locator("#grid-view")).to_be_visible()


def test_two_tabs_see_each_other(context, page):
    with opened(context, page) as one, opened(context, page) as other:
        (first,) = press(one, "d")
        all_saved(one, 1)
        other.bring_to_front()
        expect(other.locator("#stand")).to_have_text(re.compile("Discarded in another tab"))
        assert on_screen(other) == first
        tab_second = press(other, "ArrowRight", "k")[1]
        all_saved(other, 2)
        assert verdicts(page) == {first: "discard", tab_second: "keep"}
        other.keyboard.press("z")
        all_saved(other, 1)
        other.keyboard.press("z")  # what the other tab decided is not this one's to take back
        expect(other.locator("#said")).to_have_text("There is nothing to take back in this tab.")
        assert verdicts(page) == {first: "discard"}


def test_decisions_wait_for_a_server_that_has_ended(context, tmp_path):
    items, path = colored_items(40), tmp_path / "review.sqlite"
    with served(items, path) as page, opened(context, page, heard=["Failed to load resource"]) as tab:
        (first,) = press(tab, "d")
        all_saved(tab, 1)
        page.stop()
        second, third = press(tab, "k", "u")
        expect(tab.locator("#saving")).to_have_text("2 not saved yet")
        expect(tab.get_by_role("alert")).to_contain_text("The server does not answer.")
        expect(tab.locator(".badge.waiting")).to_have_count(2)
        with served(items, path, port=page.port) as anew:
            tab.get_by_role("button", name="Try now").click()
            expect(tab.get_by_role("alert")).to_contain_text("open the address that it printed")
            with opened(context, anew):
                tab.get_by_role("button", name="Try now").click()
                all_saved(tab, 3)
                assert verdicts(anew) == {first: "discard", second: "keep", third: "unsure"}


def test_what_a_closed_tab_could_not_send_is_sent_by_the_next(context, tmp_path):
    items, path = colored_items(40), tmp_path / "review.sqlite"
    with served(items, path) as page, opened(context, page, heard=["Failed to load resource"]) as tab:
        on_screen(tab)
        page.stop()
        (decided,) = press(tab, "d")
        expect(tab.locator("#saving")).to_have_text("1 not saved yet")
    with served(items, path, port=page.port) as anew, opened(context, anew) as tab:
        assert on_screen(tab) != decided
        all_saved(tab, 1)
        assert verdicts(anew) == {decided: "discard"}


def test_grid_of_many(context, tmp_path):
    with served(colored_items(3000), tmp_path / "review.sqlite") as page, opened(context, page) as tab:
        tab.keyboard.press("g")
        tiles = tab.get_by_role("option")
        expect(tiles.first).to_have_attribute("aria-setsize", "3000")
        expect(tab.get_by_role("option", selected=True)).to_have_attribute("aria-posinset", "1")
        assert tiles.count() < 400
        tab.keyboard.press("End")
        last = tab.get_by_role("option", selected=True)
        expect(last).to_have_attribute("aria-posinset", "3000")
        expect(last.locator("img")).to_be_visible()
        assert tiles.count() < 400
        tab.keyboard.press("d")
        expect(last).to_have_attribute("aria-label", re.compile("discard$"))
        (row,) = page.decisions.log()
        assert (row.arm, row.verdict, row.position) == ("browse", "discard", 2999)
        tab.get_by_role("radio", name="Discarded").check()
        expect(tiles).to_have_count(1)
        tab.keyboard.press("g")
        assert on_screen(tab) != row.id


def test_names_are_never_markup(context, tmp_path):
    items = colored_items(9, title=SCRIPT)
    items = replace(items, captions=[f"{SCRIPT}<img src=x onerror=alert({i})>" for i in range(9)])
    with served(items, tmp_path / "review.sqlite") as page, opened(context, page) as tab:
        tab.on("dialog", lambda dialog: pytest.fail(dialog.message))
        expect(tab.locator("#title")).to_have_text(SCRIPT)
        expect(tab.locator("#name")).to_contain_text("onerror=alert(")
        tab.keyboard.press("k")
        tab.keyboard.press("g")
        expect(tab.get_by_role("option")).to_have_count(9)
        assert tab.locator("img[src=x], main script").count() == 0


def test_rows_are_tables(context, tmp_path):
    with served(colored_items(9, "rows"), tmp_path / "review.sqlite") as page, opened(context, page) as tab:
        expect(tab.locator("#large").get_by_role("row")).to_have_count(8)
        expect(tab.locator("#large img")).to_have_count(0)
        press(tab, "Enter")
        expect(tab.locator("#zoom").get_by_role("row")).to_have_count(8)


def test_zoom_decides_and_goes_on(tab, page):
    first = on_screen(tab)
    tab.keyboard.press("+")
    zoom = tab.get_by_role("dialog", name="Enlarged sample")
    expect(zoom).to_contain_text(first.rsplit("/", 1)[1])
    tab.keyboard.press("d")
    expect(zoom).to_contain_text(on_screen(tab).rsplit("/", 1)[1])
    tab.keyboard.press("Escape")
    expect(zoom).to_be_hidden()
    all_saved(tab, 1)
    assert verdicts(page) == {first: "discard"}


def test_summary_holds_the_queue_against_chance(tab):
    press(tab, *"dk" * 15)
    all_saved(tab, 30)
    tab.get_by_role("link", name="Summary").click()
    expect(tab.get_by_role("heading", name="What the ranking was worth")).to_be_visible()
    expect(tab.get_by_role("row", name=re.compile("brought by chance"))).to_be_visible()


def test_keys_of_one_letter_can_be_switched_off(tab, page):
    tab.keyboard.press("?")
    tab.get_by_label("Keys of one letter are on").uncheck()
    tab.keyboard.press("Escape")
    press(tab, "d")
    tab.get_by_role("button", name="Keep").click()
    all_saved(tab, 1)
    assert set(verdicts(page).values()) == {"keep"}


@pytest.mark.parametrize("view", ["queue", "grid", "summary"])
def test_fits_a_narrow_window(tab, view):
    tab.set_viewport_size(NARROW)
    press(tab, "d")
    tab.goto(tab.url.split("#")[0] + f"#{view}")
    expect(tab.locator(f"#{view}-view")).to_be_visible()
    assert tab.evaluate("document.documentElement.scrollWidth") <= NARROW["width"]
    if view != "summary":
        button = tab.locator(f"#{view}-view").get_by_role("button", name=re.compile("^Discard"))
        expect(button).to_be_in_viewport(ratio=1)
