import json

import numpy as np
import pytest

from proponent import Scores
from proponent.evaluation import detect
from proponent.report import compare_rankings, summarise, verdict

IDS = np.array(["a", "b", "c", "d"])
OWN = Scores(np.array([3.0, -1.0, 2.0, 0.5]), IDS, standard_errors=np.array([0.3, 0.3, 0.1, 0.1]))
ON_QUERIES = Scores(np.arange(8.0).reshape(4, 2) - 3, IDS, query_ids=np.array([10, 11]))
FOREIGN = np.array([True, False, True, False])


def test_the_summary_holds_the_ends_of_the_ranking():
    summary = summarise("t", OWN, foreign=FOREIGN, show=2)
    assert [(e.id, e.value, e.foreign) for e in summary.highest] == [("a", 3.0, True), ("c", 2.0, True)]
    assert [(e.id, e.foreign) for e in summary.lowest] == [("b", False), ("d", False)]
    assert (summary.negative, summary.sample_count, summary.unit) == (1, 4, "nats")
    assert summary.median_error == pytest.approx(0.2 / 1.5)


def test_the_summary_holds_both_sides_of_each_query():
    (first, second) = summarise("t", OWN, ON_QUERIES, neighbours=1).queries
    assert (first.id, first.proponents[0].id, first.opponents[0].id) == ("10", "d", "a")
    assert (second.proponents[0].value, second.opponents[0].value) == (4.0, -2.0)


def test_nothing_is_claimed_without_planted_samples():
    summary = summarise("t", Scores(OWN.values, IDS))
    assert (summary.detection, summary.queries, summary.median_error) == (None, (), None)
    assert all(entry.foreign is None for entry in summary.highest)


def test_scores_of_nothing_have_no_relative_error():
    zero = Scores(np.zeros(2), standard_errors=np.zeros(2))
    assert summarise("t", zero).median_error is None


def test_the_summary_fits_json():
    summary = summarise("t", OWN, ON_QUERIES, FOREIGN, {"loss": np.arange(4.0)}, {"steps": 10})
    record = json.loads(json.dumps(summary.to_dict()))
    assert record["facts"] == [["steps", "10"]]
    assert record["detection"]["rows"][1]["name"] == "loss"


def test_a_matrix_is_no_self_influence():
    with pytest.raises(ValueError, match=r"`self_influence` must be one score a sample \[n\]"):
        summarise("t", ON_QUERIES)


def test_scores_must_be_of_the_same_samples():
    other = Scores(ON_QUERIES.values, IDS[::-1], ON_QUERIES.query_ids)
    with pytest.raises(ValueError, match="their ids differ"):
        summarise("t", OWN, other)


def test_rankings_are_compared_at_the_same_counts():
    values = {"self-influence": np.array([1.0, 2, 3, 4]), "loss": np.array([4.0, 1, 3, 2])}
    table = compare_rankings(values, FOREIGN, first=[1, 2])
    assert table.first == (1, 2)
    assert [row.found for row in table.rows] == [(0, 1), (1, 2)]
    assert table.rows[1].detection == detect(values["loss"], FOREIGN)


def test_counts_come_from_the_number_of_planted():
    foreign = np.arange(100) < 10
    assert compare_rankings({"x": np.arange(100.0)}, foreign).first == (2, 5, 10, 20)
    assert compare_rankings({"x": np.arange(3.0)}, np.array([True, True, False])).first == (1, 2, 3)


def test_counts_must_be_of_samples():
    with pytest.raises(ValueError, match=r"`first` must hold counts from 1 to the 4 samples, got \[5\]"):
        compare_rankings({"x": np.arange(4.0)}, FOREIGN, first=[5])


N = 200
PLANTED = np.arange(N) < 20
GOOD, BAD = -np.arange(float(N)), np.random.default_rng(0).normal(size=N)


@pytest.mark.parametrize(
    ("rankings", "says"),
    [
        ({"self-influence": BAD, "loss": GOOD}, "Here sorting by loss finds the planted samples better"),
        ({"self-influence": GOOD, "loss": BAD}, "Here self-influence finds the planted samples better"),
        ({"self-influence": GOOD, "loss": GOOD * 2}, "about equally well"),
        ({"self-influence": GOOD}, "By self-influence, 20 of the 20 planted samples are among the first 20"),
    ],
)
def test_the_verdict_names_the_better_ranking(rankings, says):
    assert says in verdict(compare_rankings(rankings, PLANTED))


def test_the_verdict_takes_the_best_rival():
    rankings = {"self-influence": BAD, "neighbours": BAD[::-1], "loss": GOOD}
    assert "20 of the 20 planted samples are among the first 20 by loss" in verdict(
        compare_rankings(rankings, PLANTED)
    )
