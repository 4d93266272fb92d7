"""The control arm is chance, whatever the queue does, and says what it knew at each draw."""

import numpy as np

from proponent.review._control import ControlArm, draws_of, first_arms
from proponent.review._decisions import Decision
from proponent.review._estimate import estimate_of

PLACES = {id_: i for i, id_ in enumerate("abcdefgh")}


def test_brings_each_unseen_sample_equally_often():
    counts = np.zeros(6)
    for seed in range(3000):
        counts[ControlArm(6, seed, 0.1).draw({0, 3})] += 1
    assert counts[0] == counts[3] == 0
    np.testing.assert_allclose(counts[[1, 2, 4, 5]] / 3000, 0.25, atol=0.03)


def test_brings_nothing_when_all_are_gone():
    assert ControlArm(3, 0, 0.1).draw({0, 1, 2}) is None


def test_comes_more_often_as_the_queue_runs_dry():
    arm = ControlArm(20_000, 0, 0.1)
    shares = {hope: np.mean([arm.falls_on(k, hope) for k in range(20_000)]) for hope in (None, 1.0, 0.5, 0.0)}
    np.testing.assert_allclose(list(shares.values()), [0.1, 0.05, 0.125, 0.2], atol=0.01)


def test_all_or_nothing():
    assert all(ControlArm(50, 0, 1.0).falls_on(k, hope) for k in range(50) for hope in (None, 1.0, 0.0))
    assert not any(ControlArm(50, 0, 0.0).falls_on(k, hope) for k in range(50) for hope in (None, 1.0, 0.0))


def row(seq, id_, verdict, arm="queue", undoes=None):
    return Decision(seq, id_, verdict, arm, undoes=undoes)


def test_draws_know_what_was_seen_and_found_before():
    log = [
        row(1, "a", "discard"),
        row(2, "b", "keep", "control"),
        row(3, "c", "discard", "browse"),
        row(4, "x", "discard"),  # a sample that is no more
        row(5, "d", "discard", "control"),
        row(6, "e", "unsure", "control"),
    ]
    draws = draws_of(log, PLACES)
    assert draws.left.tolist() == [7, 5, 4]
    assert draws.found.tolist() == [1, 2, 3]
    assert draws.hits.tolist() == [False, True, False]


def test_a_draw_that_was_taken_back_counts_where_it_was_first_decided():
    log = [
        row(1, "a", "keep", "control"),
        row(2, "a", "undo", "control", undoes=1),
        row(3, "b", "discard"),
        row(4, "a", "discard", "browse"),
    ]
    assert len(draws_of(log[:2], PLACES)) == 0
    draws = draws_of(log, PLACES)
    assert (draws.left.tolist(), draws.found.tolist(), draws.hits.tolist()) == ([8], [0], [True])
    assert first_arms(log, PLACES) == {"a": "control", "b": "queue"}
    estimate = estimate_of(log, PLACES)
    assert (estimate.precision_control, estimate.precision_queue) == (1.0, 1.0)


def test_words_say_both_bounds():
    log = [row(k + 1, f"s{k}", "keep", "control") for k in range(60)]
    words = estimate_of(log, {f"s{k}": k for k in range(500)}).words
    assert words.startswith("You would discard between 0 and 22 more of the 440 you have not looked at")
    assert words.endswith("Stop whenever you like: with 95% it is at most 32.")


def test_words_of_a_certain_number():
    log = [row(k + 1, f"s{k}", "keep", "control") for k in range(60)]
    words = estimate_of(log, {f"s{k}": k for k in range(61)}).words
    assert words.startswith("You would discard 0 more of the 1 you")
    log = [row(k + 1, id_, "discard", "control") for k, id_ in enumerate("abcd")]
    assert "discard between 1 and 4 more" in estimate_of(log, PLACES).words


def test_a_check_of_so_many_shows_what_it_says():
    places = {f"s{k}": k for k in range(500)}
    check = estimate_of([], places).check
    clean = estimate_of([row(k + 1, f"s{k}", "keep", "control") for k in range(check)], places)
    assert clean.high <= 5
    less = estimate_of([row(k + 1, f"s{k}", "keep", "control") for k in range(check - 5)], places)
    assert less.high > 5
