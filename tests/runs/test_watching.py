import time
from contextlib import contextmanager

from proponent.runs._telling import bars
from proponent.runs._watching import watched


def test_finished_tasks_are_counted_while_they_are_made(tmp_path):
    seen, ticks = [], []

    @contextmanager
    def progress(what, total):
        assert (what, total) == ("tasks", 2)
        yield lambda done, note: seen.append(done)

    (tmp_path / "tasks").mkdir()
    with watched(tmp_path, "tasks", 2, progress, lambda: ticks.append(1)):
        (tmp_path / "tasks" / "a.npz").touch()
        began = time.monotonic()
        while 1 not in seen and time.monotonic() - began < 30:
            time.sleep(0.01)
        (tmp_path / "tasks" / "b.npz").touch()
    assert seen[-1] == 2
    assert ticks


def test_bars_take_any_course():
    with bars("steps", 3) as advance:
        advance(1, "loss 2")
        advance(3, "")
