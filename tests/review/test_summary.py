import pytest

from proponent.review import Decision
from proponent.review._summary import share_interval, summary_of


def test_an_empty_log_has_a_summary():
    summary = summary_of([])
    assert summary["counts"] == {"keep": 0, "discard": 0, "unsure": 0}
    assert summary["arms"]["control"] == {
        "looked_at": 0,
        "discarded": 0,
        "share": None,
        "low": None,
        "high": None,
    }
    assert summary["seconds"] == {"total": 0, "median": None}


def test_only_what_stands_counts():
    log = [
        Decision(1, "a", "discard", "control"),
        Decision(2, "a", "undo", "control", undoes=1),
        Decision(3, "a", "keep", "queue"),
        Decision(4, "b", "discard", "queue"),
        Decision(5, "c", "unsure", "queue"),
    ]
    summary = summary_of(log)
    assert summary["counts"] == {"keep": 1, "discard": 1, "unsure": 1}
    assert summary["arms"]["control"]["looked_at"] == 0
    queue = summary["arms"]["queue"]
    assert (queue["looked_at"], queue["discarded"], queue["share"]) == (3, 1, 1 / 3)
    assert (queue["low"], queue["high"]) == share_interval(1, 3)
    assert summary["undone"] == 1


def test_pauses_and_clocks_that_were_set_back_are_no_work():
    log = [Decision(k, f"{k}", "keep", at=at) for k, at in enumerate((0.0, 2.0, 5.0, 4000.0, 4001.0, 3000.0))]
    assert summary_of(log)["seconds"] == {"total": 6.0, "median": 2.0}


@pytest.mark.parametrize("hits", [0, 3, 10])
def test_the_interval_solves_its_equation(hits):
    for p in share_interval(hits, 10):
        if 0 < p < 1:
            assert abs(hits / 10 - p) == pytest.approx(1.96 * (p * (1 - p) / 10) ** 0.5)


def test_the_interval_stays_among_shares():
    assert share_interval(0, 3)[0] == 0
    assert share_interval(3, 3)[1] == 1
