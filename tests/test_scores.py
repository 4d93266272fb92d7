import dataclasses
import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from proponent import Scores

VALUES = np.array([[0.5, -1.0], [2.0, 0.0], [0.5, 3.0]])
FACTS = {"coverage": 1.0, "draws": 16, "layers": ["encoder.0"]}


def make_matrix(errors=False):
    return Scores(
        VALUES,
        ids=np.array(["x", "y", "z"]),
        query_ids=np.array([7, 9]),
        method="TracIn",
        standard_errors=VALUES / 10 if errors else None,
        facts=FACTS,
    )


def make_vector(errors=False):
    values = VALUES[:, 0]
    return Scores(
        values, unit="squared", method="TracIn", standard_errors=values / 10 if errors else None, facts=FACTS
    )


def assert_same(a, b):
    np.testing.assert_array_equal(a.values, b.values)
    np.testing.assert_array_equal(a.ids, b.ids)
    np.testing.assert_array_equal(a.query_ids, b.query_ids)
    assert (a.unit, a.method, dict(a.facts)) == (b.unit, b.method, dict(b.facts))
    assert a.meaning == b.meaning
    assert (a.standard_errors is None) == (b.standard_errors is None)
    if a.standard_errors is not None:
        np.testing.assert_array_equal(a.standard_errors, b.standard_errors)


def test_ids_are_positions_unless_given():
    scores = Scores(VALUES)
    np.testing.assert_array_equal(scores.ids, [0, 1, 2])
    np.testing.assert_array_equal(scores.query_ids, [0, 1])
    assert len(scores) == 3


def test_proponents_are_highest_and_ties_keep_their_order():
    ranking = make_matrix().proponents(2)
    np.testing.assert_array_equal(ranking.ids, [["y", "x"], ["z", "y"]])
    np.testing.assert_array_equal(ranking.values, [[2, 0.5], [3, 0]])
    np.testing.assert_array_equal(ranking.query_ids, [7, 9])


def test_opponents_are_lowest_and_ties_keep_their_order():
    ranking = make_matrix().opponents(3)
    np.testing.assert_array_equal(ranking.ids, [["x", "z", "y"], ["x", "y", "z"]])


def test_a_vector_ranks_without_queries():
    ranking = make_vector().proponents(2)
    np.testing.assert_array_equal(ranking.ids, [1, 0])
    np.testing.assert_array_equal(ranking.values, [2, 0.5])
    assert ranking.query_ids is None


def test_ranks_are_the_places_in_the_ranking():
    np.testing.assert_array_equal(make_matrix().ranks(), [[1, 2], [0, 1], [2, 0]])
    np.testing.assert_array_equal(make_vector().ranks(), [1, 0, 2])


def test_a_ranking_becomes_a_frame_with_a_row_a_pair():
    expected = pd.DataFrame(
        {"query": [7, 7, 9, 9], "rank": [0, 1, 0, 1], "id": ["y", "x", "z", "y"], "score": [2, 0.5, 3, 0]}
    )
    pd.testing.assert_frame_equal(make_matrix().proponents(2).to_pandas(), expected, check_dtype=False)
    assert list(make_vector().proponents(2).to_pandas()) == ["rank", "id", "score"]


def test_scores_become_frames():
    frame = make_matrix().to_pandas()
    assert frame.loc["z", 9] == 3
    assert (frame.index.name, frame.columns.name) == ("id", "query")
    vector = make_vector(errors=True).to_pandas()
    assert list(vector) == ["id", "score", "standard_error"]
    assert list(make_vector().to_pandas()) == ["id", "score"]


def test_scores_become_polars_frames():
    frame = make_matrix().to_polars()
    assert frame.columns == ["id", "7", "9"]
    assert frame["9"].to_list() == [-1, 0, 3]
    assert make_vector(errors=True).to_polars().columns == ["id", "score", "standard_error"]


def test_ids_must_be_different():
    with pytest.raises(ValueError, match="`ids` must be different, but x occurs 2 times"):
        Scores(VALUES, ids=np.array(["x", "y", "x"]))
    with pytest.raises(ValueError, match="`query_ids` must be different, but 7 occurs 2 times"):
        Scores(VALUES, query_ids=np.array([7, 7]))


@pytest.mark.parametrize("query_ids", [np.array(["id", "x"]), np.array([1, "1"], dtype=object)])
def test_columns_that_would_have_one_name_are_refused(query_ids):
    with pytest.raises(ValueError, match=r"`query_ids` must have different texts, none of them `id`"):
        Scores(VALUES, query_ids=query_ids).to_polars()


def test_scores_are_an_array():
    np.testing.assert_array_equal(np.asarray(make_matrix()), VALUES)
    assert np.asarray(make_matrix(), dtype=np.float32).dtype == np.float32


@pytest.mark.parametrize(
    ("scores", "text"),
    [
        (
            make_matrix(),
            "TracIn scores of 3 samples on 2 queries in nats; positive: training on the sample lowered",
        ),
        (make_vector(), "TracIn scores of 3 samples on themselves in squared; high: the model leans"),
        (Scores(np.ones((1, 1))), "Scores of 1 sample on 1 query in nats; positive"),
    ],
)
def test_the_sign_and_the_unit_stand_in_the_repr(scores, text):
    assert repr(scores).startswith(text)


@pytest.mark.parametrize(
    ("scores", "meaning"),
    [
        (make_matrix(), "positive: training on the sample lowered the query's loss"),
        (make_vector(), "high: the model leans on this very sample for its loss"),
        (dataclasses.replace(make_matrix(), meaning="positive: it helps"), "positive: it helps"),
        (dataclasses.replace(make_vector(), meaning="high: it is alone"), "high: it is alone"),
    ],
)
def test_what_a_score_means_is_said_and_saved(tmp_path, scores, meaning):
    assert repr(scores).endswith(f"; {meaning}")
    path = tmp_path / ("s.parquet" if scores.query_ids is None else "s.npy")
    assert repr(Scores.load(scores.save(path))).endswith(f"; {meaning}")


def test_a_record_that_does_not_say_what_scores_mean_is_of_training(tmp_path):
    path = make_matrix().save(tmp_path / "s.npy")
    record = json.loads(path.with_suffix(".json").read_text("utf-8"))
    del record["meaning"]
    path.with_suffix(".json").write_text(json.dumps(record))
    assert repr(Scores.load(path)) == repr(make_matrix())


@pytest.mark.parametrize("errors", [False, True])
def test_a_vector_comes_back(tmp_path, errors):
    scores = make_vector(errors)
    assert_same(Scores.load(scores.save(tmp_path / "s.parquet")), scores)


@pytest.mark.parametrize("errors", [False, True])
def test_a_matrix_comes_back_mapped(tmp_path, errors):
    scores = make_matrix(errors)
    loaded = Scores.load(scores.save(tmp_path / "s.npy"))
    assert_same(loaded, scores)
    assert isinstance(loaded.values, np.memmap)


def test_saving_again_without_errors_removes_the_old_ones(tmp_path):
    make_matrix(errors=True).save(tmp_path / "s.npy")
    make_matrix().save(tmp_path / "s.npy")
    assert Scores.load(tmp_path / "s.npy").standard_errors is None


def test_values_have_one_or_two_axes():
    with pytest.raises(ValueError, match=r"`values` must be \[n\] or \[n, q\], got an array of 3 axes"):
        Scores(np.zeros((1, 1, 1)))


@pytest.mark.parametrize(("name", "count"), [("ids", 3), ("query_ids", 2)])
def test_ids_must_fit(name, count):
    with pytest.raises(ValueError, match=rf"`{name}` must be {count} ids in one axis, got shape \(1,\)"):
        Scores(VALUES, **{name: np.array([1])})


def test_a_vector_has_no_queries():
    with pytest.raises(ValueError, match="`query_ids` belong to a matrix"):
        Scores(VALUES[:, 0], query_ids=np.array([0]))


def test_standard_errors_must_fit():
    with pytest.raises(ValueError, match=r"must have the shape of `values`, \(3, 2\), got \(3,\)"):
        Scores(VALUES, standard_errors=VALUES[:, 0])


@pytest.mark.parametrize("k", [0, 4])
def test_k_must_be_a_count_of_samples(k):
    with pytest.raises(ValueError, match=f"`k` must be between 1 and the 3 samples, got {k}"):
        make_matrix().proponents(k)


@pytest.mark.parametrize(("scores", "name"), [(make_matrix(), "s.parquet"), (make_vector(), "s.npy")])
def test_the_suffix_must_fit_the_shape(tmp_path, scores, name):
    with pytest.raises(ValueError, match=f"file, got `{name}`"):
        scores.save(tmp_path / name)


def test_loading_nothing(tmp_path):
    with pytest.raises(FileNotFoundError, match="There are no scores at"):
        Scores.load(tmp_path / "no.parquet")


def test_loading_another_suffix(tmp_path):
    (tmp_path / "s.csv").touch()
    with pytest.raises(ValueError, match=r"Scores are `.parquet` or `.npy` files, got `s.csv`"):
        Scores.load(tmp_path / "s.csv")


def test_loading_a_cut_matrix(tmp_path):
    path = make_matrix().save(tmp_path / "s.npy")
    path.write_bytes(path.read_bytes()[:-8])
    with pytest.raises(ValueError, match="was cut short or is not an array"):
        Scores.load(path)


def test_loading_a_matrix_without_its_record(tmp_path):
    path = make_matrix().save(tmp_path / "s.npy")
    path.with_suffix(".json").unlink()
    with pytest.raises(FileNotFoundError):
        Scores.load(path)


def test_loading_a_cut_vector(tmp_path):
    path = make_vector().save(tmp_path / "s.parquet")
    path.write_bytes(path.read_bytes()[:-8])
    with pytest.raises(ValueError, match="was cut short or is not a Parquet file"):
        Scores.load(path)


def test_loading_a_stranger(tmp_path):
    pq.write_table(pa.table({"id": [0], "score": [1.0]}), tmp_path / "s.parquet")
    with pytest.raises(ValueError, match="has no `proponent` key"):
        Scores.load(tmp_path / "s.parquet")


def test_the_record_beside_a_matrix_is_readable(tmp_path):
    path = make_matrix().save(tmp_path / "s.npy")
    record = json.loads(path.with_suffix(".json").read_text())
    assert record == {
        "unit": "nats",
        "method": "TracIn",
        "meaning": "positive: training on the sample lowered the query's loss",
        "facts": FACTS,
        "ids": ["x", "y", "z"],
        "query_ids": [7, 9],
    }
