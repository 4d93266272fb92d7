import csv
import json
from contextlib import redirect_stdout
from io import StringIO

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
    assert max(map(len, printed[printed.index("k-NN  ") : printed.index("16 statements")].splitlines())) <= 80
    assert "z at (0.125, 0.125), near the centre of cluster 0" in printed
    for what, where in (("figures", "figures"), ("statements", "density.json"), ("scores", "scores")):
        assert f"{what:<16} {out / where}" in printed


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


@pytest.mark.parametrize("k", [1, 100])
def test_k_must_leave_neighbours(tmp_path, capsys, k):
    assert "for '--k'" in refused(capsys, "--out", tmp_path, "--k", k)


@pytest.mark.parametrize("bandwidth", ["0", "-1", "nan", "inf"])
def test_bandwidths_that_are_none_are_refused_before_anything_is_written(tmp_path, capsys, bandwidth):
    assert "`bandwidth` must" in refused(capsys, "--out", tmp_path / "o", "--bandwidth", bandwidth)
    assert not (tmp_path / "o").exists()


def test_a_file_in_the_place_of_the_folder(tmp_path, capsys):
    (tmp_path / "o").write_text("")
    assert "Not a directory" in refused(capsys, "--out", tmp_path / "o")


def test_a_bandwidth_that_is_no_number(capsys):
    assert "for '--bandwidth'" in refused(capsys, "--bandwidth", "wide")
