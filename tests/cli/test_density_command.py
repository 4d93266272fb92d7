import csv
import json
from contextlib import redirect_stdout
from io import StringIO
from itertools import pairwise

import numpy as np
import pytest

from proponent import Scores
from proponent.cli import main
from proponent.paper import density_figures, density_statements

METHODS = ("knn", "kde", "mixture", "mixture-expansion", "mixture-paper")
PICTURES = ("clusters", "self-influence", "influence", "mixture-forms", "overview")


def run(*arguments):
    return main(["density", *map(str, arguments)])


@pytest.fixture(scope="module")
def printed_and_made(tmp_path_factory):
    out = tmp_path_factory.mktemp("density") / "out"
    with redirect_stdout(StringIO()) as printed:
        assert run("--out", out, "--seed", 3) == 0
    return printed.getvalue(), out


@pytest.fixture(scope="module")
def made(printed_and_made):
    return printed_and_made[1]


def refused(capsys, *arguments, code=2):
    capsys.readouterr()
    assert run(*arguments) == code
    captured = capsys.readouterr()
    assert "Traceback" not in captured.err
    return " ".join((captured.err + captured.out).split())


@pytest.mark.parametrize("name", PICTURES)
def test_every_figure_is_there(made, name):
    assert (made / "figures" / f"{name}.png").read_bytes().startswith(b"\x89PNG")


def test_nothing_else_is_there(made):
    found = {path.relative_to(made).as_posix() for path in made.rglob("*") if path.is_file()}
    expected = {"density.json", "data/samples.csv"}
    expected |= {f"figures/{name}.png" for name in PICTURES}
    expected |= {f"data/{name}.npy" for name in ("points", "labels", "query")}
    for method in METHODS:
        expected.add(f"scores/{method}-self-influence.parquet")
        for kind in ("on-z", "among-samples"):
            expected |= {f"scores/{method}-influence-{kind}{suffix}" for suffix in (".npy", ".json")}
    assert found == expected


def test_scores_data_and_record_say_the_same(made):
    figures = density_figures(seed=3)
    record = json.loads((made / "density.json").read_text("utf-8"))
    assert record["statements"] == [each.to_dict() for each in density_statements(figures)]
    assert (record["seed"], record["k"], record["bandwidth"]) == (3, 10, 1.0)
    points = np.load(made / "data" / "points.npy")
    np.testing.assert_array_equal(points, figures.clusters.points)
    np.testing.assert_array_equal(np.load(made / "data" / "query.npy"), [record["query"]])
    with (made / "data" / "samples.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    np.testing.assert_array_equal([[float(row["x"]), float(row["y"])] for row in rows], points)
    labels = np.load(made / "data" / "labels.npy")
    assert [int(row["cluster"]) for row in rows] == labels.tolist()
    for method in METHODS:
        own = Scores.load(made / "scores" / f"{method}-self-influence.parquet")
        on_z = Scores.load(made / "scores" / f"{method}-influence-on-z.npy")
        among = Scores.load(made / "scores" / f"{method}-influence-among-samples.npy")
        assert own.ids.tolist() == on_z.ids.tolist() == [row["id"] for row in rows]
        assert (on_z.values.shape, among.values.shape) == ((100, 1), (100, 100))
        np.testing.assert_array_equal([float(row[f"{method} self-influence"]) for row in rows], own.values)
        np.testing.assert_array_equal(
            [float(row[f"{method} influence on z"]) for row in rows], on_z.values[:, 0]
        )


def test_it_prints_every_statement_and_where_things_lie(printed_and_made):
    printed, out = printed_and_made
    statements = density_statements(density_figures(seed=3))
    assert [printed.count(f"\n{outcome} ") for outcome in ("holds", "changed")] == [
        sum(each.outcome == outcome for each in statements) for outcome in ("holds", "changed")
    ]
    assert all(each.method in printed for each in statements)
    assert max(map(len, table_of(printed))) <= 80
    assert "z at (0.125, 0.125), near the centre of cluster 0" in printed
    for what, where in (("figures", "figures"), ("statements", "density.json"), ("scores", "scores")):
        assert f"{what:<16} {out / where}" in printed


def table_of(printed):
    return printed[printed.index("\nk-NN\n") + 1 : printed.index("16 statements")].splitlines()


@pytest.mark.parametrize("width", ["80", "200"])
def test_columns_are_the_same_throughout_and_blank_lines_single(tmp_path, capsys, monkeypatch, width):
    monkeypatch.setenv("COLUMNS", width)
    assert run("--out", tmp_path) == 0
    lines = table_of(capsys.readouterr().out)
    assert all(line == line.rstrip() for line in lines)
    assert not any(a == b == "" for a, b in pairwise(lines))
    first = [line for line in lines if line.startswith(("holds", "changed"))]
    starts = {len(line) - len(line[10:].lstrip()) for line in first}
    assert starts == {10}
    measured = [each.measured.split()[0] for each in density_statements(density_figures())]
    assert len({line.rindex(f"  {word}") for line, word in zip(first, measured, strict=True)}) == 1
    assert sum(line.strip().startswith("Instead:") for line in lines) == sum(
        line.startswith("changed") for line in lines
    )


def test_asked_again_it_does_it_anew_into_the_same_folder(tmp_path, capsys):
    (tmp_path / "figures").mkdir()
    (tmp_path / "figures" / "clusters.png").write_text("old")
    (tmp_path / "density.json").write_text("{}")
    assert run("--out", tmp_path, "--k", 15, "--bandwidth", 0.4) == 0
    assert "k-NN with k = 15, KDE with bandwidth 0.4" in capsys.readouterr().out
    record = json.loads((tmp_path / "density.json").read_text("utf-8"))
    assert (record["k"], record["bandwidth"]) == (15, 0.4)
    assert (tmp_path / "figures" / "clusters.png").read_bytes().startswith(b"\x89PNG")
    own = Scores.load(tmp_path / "scores" / "kde-self-influence.parquet")
    expected = density_figures(k=15, bandwidth=0.4).estimates["KDE"].self_influence
    np.testing.assert_array_equal(own.values, expected.values)


@pytest.mark.parametrize("k", [0, 1, 100, 1000])
def test_k_must_leave_neighbours(tmp_path, capsys, k):
    told = refused(capsys, "--out", tmp_path / "o", "--k", k)
    assert f"`k` must be from 2 to 99, got {k}: a sample is its own first neighbour, and of the 100" in told
    assert not (tmp_path / "o").exists()


@pytest.mark.parametrize("bandwidth", ["0", "-1", "nan", "inf", "wide"])
def test_bandwidths_that_are_none_are_refused_before_anything_is_written(tmp_path, capsys, bandwidth):
    told = refused(capsys, "--out", tmp_path / "o", "--bandwidth", bandwidth)
    assert '`bandwidth` must be a positive number, "scott" or "silverman", got' in told
    assert not (tmp_path / "o").exists()


@pytest.mark.parametrize(("rule", "number"), [("scott", 100 ** (-1 / 6)), ("silverman", 100 ** (-1 / 6))])
def test_a_bandwidth_may_be_a_rule(tmp_path, rule, number):
    assert run("--out", tmp_path, "--bandwidth", rule) == 0
    record = json.loads((tmp_path / "density.json").read_text("utf-8"))
    assert record["bandwidth"] == pytest.approx(number)  # in two dimensions the rules are the same


@pytest.mark.parametrize("inside", ["", "deeper", "deeper/still"])
def test_a_file_in_the_place_of_the_folder(tmp_path, capsys, inside):
    (tmp_path / "o").write_text("mine")
    told = refused(capsys, "--out", tmp_path / "o" / inside)
    assert f"`--out` must be a folder, but `{tmp_path / 'o'}` is a file. Choose another `--out`." in told
    assert (tmp_path / "o").read_text() == "mine"


def test_a_folder_without_a_name(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert "`--out` must name a folder, got an empty name. Use `--out .`" in refused(capsys, "--out", "")
    assert list(tmp_path.iterdir()) == []
