import json

import numpy as np
import pytest
from PIL import Image
from run_toys import SMALL, X, make_array, make_pictures, make_table

from proponent.runs import Scoring, influence, influence_path, newest_influence, open_run, train
from proponent.runs._queries import read_queries

FEW = Scoring(draws=2)


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    place = tmp_path_factory.mktemp("asked")
    return open_run(train(make_array(place), place / "run", SMALL))


def test_other_queries_stay_beside_each_other(run, tmp_path):
    assert influence_path(run.folder, "none of that name") is None
    first = influence(run, make_array(tmp_path, X[:2] * 0.5, "a.npy"), FEW)
    there = influence_path(run.folder)
    second = influence(run, make_array(tmp_path, X[:3] * 0.7, "b.npy"), FEW, name="odd")
    assert there.exists()
    assert influence_path(run.folder).name == "influence-odd.npy"
    np.testing.assert_array_equal(newest_influence(run).values, second.values)
    index = json.loads(run.folder.influence.read_text())
    assert index["newest"] == "odd"
    assert {entry["count"] for entry in index["all"].values()} == {2, 3}
    again = influence(run, make_array(tmp_path, X[:2] * 0.5, "a.npy"), FEW)
    np.testing.assert_array_equal(again.values, first.values)
    assert influence_path(run.folder) == there
    with pytest.raises(ValueError, match="`odd` must be a new name, but the run has scores of that name"):
        influence(run, make_array(tmp_path, X[:2] * 0.5, "a.npy"), FEW, name="odd")


def test_names_are_no_paths(run):
    with pytest.raises(ValueError, match="`name` must be letters, digits, dots and dashes"):
        influence(run, X, FEW, name="../x")


def test_the_strongest_alone_can_be_kept(run, tmp_path):
    top = influence(run, X[:2] * 0.9, FEW, top=3, name="top")
    assert influence_path(run.folder).name == "influence-top.parquet"
    np.testing.assert_array_equal(newest_influence(run).proponents(3).values, top.proponents(3).values)


def test_influences_that_are_gone_or_of_another_training_are_none(tmp_path):
    one = open_run(train(make_array(tmp_path), tmp_path / "one", SMALL))
    other = open_run(train(make_array(tmp_path, X * 0.5, "y.npy"), tmp_path / "other", SMALL))
    assert newest_influence(one) is None
    influence(one, X[:1], FEW)
    other.folder.scores.mkdir()
    for path in one.folder.scores.iterdir():
        (other.folder.scores / path.name).write_bytes(path.read_bytes())
    assert newest_influence(one) is not None
    assert newest_influence(other) is None
    influence_path(one.folder).unlink()
    assert newest_influence(one) is None
    one.folder.influence.write_text("[")
    assert newest_influence(one) is None


def test_pictures_are_brought_to_the_run_s_size_and_channels(tmp_path):
    run = open_run(train(make_pictures(tmp_path / "photos"), tmp_path / "run", SMALL))
    queries, numbers = read_queries(run, make_pictures(tmp_path / "large", count=2, side=40))
    assert numbers.shape == (2, 3, 8, 8)
    assert queries.ids.tolist() == ["deep/p01.png", "p00.png"]
    assert 0 <= numbers.min() < numbers.max() <= 1
    _, numbers = read_queries(run, make_pictures(tmp_path / "grey", count=2, mode="L"))
    np.testing.assert_array_equal(numbers[:, 0], numbers[:, 2])
    _, numbers = read_queries(run, np.random.default_rng(0).random((2, 8, 8)))
    assert numbers.shape == (2, 3, 8, 8)
    assert influence(run, tmp_path / "large", FEW).values.shape == (12, 2)


def test_a_grey_run_is_asked_about_colour(tmp_path):
    photos = make_pictures(tmp_path / "photos", mode="L")
    run = open_run(train(photos, tmp_path / "run", SMALL))
    _, numbers = read_queries(run, make_pictures(tmp_path / "colour", count=2))
    first = Image.open(tmp_path / "colour" / "p00.png").convert("L")
    np.testing.assert_allclose(numbers[1, 0], np.asarray(first) / 255, atol=1e-6)


def test_floats_are_asked_about_in_bytes(tmp_path):
    run = open_run(
        train(make_array(tmp_path, X.reshape(-1, 1, 1, 6).repeat(8, 2).repeat(2, 3)), tmp_path / "run", SMALL)
    )
    assert run.tables["scaling"]["form"] == "none"
    asked = (run.samples[:2] * 255).astype(np.uint8)
    np.testing.assert_allclose(read_queries(run, asked)[1], asked / 255, rtol=1e-6)


def test_rows_are_found_by_the_names_of_their_columns(tmp_path):
    run = open_run(train(make_table(tmp_path / "t.csv"), tmp_path / "run", SMALL))
    (tmp_path / "q.csv").write_text("weight,id,more,width\n100,first,1,5\n")
    queries, numbers = read_queries(run, tmp_path / "q.csv")
    assert queries.ids.tolist() == ["first"]
    mean, deviation = run.scaling.mean, run.scaling.deviation
    np.testing.assert_allclose(
        numbers, [[(5 - mean[0]) / deviation[0], (100 - mean[1]) / deviation[1]]], rtol=1e-5
    )
    (tmp_path / "q.csv").write_text("width,other\n1,2\n")
    with pytest.raises(ValueError, match="must have the columns of the run, but lack 'weight'"):
        read_queries(run, tmp_path / "q.csv")


def test_queries_of_another_kind_or_shape_are_refused(run, tmp_path):
    with pytest.raises(
        ValueError, match="`queries` must be arrays, as the samples of the run are, got images"
    ):
        read_queries(run, make_pictures(tmp_path / "photos", count=2))
    with pytest.raises(ValueError, match=r"must have the shape of the samples, \(6,\) each, got \(5,\)"):
        read_queries(run, X[:, :5])
