import json
import re

import numpy as np
import pandas as pd
import pytest
from report_toys import SCRIPT, make_photos, make_report, make_run, noise

from proponent.data import open_data
from proponent.report import gather_report, render_report, write_report
from proponent.report._bundle import bundled
from proponent.report._foreign import read_foreign
from proponent.report._offline_page import _as_data
from proponent.report._thumbnails import thumbnails
from proponent.report._views import fitting, views_of
from proponent.runs import open_run, rank, self_influence

N = 25  # pictures of `make_photos` that can be read


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("report")
    photos = make_photos(folder / "photos")
    return make_run(photos, folder / "run", queries=make_photos(folder / "odd", 3))


@pytest.fixture(scope="module")
def foreign(run):
    path = run.path.parent / "foreign.txt"
    path.write_text("22.png\n23.png\n", "utf-8")
    return path


@pytest.fixture(scope="module")
def record(run, foreign):
    page = write_report(run, foreign=foreign, verdicts={"00.png": "discard", "02.png": "keep"}, show=5)
    assert page == run.report
    return json.loads(run.report.with_suffix(".json").read_text("utf-8"))


def test_facts_of_the_run(record):
    facts = record["facts"]
    assert facts["data"]["samples"] == record["sample_count"] == N
    assert facts["data"]["left aside"] == 1
    assert facts["data"]["exact copies"] == 2
    assert facts["data"]["groups of copies"] == 1
    assert facts["training"]["steps"] == 10
    own = facts["self-influence"]
    assert own["coverage"] == 1.0
    assert own["draws"] == 4
    assert own["steps"] == [5, 10]
    assert own["checkpoints"] == own["checkpoints of the run"] == 2
    assert own["standard errors"]
    assert own["median standard error over median score"] > 0
    assert record["left_aside"][0][0] == "broken.png"


def test_limits_are_said(record):
    said = " ".join(record["limits"])
    assert "1 sample could not be read" in said
    assert "2 samples are exact copies of each other, in 1 group." in said
    assert "mean over 4 draws of noise, with a median standard error of" in said
    assert "No models were trained on halves" in said
    assert [command for _, command in record["missing"]] == ["proponent rank RUN"]


def test_rankings_and_their_ends(record, run):
    loss = next(ranking for ranking in record["rankings"] if ranking["name"] == "loss")
    numbers = dict(zip(record["samples"]["ids"], record["samples"]["numbers"]["loss"], strict=True))
    by_loss = sorted(numbers, key=lambda id_: -numbers[id_])
    assert loss["highest"] == by_loss[:5]
    assert loss["lowest"] == by_loss[::-1][:5]
    assert record["correlations"]["loss"]["loss"] == pytest.approx(1)
    assert record["default"] == "loss"
    assert "Self-influence" in record["line"]
    assert record["scatter"] == {"x": "loss", "y": "self-influence"}


def test_queries_foreign_samples_and_decisions(record):
    assert record["query_count"] == 4
    first = record["queries"][0]
    values = [entry["value"] for entry in first["proponents"]]
    assert values == sorted(values, reverse=True)
    assert {entry["foreign"] for row in record["queries"] for entry in row["proponents"]} <= {True, False}
    assert record["detection"]["rows"][0]["name"] == "self-influence"
    assert record["detection"]["rows"][0]["detection"]["foreign_count"] == 2
    assert record["curves"][0]["found"][-1] == 2
    assert record["decisions"] | {"discarded": []} == {
        "keep": 1, "discard": 1, "unsure": 0, "left": N - 2, "discarded": []
    }  # fmt: skip
    assert record["decisions"]["discarded"] == ["00.png"]


def test_the_page_of_a_run_shows_samples_and_queries(record, run):
    data = page_data(run.report.read_text("utf-8"))
    assert all(view["thumb"].startswith("data:image/") for view in data["views"])
    assert all(query["view"]["thumb"].startswith("data:image/") for query in data["queries"])
    assert [data["samples"]["ids"][place] for place, _ in data["queries"][0]["proponents"]] == [
        entry["id"] for entry in record["queries"][0]["proponents"]
    ]


def test_what_was_not_computed_is_said_and_rankings_are_taken_up(tmp_path):
    values = np.random.default_rng(0).normal(size=(30, 40)).astype(np.float32)
    run = make_run(values, tmp_path / "run")
    opened = open_run(run, values)
    told = []
    write_report(opened, tell=told.append)
    record = json.loads(run.report.with_suffix(".json").read_text("utf-8"))
    assert "Ranking by loss." in told
    assert "Self-influence wasn't computed." in record["limits"]
    assert len(record["missing"]) == 3
    assert record["line"] is None
    assert record["detection"] is record["decisions"] is record["influence"] is None
    assert record["scatter"] == {"x": "loss", "y": "distance to neighbours"}
    told.clear()
    write_report(opened, tell=told.append)
    assert "Ranking by loss." not in told
    self_influence(opened, device="cpu")  # the rankings that are there lack it
    write_report(opened)
    record = json.loads(run.report.with_suffix(".json").read_text("utf-8"))
    assert "self-influence" in record["correlations"]


def test_a_page_of_few_samples_has_those_that_it_names(run):
    opened = open_run(run)
    rankings = rank(opened, pairs=None, own=False)
    report = gather_report(opened, rankings, show=2, samples=3)
    named = {id_ for ranking in report.rankings for id_ in (*ranking.highest, *ranking.lowest)}
    assert set(report.samples.ids) == named
    assert f"The page shows {len(named)} of the {N} samples" in report.limits[0]


@pytest.mark.parametrize("name", ["show", "neighbours", "queries", "samples"])
def test_counts_must_be_positive(run, name):
    opened = open_run(run)
    with pytest.raises(ValueError, match=f"`{name}` must be at least 1, got 0"):
        gather_report(opened, rank(opened, pairs=None, own=False), **{name: 0})


def test_queries_that_are_gone_are_shown_by_name(run):
    odd = run.path.parent / "odd"
    odd.rename(odd.with_name("elsewhere"))
    told = []
    try:
        write_report(run, tell=told.append)
    finally:
        odd.with_name("elsewhere").rename(odd)
    assert any("shown by name" in text for text in told)
    assert all(query["view"] == {} for query in page_data(run.report.read_text("utf-8"))["queries"])


def page_data(page):
    return json.loads(
        re.search(r'<script type="application/json" id="report-data">(.*?)</script>', page).group(1)
    )


def test_what_comes_from_the_data_is_escaped():
    page = render_report(make_report(title=SCRIPT), {})
    assert "<script>alert" not in page
    assert "<img src=x" not in page
    assert page.count("<script") == page.count("</script>") == 2
    assert page_data(page)["samples"]["ids"][0] == SCRIPT


def test_data_can_end_no_element():
    text = _as_data({"a": "</script><!--&\u2028"})
    assert not set("<>&\u2028") & set(text)
    assert json.loads(text) == {"a": "</script><!--&\u2028"}


def test_the_page_allows_its_own_scripts_and_nothing_else():
    page = render_report(make_report(), {})
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', page).group(1)
    assert policy.startswith("default-src &#39;none&#39;; script-src &#39;sha256-")
    assert "unsafe" not in policy
    assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)", page)
    assert not re.search(r'\s(?:on\w+|style)="', page)


def test_two_thousand_of_the_worst_pictures_stay_under_six_megabytes():
    report = make_report(2000)
    found = thumbnails(lambda i, side: noise(i, 32), range(2000), 4_400_000)
    views = {report.samples.ids[i]: {"thumb": address, "details": {}} for i, address in found.items()}
    assert len(views) == 2000
    assert len(render_report(report, views).encode()) < 6_000_000


def test_where_there_is_no_room_the_first_pictures_are_kept():
    found = thumbnails(lambda i, side: noise(i, side), range(10), 5000)
    assert list(found) == list(range(len(found)))
    assert 0 < len(found) < 10
    assert sum(map(len, found.values())) <= 5000


def test_small_pictures_lose_nothing():
    (address,) = thumbnails(lambda i, side: noise(0, 32).point(lambda value: 0), [0], 10_000).values()
    assert address.startswith("data:image/png;base64,")


def test_rows_show_their_cells_and_curves_their_numbers(tmp_path):
    pd.DataFrame({"a": [1.0, 2.0], "b": [0.123456, 5.0], "word": ["x", "y"]}).to_csv(tmp_path / "t.csv")
    rows = views_of(open_data(tmp_path / "t.csv", column=["a", "b"]), [1], 1000)
    assert {name: rows[1]["details"][name] for name in ("a", "b", "word")} == {"a": 2, "b": 5, "word": "y"}
    curves = views_of(open_data(np.random.default_rng(0).random((2, 1, 500), np.float32)), [0], 1000)
    assert len(curves[0]["values"]) == 96
    grids = views_of(open_data(np.random.default_rng(0).random((2, 5, 7, 6), np.float32)), [0], 10_000)
    assert grids[0]["thumb"].startswith("data:image/")


def test_long_texts_are_cut_to_what_there_is_room_for():
    cells = {i: {f"column {k}": "x" * 500 for k in range(30)} for i in range(100)}
    assert fitting({0: cells[0]}, 10_000)[0] == {f"column {k}": "x" * 160 for k in range(24)}
    assert len(json.dumps(fitting(cells, 30_000))) < 30_000


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    path = tmp_path_factory.mktemp("table") / "t.csv"
    cells = {
        "id": ["a", "b", "c"],
        "x": [1.0, 2.0, 3.0],
        "planted": ["true", "false", "true"],
        "k": [0, 1, 1],
    }
    pd.DataFrame(cells).to_csv(path, index=False)
    return open_data(path)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("f.txt", "a\nc\n"),
        ("f.csv", "id\na\nc\n"),
        ("f.csv", "id,foreign\na,True\nb,False\nc,True\n"),
    ],
)
def test_foreign_samples_are_read_from_a_file(table, tmp_path, name, content):
    (tmp_path / name).write_text(content, "utf-8")
    assert read_foreign(tmp_path / name, table).tolist() == [True, False, True]


def test_foreign_samples_are_read_from_arrays_tables_and_columns(table, tmp_path):
    np.save(tmp_path / "f.npy", np.array([True, False, True]))
    pd.DataFrame({"id": ["a", "c"]}).to_parquet(tmp_path / "f.parquet")
    for source in (tmp_path / "f.npy", tmp_path / "f.parquet", "planted"):
        assert read_foreign(source, table).tolist() == [True, False, True]
    assert read_foreign("k", table).tolist() == [False, True, True]


@pytest.mark.parametrize(
    ("name", "content", "error", "says"),
    [
        ("gone.txt", None, FileNotFoundError, "There is no file"),
        ("nowhere", None, FileNotFoundError, "or a column of the data, but is neither"),
        ("x", None, ValueError, "column `x` must be true or false for every sample, but is 2.0 for `b`"),
        ("f.txt", "a\nz\n", ValueError, "1 of its 2 are none, such as 'z'"),
        ("f.csv", "name\na\n", ValueError, "must have a column `id`, but has 'name'"),
        (
            "f.csv",
            "id,p,q\na,True,True\n",
            ValueError,
            "at most one column that is true or false, but has 'p', 'q'",
        ),
    ],
)
def test_what_does_not_say_which_are_foreign(table, tmp_path, name, content, error, says):
    source = tmp_path / name if "." in name else name
    if content is not None:
        source.write_text(content, "utf-8")
    with pytest.raises(error, match=says):
        read_foreign(source, table)


def test_an_array_that_does_not_say_which_are_foreign(table, tmp_path):
    np.save(tmp_path / "f.npy", np.zeros(3))
    with pytest.raises(ValueError, match="must be true or false for each of the 3 samples, got float64"):
        read_foreign(tmp_path / "f.npy", table)


@pytest.mark.parametrize(
    ("modules", "says"),
    [
        ({"a.js": 'import { b } from "./b.js";'}, "There is no module `b.js`, which `a.js` imports"),
        ({}, "There is no module `a.js`, which the page imports"),
        ({"a.js": 'import * as b from "./b.js";'}, "`a.js` must import and export by name"),
        ({"a.js": "export default 1;"}, "`a.js` must import and export by name"),
        ({"a.js": 'const a = "</script>";'}, "must not hold the end of a script"),
        (
            {"a.js": 'import { b } from "./b.js";', "b.js": 'import { a } from "./a.js";'},
            "in a ring: a.js -> b.js -> a.js",
        ),
    ],
)
def test_modules_that_cannot_be_joined(modules, says):
    with pytest.raises(ValueError, match=says):
        bundled(modules, "a.js")
