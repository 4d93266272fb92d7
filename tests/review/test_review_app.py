import asyncio
import io
import json
import statistics
import time
import zipfile
from contextlib import closing

import numpy as np
import pandas as pd
import pytest
from review_toys import SCRIPT, make_items
from starlette.testclient import TestClient

from proponent.review import Decisions
from proponent.review._app import create_app
from proponent.review._review import Review
from proponent.review._security import Access

HOST = "127.0.0.1:8000"
ORIGIN = {"origin": f"http://{HOST}"}


@pytest.fixture
def decisions(tmp_path):
    with closing(Decisions(tmp_path / "review.sqlite")) as opened:
        yield opened


def open_page(items, decisions, **more):
    """A page that entered by its token."""
    access = Access()
    client = TestClient(create_app(Review(items, decisions), access), base_url=f"http://{HOST}", **more)
    assert client.get("/", params={"token": access.token}).status_code == 200
    return client


@pytest.fixture
def page(decisions):
    return open_page(make_items(), decisions)


def decide(page, i, verdict="keep", **more):
    return page.post("/api/decide", json={"i": i, "verdict": verdict} | more, headers=ORIGIN)


def undo(page, **more):
    return page.post("/api/undo", json=more, headers=ORIGIN)


def test_the_page_and_its_files_come_from_the_package(page):
    answer = page.get("/")
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    for address, kind in (("/static/app.js", "text/javascript"), ("/static/tokens.css", "text/css")):
        answer = page.get(address)
        assert answer.status_code == 200
        assert answer.headers["content-type"].startswith(kind)


def test_the_page_asks_nobody_else(page):
    for address in ("/", "/static/app.js"):
        assert "https://" not in page.get(address).text


def test_state(page):
    state = page.get("/api/state").json()
    assert state["title"] == "toys"
    assert (state["kind"], state["n"], state["default"], state["ranking"]) == (
        "images",
        6,
        "rising",
        "rising",
    )
    assert state["rankings"] == ["rising", "falling"]
    assert state["counts"] == {"keep": 0, "discard": 0, "unsure": 0, "left": 6}
    assert (state["seq"], state["others"]) == (0, [])
    assert len(state["run"]) == 16


def test_the_queue_serves_what_is_not_shown_yet(page):
    first = page.get("/api/queue", params={"count": 2, "ranking": "falling"}).json()["items"]
    assert len(first) == 2
    shown = ",".join(str(item["i"]) for item in first)
    rest = page.get("/api/queue", params={"count": 10, "ranking": "falling", "shown": shown}).json()["items"]
    assert sorted(item["i"] for item in first + rest) == list(range(6))
    assert [item["position"] for item in first + rest] == list(range(6))
    item = first[0]
    assert item["id"] == item["caption"] == f"photos/{item['i']:03d}.png"
    assert item["details"] == {"size": float(item["i"]), "name": item["id"]}
    assert item["scores"] == {"rising": item["i"], "falling": -item["i"]}
    assert item["verdict"] is None


def test_what_was_decided_is_not_served_again(page):
    item = page.get("/api/queue").json()["items"][0]
    answer = decide(page, item["i"], "discard", ranking="rising", position=0, token=item["token"]).json()
    assert answer["counts"] == {"keep": 0, "discard": 1, "unsure": 0, "left": 5}
    assert answer["seq"] == 1
    items = page.get("/api/queue", params={"count": 10}).json()["items"]
    assert item["i"] not in [each["i"] for each in items]
    assert items[0]["position"] == 1


def test_pictures(page):
    item = page.get("/api/sample/3").json()
    for address in (item["thumb"], item["full"]):
        answer = page.get(address)
        assert answer.content.startswith(b"\x89PNG")
        assert answer.headers["content-type"] == "image/png"
        assert answer.headers["cache-control"] == "private, max-age=31536000, immutable"
        assert "sandbox" in answer.headers["content-security-policy"]


def test_pictures_of_other_data_have_other_addresses(page, tmp_path):
    with closing(Decisions(tmp_path / "other.sqlite")) as other:
        elsewhere = open_page(make_items(7), other)
        assert elsewhere.get("/api/sample/3").json()["thumb"] != page.get("/api/sample/3").json()["thumb"]
        assert elsewhere.get("/api/state").json()["run"] != page.get("/api/state").json()["run"]


def test_rows_have_no_picture_but_their_columns(decisions):
    item = open_page(make_items(kind="rows"), decisions).get("/api/sample/1").json()
    assert "thumb" not in item
    assert item["details"]["size"] == 1.0


def test_a_picture_that_is_gone_is_said_to_be(decisions):
    def gone(i):
        raise FileNotFoundError(f"photo {i} is gone")

    answer = open_page(make_items(full=gone), decisions).get("/full/2")
    assert (answer.status_code, answer.json()) == (404, {"error": "photo 2 is gone"})


def test_a_picture_of_a_type_that_a_browser_runs_is_not_sent(decisions):
    page = open_page(
        make_items(full=lambda i: (b"<script>", "text/html")), decisions, raise_server_exceptions=False
    )
    answer = page.get("/full/0")
    assert answer.status_code == 500
    assert "script" not in answer.text
    assert answer.headers["x-content-type-options"] == "nosniff"
    page = open_page(make_items(full=lambda i: (b"<script>", "text/html")), decisions)
    with pytest.raises(ValueError, match=r"A picture must be one of image/png.*got 'text/html'"):
        page.get("/full/0")


def test_the_grid_is_in_the_order_of_its_ranking(page):
    grid = page.get("/api/grid", params={"ranking": "rising", "offset": 1, "count": 2}).json()
    assert [item["i"] for item in grid["items"]] == [4, 3]
    assert grid["n"] == 6
    assert page.get("/api/grid", params={"offset": 60}).json() == {"items": [], "n": 6}
    assert "details" not in grid["items"][0]


def test_the_grid_of_rows_has_their_columns(decisions):
    grid = open_page(make_items(kind="rows"), decisions).get("/api/grid").json()
    assert grid["items"][0]["details"]["size"] == 5.0


def test_the_grid_can_be_of_one_verdict(page):
    decide(page, 2, "discard")
    decide(page, 4, "keep")
    for verdict, found in (("discard", [2]), ("keep", [4]), ("unsure", []), ("left", [5, 3, 1, 0])):
        grid = page.get("/api/grid", params={"verdict": verdict}).json()
        assert ([item["i"] for item in grid["items"]], grid["n"]) == (found, len(found))
    assert page.get("/api/grid", params={"verdict": "all"}).json()["n"] == 6


def test_parts_of_a_grid_fit_together_while_decisions_are_made(page):
    seq = decide(page, 2, "discard").json()["seq"]
    first = page.get("/api/grid", params={"verdict": "left", "seq": seq, "count": 2}).json()
    decide(page, first["items"][0]["i"], "keep")
    undo(page, session="none")
    rest = page.get("/api/grid", params={"verdict": "left", "seq": seq, "offset": 2}).json()
    assert [item["i"] for item in first["items"] + rest["items"]] == [5, 4, 3, 1, 0]
    again = page.get("/api/grid", params={"verdict": "left", "seq": seq}).json()
    assert again["items"][0]["verdict"] == "keep"
    assert page.get("/api/grid", params={"verdict": "left"}).json()["n"] == 4
    assert page.get("/api/grid", params={"verdict": "left", "seq": "x"}).status_code == 400


def test_a_sample_says_what_was_decided(page):
    decide(page, 2, "unsure")
    assert page.get("/api/sample/2").json()["verdict"] == "unsure"


def test_a_reload_goes_on_where_the_review_was(decisions, tmp_path):
    first = open_page(make_items(), decisions)
    item = first.get("/api/queue", params={"ranking": "falling"}).json()["items"][0]
    decide(first, item["i"], "discard", ranking="falling", position=0, token=item["token"])
    with closing(Decisions(tmp_path / "review.sqlite")) as reopened:
        second = open_page(make_items(), reopened)
        state = second.get("/api/state").json()
        assert state["counts"]["discard"] == 1
        assert state["ranking"] == "falling"
        assert second.get(f"/api/sample/{item['i']}").json()["verdict"] == "discard"
        assert state["run"] == first.get("/api/state").json()["run"]
        assert undo(second).json()["undone"]["i"] == item["i"]


def test_decisions_survive_another_order_of_the_data(decisions):
    decide(open_page(make_items(ids=["a", "b", "c"], n=3), decisions), 0, "discard")
    page = open_page(make_items(ids=["c", "d", "a"], n=3), decisions)
    assert page.get("/api/sample/2").json()["verdict"] == "discard"
    assert page.get("/api/state").json()["counts"] == {"keep": 0, "discard": 1, "unsure": 0, "left": 2}


def test_what_was_decided_on_samples_that_are_gone_is_left_out(decisions):
    decide(open_page(make_items(ids=["a", "b", "c"], n=3), decisions), 1, "discard")
    page = open_page(make_items(ids=["a", "c"], n=2), decisions)
    assert page.get("/api/state").json()["counts"]["left"] == 2
    assert page.get("/api/state", params={"seen_seq": 0}).json()["others"] == []
    assert page.get("/api/summary").json()["counts"]["discard"] == 0
    assert undo(page).json()["undone"] is None


def test_the_arm_is_in_the_log_and_not_on_the_page(decisions):
    page = open_page(make_items(60), decisions)
    items = page.get("/api/queue", params={"count": 60}).json()["items"]
    assert "control" not in json.dumps(items)
    assert len({item["token"] for item in items}) == 60
    for item in items:
        decide(page, item["i"], position=item["position"], ranking="rising", token=item["token"])
    arms = [row.arm for row in decisions.log()]
    assert 0 < arms.count("control") < 20
    assert arms.count("queue") == 60 - arms.count("control")
    assert [row.position for row in decisions.log()] == list(range(60))


@pytest.mark.parametrize(
    "change",
    [{"token": "x"}, {"token": None}, {"ranking": "falling"}, {"ranking": None}, {"i": 0}],
)
def test_what_no_queue_served_counts_as_gone_to(page, decisions, change):
    item = page.get("/api/queue").json()["items"][0]
    body = {"ranking": "rising", "token": item["token"], "i": item["i"]}
    assert item["i"] != 0
    decide(page, **body | change)
    assert [row.arm for row in decisions.log()] == ["browse"]


def test_undo_says_what_it_took_back_and_what_stands(page):
    decide(page, 2, "keep", session="tab")
    decide(page, 2, "discard", session="tab")
    undone = undo(page, session="tab").json()
    assert undone["undone"]["i"] == undone["undone"]["item"]["i"] == 2
    assert (undone["undone"]["verdict"], undone["undone"]["now"]) == ("discard", "keep")
    assert undone["counts"]["keep"] == 1
    assert undo(page, session="tab").json()["undone"]["now"] is None
    assert undo(page, session="tab").json()["undone"] is None


def test_what_is_undone_and_decided_anew_keeps_its_arm(decisions):
    page = open_page(make_items(60), decisions)
    for item in page.get("/api/queue", params={"count": 60}).json()["items"]:
        decide(page, item["i"], position=item["position"], ranking="rising", token=item["token"])
        undone = undo(page).json()["undone"]
        again = undone["item"]
        assert (again["i"], again["position"], undone["ranking"]) == (item["i"], item["position"], "rising")
        decide(page, again["i"], position=again["position"], ranking=undone["ranking"], token=again["token"])
    arms = [(row.id, row.arm) for row in decisions.log()]
    assert {arm for _, arm in arms} == {"queue", "control"}
    assert len(set(arms)) == 60


def test_what_was_gone_to_and_undone_has_no_arm(page):
    decide(page, 1)
    undone = undo(page).json()["undone"]
    assert undone["ranking"] is None
    assert "token" not in undone["item"]


def test_a_page_of_other_samples_is_told_so(page, decisions):
    answer = decide(page, 1, id="photos/002.png")
    assert (answer.status_code, answer.json()["error"][:30]) == (409, "The page is of other samples. ")
    assert decisions.log() == []
    assert decide(page, 1, id="photos/001.png").status_code == 200


def test_the_queue_learns_and_can_be_told_not_to(decisions):
    features = np.eye(2)[np.arange(200) % 2]
    page = open_page(make_items(200, features={"latents": features}), decisions)
    for i in range(40):
        decide(page, i, "discard" if i % 2 else "keep")
    for learn, odd in ((1, True), (0, False)):
        items = page.get("/api/queue", params={"count": 20, "learn": learn}).json()["items"]
        assert (sum(item["i"] % 2 for item in items) > 15) is odd
    item = page.get("/api/queue", params={"learn": 1}).json()["items"][0]
    decide(page, item["i"], ranking="rising", position=item["position"], token=item["token"])
    assert decisions.log()[-1].learning
    state = page.get("/api/state").json()
    assert (state["learning"], state["can_learn"]) == (True, True)
    assert state["estimate"]["learnt_from"] == 40
    assert state["estimate"]["level"] == 0.9
    assert not page.get("/api/state", params={"learn": "0"}).json()["learning"]


def test_a_request_asked_twice_is_done_once(page, decisions):
    for _ in range(2):
        assert decide(page, 1, "discard", request="r1").json()["seq"] == 1
    decide(page, 2)
    for _ in range(2):
        assert undo(page, request="r2").json()["undone"]["i"] == 2
    assert decisions.current() == {"photos/001.png": "discard"}


def test_two_tabs_hear_of_each_other(page):
    decide(page, 1, "keep", session="left")
    answer = decide(page, 2, "discard", session="right", seen_seq=0).json()
    assert answer["others"] == [{"i": 1, "verdict": "keep", "seq": 1}]
    state = page.get("/api/state", params={"seen_seq": 1, "session": "left"}).json()
    assert state["others"] == [{"i": 2, "verdict": "discard", "seq": 2}]
    assert undo(page, session="right", seen_seq=2).json()["others"] == []
    state = page.get("/api/state", params={"seen_seq": 2, "session": "left"}).json()
    assert state["others"] == [{"i": 2, "verdict": None, "seq": 3}]


def test_two_servers_on_one_run_hear_of_each_other(decisions, tmp_path):
    with closing(Decisions(tmp_path / "review.sqlite")) as other:
        left, right = open_page(make_items(), decisions), open_page(make_items(), other)
        decide(left, 0, "discard", session="left")
        decide(right, 1, "discard", session="right")
        for page in (left, right):
            assert page.get("/api/state").json()["counts"]["discard"] == 2


def test_the_summary_holds_arms_and_time(page):
    decide(page, 1, "discard")
    decide(page, 2, "keep")
    summary = page.get("/api/summary").json()
    assert summary["counts"] == {"keep": 1, "discard": 1, "unsure": 0}
    assert summary["arms"]["browse"]["looked_at"] == 2
    assert summary["arms"]["browse"]["share"] == 0.5
    assert summary["seconds"]["total"] >= 0
    assert summary["estimate"]["found"] == 1


def test_a_decision_is_answered_well_under_50_ms(decisions):
    page = open_page(make_items(2_000), decisions)
    took = []
    for i in range(50):
        began = time.perf_counter()
        decide(page, i)
        took.append(time.perf_counter() - began)
    assert statistics.median(took) < 0.05


def test_exports(page):
    decide(page, 2, "discard")
    answer = page.get("/export/parquet")
    assert answer.headers["content-disposition"] == 'attachment; filename="toys-review.parquet"'
    frame = pd.read_parquet(io.BytesIO(answer.content))
    assert frame.loc[frame["is_review_issue"], "id"].tolist() == ["photos/002.png"]
    frame = pd.read_csv(io.BytesIO(page.get("/export/csv").content))
    assert frame["keep"].tolist() == [True, True, False, True, True, True]
    assert len(page.get("/export/labelstudio").json()) == 6
    archive = zipfile.ZipFile(io.BytesIO(page.get("/export/folder").content))
    assert len(archive.namelist()) == 6


def test_no_export_stays_on_the_disk(page, tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    before = set(tmp_path.iterdir())
    for name in ("parquet", "csv", "labelstudio", "folder"):
        assert page.get(f"/export/{name}").status_code == 200
    assert set(tmp_path.iterdir()) == before


def test_rows_make_no_image_folder(decisions, tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    before = set(tmp_path.iterdir())
    answer = open_page(make_items(kind="rows"), decisions).get("/export/folder")
    assert answer.status_code == 400
    assert "must be made of images, but these samples are rows" in answer.json()["error"]
    assert set(tmp_path.iterdir()) == before


@pytest.mark.parametrize("kind", ["images", "rows"])
def test_scripts_in_names_are_text(decisions, kind):
    hostile = [
        SCRIPT,
        "a\u2028b",
        "'); DROP TABLE decisions; --",
        "=cmd|' /C calc'!A0",
        "../../etc/passwd",
        "\x00",
    ]
    items = make_items(ids=hostile, kind=kind, title=f"x\r\nSet-Cookie: a=b{SCRIPT}")
    page = open_page(items, decisions)
    for i in range(6):
        assert decide(page, i, "discard", note=SCRIPT).status_code == 200
        answer = page.get(f"/api/sample/{i}")
        assert answer.headers["content-type"] == "application/json"
        assert answer.json()["id"] == hostile[i]
    assert decisions.current() == dict.fromkeys(hostile, "discard")
    assert "alert(" not in page.get("/").text
    for name in ("parquet", "csv", "labelstudio"):
        disposition = page.get(f"/export/{name}").headers["content-disposition"]
        assert disposition.startswith(
            'attachment; filename="x-Set-Cookie-a-b-script-alert-1-script-png-review.'
        )
    # A spreadsheet would run a formula, so ids are for programs: they come back as they were.
    frame = pd.read_parquet(io.BytesIO(page.get("/export/parquet").content))
    assert frame["id"].tolist() == hostile


def test_names_that_utf8_can_not_write_are_answered_for(decisions):
    page = open_page(make_items(captions=["\udc80"] * 6), decisions)
    assert page.get("/api/sample/0").json()["caption"] == "\udc80"


def test_numbers_that_are_none_are_text(decisions):
    details = {"a": float("nan"), "b": float("inf"), "c": np.float32(-np.inf), "d": np.int64(3)}
    items = make_items(details=lambda i: details, rankings={"rising": np.full(6, np.inf)})
    item = open_page(items, decisions).get("/api/sample/0").json()
    assert item["details"] == {"a": "not a number", "b": "∞", "c": "−∞", "d": 3}
    assert item["scores"] == {"rising": "∞"}


@pytest.mark.parametrize(
    "address",
    [
        "/static/../_app.py",
        "/static/..%2f_app.py",
        "/static/%2e%2e/_app.py",
        "/static//etc/passwd",
        "/static/%2fetc%2fpasswd",
        "/static/..\\_app.py",
        "/static/app.js%00",
        "/static/",
        "/static",
        "/thumb/../../etc/passwd",
        "/thumb/..%2f..%2fetc%2fpasswd",
        "/full/photos/000.png",
        "/review.sqlite",
        "/export/../review.sqlite",
        "/export/sqlite",
    ],
)
def test_no_address_is_a_path(page, address):
    answer = page.get(address)
    assert answer.status_code in (400, 404)
    assert "root:" not in answer.text
    assert "Starlette(" not in answer.text


@pytest.mark.parametrize(
    "i", ["6", "999999999999999", "9" * 5000, "-1", "1.0", "1e0", "١", "0x1", "nan", "%00"]
)
@pytest.mark.parametrize("address", ["/thumb/", "/full/", "/api/sample/"])
def test_samples_out_of_range_are_refused(page, address, i):
    assert page.get(address + i).status_code in (400, 404)


@pytest.mark.parametrize(
    ("body", "status", "message"),
    [
        ({"i": 6, "verdict": "keep"}, 404, "`i` must be from 0 to 5."),
        ({"i": -1, "verdict": "keep"}, 404, "`i` must be from 0 to 5."),
        ({"i": 10**400, "verdict": "keep"}, 404, "`i` must be from 0 to 5."),
        ({"i": "9" * 100, "verdict": "keep"}, 400, "`i` must be a whole number."),
        ({"i": 1.0, "verdict": "keep"}, 400, "`i` must be a whole number."),
        ({"i": True, "verdict": "keep"}, 400, "`i` must be a whole number."),
        ({"i": None, "verdict": "keep"}, 400, "`i` must be a whole number."),
        ({"i": [0], "verdict": "keep"}, 400, "`i` must be a whole number."),
        ({"verdict": "keep"}, 400, "`i` must be a whole number."),
        ({"i": 0}, 400, "`verdict` must be one of keep, discard, unsure."),
        ({"i": 0, "verdict": "undo"}, 400, "`verdict` must be one of keep, discard, unsure."),
        ({"i": 0, "verdict": ["keep"]}, 400, "`verdict` must be one of keep, discard, unsure."),
        ({"i": 0, "verdict": {"keep": 1}}, 400, "`verdict` must be one of keep, discard, unsure."),
        ({"i": 0, "verdict": "keep", "ranking": "best"}, 400, "`ranking` must be one of rising, falling."),
        ({"i": 0, "verdict": "keep", "position": -1}, 400, "`position` must be from 0 to"),
        ({"i": 0, "verdict": "keep", "seen_seq": "x"}, 400, "`seen_seq` must be a whole number."),
        ({"i": 0, "verdict": "keep", "session": "s" * 65}, 400, "`session` must be a text of at most 64"),
        ({"i": 0, "verdict": "keep", "session": 5}, 400, "`session` must be a text of at most 64"),
        ({"i": 0, "verdict": "keep", "request": {}}, 400, "`request` must be a text of at most 64"),
        ({"i": 0, "verdict": "keep", "note": "n" * 1001}, 400, "`note` must be a text of at most 1000"),
        ({"i": 0, "verdict": "keep", "note": "\ud800"}, 400, "`note` must be a text that UTF-8 can write."),
    ],
)
def test_decisions_that_say_nothing_are_refused(page, decisions, body, status, message):
    answer = page.post(
        "/api/decide", content=json.dumps(body), headers=ORIGIN | {"content-type": "application/json"}
    )
    assert answer.status_code == status
    assert message in answer.json()["error"]
    assert decisions.log() == []


@pytest.mark.parametrize(
    ("content", "status", "message"),
    [
        (b"", 400, "must be JSON"),
        (b"{", 400, "must be JSON"),
        (b"\xff\xfe", 400, "must be JSON"),
        (b"[" * 10_000, 400, "must be JSON"),
        (b'{"i": ' + b"9" * 5_000 + b"}", 400, "must be JSON"),
        (b"[]", 400, "must be a JSON object"),
        (b'"keep"', 400, "must be a JSON object"),
        (b"NaN", 400, "must be a JSON object"),
        (b'{"note": "' + b"n" * 20_000 + b'"}', 413, "at most 16384 bytes"),
        (b" " * 1_000_000, 413, "at most 16384 bytes"),
    ],
)
@pytest.mark.parametrize("address", ["/api/decide", "/api/undo"])
def test_bodies_that_are_no_question_are_refused(page, decisions, address, content, status, message):
    answer = page.post(address, content=content, headers=ORIGIN | {"content-type": "application/json"})
    assert answer.status_code == status
    assert message in answer.json()["error"]
    assert decisions.log() == []


def test_an_endless_body_is_cut_off(decisions):
    access, sent, read = Access(), [], 0
    headers = {"host": HOST, "cookie": f"{access.cookie}={access.token}", "content-type": "application/json"}
    scope = {
        "type": "http",
        "method": "POST",
        "scheme": "http",
        "path": "/api/undo",
        "raw_path": b"/api/undo",
        "query_string": b"",
        "headers": [(name.encode(), value.encode()) for name, value in (headers | ORIGIN).items()],
    }

    async def receive():
        nonlocal read
        read += 1
        return {"type": "http.request", "body": b" " * 1000, "more_body": True}

    async def send(message):
        sent.append(message)

    asyncio.run(create_app(Review(make_items(), decisions), access)(scope, receive, send))
    assert sent[0]["status"] == 413
    assert read == 17


@pytest.mark.parametrize(
    "kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ""]
)
def test_forms_are_refused(page, decisions, kind):
    body = json.dumps({"i": 0, "verdict": "discard"})
    answer = page.post("/api/decide", content=body, headers=ORIGIN | {"content-type": kind})
    assert answer.status_code == 415
    assert decisions.log() == []


@pytest.mark.parametrize(
    "query",
    [
        {"count": 0},
        {"count": 501},
        {"count": "many"},
        {"ranking": "best"},
        {"learn": "yes"},
        {"shown": "1,x"},
        {"shown": "6"},
        {"shown": ",".join(["1"] * 2001)},
    ],
)
def test_queues_that_do_not_exist_are_refused(page, query):
    assert page.get("/api/queue", params=query).status_code in (400, 404)


@pytest.mark.parametrize("query", [{"offset": -1}, {"count": 501}, {"ranking": "best"}, {"verdict": "undo"}])
def test_grids_that_do_not_exist_are_refused(page, query):
    assert page.get("/api/grid", params=query).status_code == 400


def test_a_state_of_no_number_is_refused(page):
    assert page.get("/api/state", params={"seen_seq": "x"}).status_code == 400


@pytest.mark.parametrize("address", ["/api/decide", "/api/undo"])
def test_reading_changes_nothing(page, address):
    assert page.get(address).status_code == 405


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH"])
@pytest.mark.parametrize("address", ["/", "/api/state", "/thumb/0", "/export/csv"])
def test_what_is_read_takes_no_changes(page, method, address):
    assert page.request(method, address, headers=ORIGIN).status_code == 405


def test_a_decision_that_can_not_be_written_is_said_not_to_be(decisions):
    page = open_page(make_items(), decisions)
    decide(page, 0)
    decisions._connection.execute("PRAGMA query_only = 1")
    answer = decide(page, 1)
    assert answer.status_code == 507
    assert "It is not kept; decide again when the cause is gone." in answer.json()["error"]
    decisions._connection.execute("PRAGMA query_only = 0")
    assert decide(page, 1).json()["seq"] == 2
