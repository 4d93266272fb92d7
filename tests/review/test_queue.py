"""The learning queue: where it begins, what it never does, and that a log is enough to see it again."""

import time

import numpy as np
import pytest
from ranked_queue import RankedQueue

from proponent.review._decisions import Decision
from proponent.review._queue import Queue


def planted(n=600, foreign=40, seed=0):
    """Samples in two clusters, the small one foreign, and a ranking that knows little of it."""
    random = np.random.default_rng(seed)
    is_foreign = random.permutation(n) < foreign
    features = random.normal(size=(n, 5))
    features[is_foreign] += [3.0, -3.0, 0.0, 0.0, 0.0]
    return {"loss": random.normal(size=n) + 0.7 * is_foreign}, features, is_foreign


def names(n):
    return [f"s{i:05d}" for i in range(n)]


def make_queue(n=600, foreign=40, seed=0, **more):
    rankings, features, is_foreign = planted(n, foreign)
    return Queue(names(n), rankings, features, seed, **more), is_foreign


class Reader:
    """A person at a page that holds some samples ahead."""

    def __init__(self, queue, discards, ahead=3):
        self.queue, self.discards, self.ahead = queue, discards, ahead
        self.log, self.shown, self.asked = [], [], []

    def look(self, count):
        for _ in range(count):
            on_screen = {entry.i for entry in self.shown}
            came = self.queue.next(self.log, self.ahead - len(self.shown), on_screen)
            self.asked.append((len(self.log), on_screen, self.ahead - len(self.shown), came))
            self.shown += came
            if not self.shown:
                return self
            self.decide(self.shown.pop(0))
        return self

    def decide(self, entry, verdict=None):
        verdict = verdict or ("discard" if self.discards[entry.i] else "keep")
        id_ = names(len(self.discards))[entry.i]
        self.log.append(Decision(len(self.log) + 1, id_, verdict, entry.arm))

    def undo(self):
        last = next(row for row in reversed(self.log) if row.undoes is None)
        self.log.append(Decision(len(self.log) + 1, last.id, "undo", last.arm, undoes=last.seq))
        return int(last.id[1:])


def served(log):
    return [int(row.id[1:]) for row in log]


def test_begins_with_the_ranking_itself():
    queue, _ = make_queue(control_share=0.0)
    ranking = planted()[0]["loss"]
    assert [e.i for e in queue.next([], 50)] == np.argsort(-ranking, kind="stable")[:50].tolist()


def test_equal_samples_come_in_their_order():
    queue = Queue(names(30), {"loss": np.zeros(30)}, np.zeros((30, 2)), control_share=0.0)
    assert [e.i for e in queue.next([], 30)] == list(range(30))


def test_finds_what_the_ranking_does_not():
    queue, foreign = make_queue()
    reader = Reader(queue, foreign).look(120)
    found = foreign[served(reader.log)].sum()
    order = np.argsort(-planted()[0]["loss"], kind="stable")
    assert found >= 36
    assert foreign[order[:120]].sum() <= 24


def test_a_person_who_errs_at_times_still_finds_them():
    queue, foreign = make_queue()
    says = foreign ^ (np.random.default_rng(1).random(600) < 0.05)
    assert foreign[served(Reader(queue, says).look(160).log)].sum() >= 34


def test_without_learning_it_is_the_ranked_queue():
    queue, foreign = make_queue(learn=False, control_share=0.2)
    ranked = RankedQueue(names(600), planted()[0]["loss"], 0, 0.2)
    assert Reader(queue, foreign).look(200).log == Reader(ranked, foreign).look(200).log


def test_learning_can_be_switched_off_and_on_at_any_time():
    learning, foreign = make_queue(control_share=0.0)
    fixed, _ = make_queue(control_share=0.0, learn=False)
    reader = Reader(learning, foreign, ahead=1).look(40)
    seen = set(served(reader.log))
    order = [i for i in np.argsort(-planted()[0]["loss"], kind="stable").tolist() if i not in seen]
    reader.queue = fixed
    reader.look(25)
    assert served(reader.log)[40:] == order[:25]
    reader.queue = learning
    assert foreign[served(reader.look(20).log)[65:]].sum() > foreign[order[25:45]].sum()


def test_looks_at_everything_once():
    queue, foreign = make_queue(n=90, foreign=9)
    reader = Reader(queue, foreign[:90]).look(200)
    assert sorted(served(reader.log)) == list(range(90))
    assert queue.next(reader.log, 5) == []


def test_a_log_is_enough_to_see_the_queue_again():
    queue, foreign = make_queue(seed=3)
    reader = Reader(queue, foreign).look(75)
    reader.undo()
    reader.look(60)
    again, _ = make_queue(seed=3)
    for length, shown, count, came in reader.asked:
        assert again.next(reader.log[:length], count, shown) == came
    backwards, _ = make_queue(seed=3)
    for length, shown, count, came in reader.asked[::-29]:
        assert backwards.next(reader.log[:length], count, shown) == came


def test_another_seed_is_another_control_arm():
    one, other = (Reader(*make_queue(seed=seed)).look(60).log for seed in (0, 1))
    by_chance = [{row.id for row in log if row.arm == "control"} for log in (one, other)]
    assert by_chance[0] != by_chance[1]
    assert all(by_chance)


def test_what_is_on_screen_does_not_come_again():
    queue, foreign = make_queue()
    log = Reader(queue, foreign).look(30).log
    first = queue.next(log, 8)
    more = queue.next(log, 8, {entry.i for entry in first})
    assert not {e.i for e in first} & {e.i for e in more}
    assert [e.i for e in queue.next(log, 16)][:8] == [e.i for e in first]


def test_an_undone_sample_comes_first_in_its_arm():
    queue, foreign = make_queue()
    reader = Reader(queue, foreign, ahead=1)
    arms = set()
    while len(arms) < 2:
        reader.look(1)
        last = reader.log[-1]
        undone = reader.undo()
        entry = queue.next(reader.log, 1)[0]
        assert (entry.i, entry.arm) == (undone, last.arm)
        reader.look(1)
        arms.add(last.arm)


def test_an_undone_answer_is_forgotten():
    queue, foreign = make_queue(control_share=0.0)
    reader = Reader(queue, foreign).look(40)
    before = queue.next(reader.log, 30)
    for _ in range(10):  # ten rows: a step of learning
        reader.decide(before[0], "discard")
        reader.undo()
    assert queue.estimate(reader.log).learnt_from == 40


def test_browsed_samples_teach_and_do_not_come():
    queue, foreign = make_queue(control_share=0.0)
    seen = [*np.flatnonzero(foreign)[:20].tolist(), *np.flatnonzero(~foreign)[:40].tolist()]
    log = [
        Decision(k + 1, names(600)[i], "discard" if foreign[i] else "keep", "browse")
        for k, i in enumerate(seen)
    ]
    came = [e.i for e in queue.next(log, 20)]
    assert foreign[came].sum() >= 17
    assert not {int(row.id[1:]) for row in log} & set(came)


def test_a_browsed_sample_that_was_undone_is_not_chances_to_bring():
    queue, _ = make_queue(n=40, foreign=4, control_share=1.0)
    first = queue.next([], 1)[0]
    log = [Decision(1, names(40)[first.i], "keep", "browse")]
    log.append(Decision(2, names(40)[first.i], "undo", "browse", undoes=1))
    rest = queue.next(log, 40)
    assert rest[-1].i == first.i
    assert [e.arm for e in rest] == ["control"] * 39 + ["queue"]


def test_unsure_teaches_nothing():
    queue, _ = make_queue(control_share=0.0)
    log = [Decision(k + 1, names(600)[k], "unsure", "queue") for k in range(30)]
    assert queue.estimate(log).learnt_from == 0
    gone = set(range(30))
    order = [i for i in np.argsort(-planted()[0]["loss"], kind="stable").tolist() if i not in gone]
    assert [e.i for e in queue.next(log, 20)] == order[:20]


def test_decisions_on_other_samples_are_nothing_to_it():
    queue, _ = make_queue()
    log = [Decision(k + 1, f"gone{k}", "discard", "queue") for k in range(20)]
    assert [e.i for e in queue.next(log, 10)] == [e.i for e in queue.next([], 10)]
    assert queue.estimate(log).looked_at == 0


def test_several_blocks_of_features():
    rankings, features, foreign = planted()
    blocks = {"latents": features, "residuals": features[:, :1], "pixels": np.zeros((600, 2))}
    reader = Reader(Queue(names(600), rankings, blocks), foreign).look(120)
    assert foreign[served(reader.log)].sum() >= 36


def test_learns_from_rankings_alone():
    rankings, features, foreign = planted()
    rankings |= {f"column {k}": features[:, k] for k in range(2)}
    reader = Reader(Queue(names(600), rankings, default="loss"), foreign).look(120)
    assert foreign[served(reader.log)].sum() >= 34


def test_samples_far_down_the_ranking_come_after_those_that_are_compared(monkeypatch):
    monkeypatch.setattr("proponent.review._queue._MOST_COMPARED", 200)
    queue, foreign = make_queue(control_share=0.1)
    reader = Reader(queue, foreign).look(600)
    assert sorted(served(reader.log)) == list(range(600))
    order = np.argsort(-planted()[0]["loss"], kind="stable").tolist()
    late = [int(row.id[1:]) for row in reader.log[250:] if row.arm == "queue"]
    assert set(late) <= set(order[200:])


def test_is_quick_at_ten_thousand():
    n = 10_000
    random = np.random.default_rng(0)
    features = {"pixels": random.normal(size=(n, 60)), "latents": random.normal(size=(n, 16))}
    queue = Queue(names(n), {"loss": random.normal(size=n)}, features)
    reader = Reader(queue, random.random(n) < 0.3, ahead=1).look(200)
    seconds = []
    for _ in range(5):
        reader.look(9)
        start = time.process_time()
        reader.look(1)  # the step of learning among it
        seconds.append(time.process_time() - start)
    assert np.median(seconds) < 0.1


def test_estimate_before_any_decision():
    estimate = make_queue()[0].estimate([])
    assert (estimate.found, estimate.left, estimate.control) == (0, 600, 0)
    assert estimate.expected_left is estimate.low is estimate.high is estimate.at_most is None
    assert "until chance has brought a sample" in estimate.words


def test_estimate_when_all_was_looked_at():
    queue, foreign = make_queue(n=60, foreign=6)
    log = Reader(queue, foreign[:60]).look(60).log
    estimate = queue.estimate(log)
    assert (estimate.low, estimate.expected_left, estimate.high, estimate.at_most) == (0, 0, 0, 0)
    assert estimate.words == "You have looked at all samples."
    assert estimate.found == foreign.sum()


def test_estimate_tells_the_arms_apart():
    queue, foreign = make_queue()
    estimate = queue.estimate(Reader(queue, foreign).look(60).log)
    assert estimate.precision_queue > estimate.precision_control
    assert estimate.low <= estimate.expected_left <= estimate.high <= estimate.at_most
    assert estimate.learnt_from == 60


BAD = [
    ({"ids": ["a", "a"]}, "`ids` must be different"),
    ({"ids": [], "rankings": {"loss": np.zeros(0)}, "features": None}, "at least one"),
    ({"default": "beauty"}, "must be one of the rankings loss, got 'beauty'"),
    ({"rankings": {}}, "must be one of the rankings"),
    ({"rankings": {"loss": np.zeros(3)}}, "must have 2 numbers"),
    ({"rankings": {"loss": np.array([0.0, np.nan])}}, "none of them NaN"),
    ({"features": np.zeros((3, 1))}, r"finite numbers \[2, f\], got shape \(3, 1\) for 'pixels'"),
    ({"features": {"latents": np.zeros(2)}}, r"got shape \(2,\) for 'latents'"),
    ({"features": np.full((2, 1), np.inf)}, "must be finite"),
    ({"control_share": 1.5}, "`control_share` must be from 0 to 1, got 1.5"),
]


@pytest.mark.parametrize(("wrong", "message"), BAD)
def test_refuses(wrong, message):
    right = {"ids": ["a", "b"], "rankings": {"loss": np.zeros(2)}, "features": np.zeros((2, 1))}
    with pytest.raises(ValueError, match=message):
        Queue(**right | wrong)
