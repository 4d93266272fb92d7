import numpy as np
import pytest

from proponent.review import Decision
from proponent.review._ranked_queue import RankedQueue, share_interval

N = 200
IDS = [f"s{i}" for i in range(N)]
RANKING = np.random.default_rng(0).random(N)


def all_of(queue, log=()):
    return queue.next(list(log), N)


def test_every_sample_comes_once():
    assert sorted(entry.i for entry in all_of(RankedQueue(IDS, RANKING))) == list(range(N))


def test_the_ranking_rules_where_chance_does_not():
    brought = [entry.i for entry in all_of(RankedQueue(IDS, RANKING)) if entry.arm == "queue"]
    assert [RANKING[i] for i in brought] == sorted(RANKING[brought], reverse=True)


def test_chance_chooses_at_its_share_of_places():
    arms = [entry.arm for entry in all_of(RankedQueue(IDS, RANKING, control_share=0.25))]
    assert 30 <= arms.count("control") <= 70


def test_chance_takes_no_notice_of_the_ranking():
    brought = [entry.i for entry in all_of(RankedQueue(IDS, RANKING, seed=3, control_share=0.3))[:100]]
    queue = RankedQueue(IDS, RANKING, seed=3, control_share=0.3)
    control = [entry.i for entry in queue.next([], 100) if entry.arm == "control"]
    assert set(control) < set(brought)
    assert 0.3 < RANKING[control].mean() < 0.7


def test_the_order_follows_from_the_seed():
    same, other = RankedQueue(IDS, RANKING, seed=1), RankedQueue(IDS, RANKING, seed=2)
    assert all_of(RankedQueue(IDS, RANKING, seed=1)) == all_of(same) != all_of(other)


def test_what_is_decided_or_shown_does_not_come_again():
    queue = RankedQueue(IDS, RANKING)
    order = [entry.i for entry in all_of(queue)]
    log = [Decision(k + 1, IDS[i], "keep") for k, i in enumerate(order[:5])]
    assert [entry.i for entry in queue.next(log, 3, {order[5], order[7]})] == [order[6], order[8], order[9]]
    log.append(Decision(6, IDS[order[2]], "undo", undoes=3))
    assert queue.next(log, 1)[0].i == order[2]


def test_an_end_is_an_end():
    queue = RankedQueue(["a"], np.zeros(1))
    assert queue.next([Decision(1, "a", "keep")], 5) == []


def test_the_estimate_is_what_chance_found_times_what_is_left():
    log = [
        Decision(1, "s0", "discard", "control"),
        Decision(2, "s1", "keep", "control"),
        Decision(3, "s2", "discard", "queue"),
        Decision(4, "s3", "discard", "browse"),
        Decision(5, "elsewhere", "discard", "control"),
    ]
    estimate = RankedQueue(IDS, RANKING).estimate(log)
    assert (estimate.found, estimate.looked_at) == (3, 4)
    assert estimate.expected_left == 0.5 * (N - 4)
    low, high = share_interval(1, 2)
    assert (estimate.low, estimate.high) == (low * (N - 4), high * (N - 4))
    assert (estimate.precision_queue, estimate.precision_control) == (1.0, 0.5)


def test_without_chance_there_is_no_estimate():
    estimate = RankedQueue(IDS, RANKING).estimate([Decision(1, "s0", "keep", "queue")])
    assert estimate.expected_left is estimate.low is estimate.high is estimate.precision_control is None


@pytest.mark.parametrize("hits", [0, 3, 10])
def test_the_interval_solves_its_equation(hits):
    for p in share_interval(hits, 10):
        if 0 < p < 1:
            assert abs(hits / 10 - p) == pytest.approx(1.96 * (p * (1 - p) / 10) ** 0.5)


@pytest.mark.parametrize("share", [-0.1, 1.0])
def test_a_share_is_a_share(share):
    with pytest.raises(ValueError, match="`control_share` must be from 0 to under 1, got"):
        RankedQueue(["a"], np.zeros(1), control_share=share)
