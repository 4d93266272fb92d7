import json
import os
import signal
import sqlite3
import statistics
import subprocess
import sys
import threading
import time
from contextlib import closing

import pytest

from proponent.review import Decision, Decisions, standing


@pytest.fixture
def path(tmp_path):
    return tmp_path / "run" / "review.sqlite"


@pytest.fixture
def decisions(path):
    with closing(Decisions(path)) as opened:
        yield opened


def test_a_decision_is_a_row(decisions):
    made = decisions.append(
        "a", "discard", arm="control", ranking="loss", learning=True, position=3, session="s", note="odd"
    )
    assert made == decisions.log()[0]
    assert made.seq == 1
    assert abs(made.at - time.time()) < 60
    assert (made.id, made.verdict, made.arm, made.ranking) == ("a", "discard", "control", "loss")
    assert (made.learning, made.position, made.session, made.note) == (True, 3, "s", "odd")


def test_the_log_goes_on_where_it_was_closed(path):
    with closing(Decisions(path)) as first:
        first.append("a", "keep")
        key = first.key
    with closing(Decisions(path)) as second:
        second.append("b", "discard")
        assert second.current() == {"a": "keep", "b": "discard"}
        assert [row.seq for row in second.log()] == [1, 2]
        assert [row.id for row in second.log(after=1)] == ["b"]
        assert second.log(after=2) == []
        assert second.key == key


def test_the_last_word_stands(decisions):
    for verdict in ("keep", "unsure", "discard"):
        decisions.append("a", verdict)
    assert decisions.current() == {"a": "discard"}


def test_an_undo_is_a_row_and_brings_back_what_stood(decisions):
    decisions.append("a", "keep")
    decisions.append("a", "discard", arm="queue", ranking="loss", position=4)
    assert decisions.undo().verdict == "discard"
    assert decisions.current() == {"a": "keep"}
    row = decisions.log()[-1]
    assert (row.verdict, row.undoes, row.arm, row.ranking, row.position) == ("undo", 2, "queue", "loss", 4)
    assert decisions.undo().verdict == "keep"
    assert decisions.undo() is None
    assert decisions.current() == {}
    assert len(decisions.log()) == 4


def test_an_undone_sample_can_be_decided_again(decisions):
    decisions.append("a", "keep")
    decisions.undo()
    decisions.append("a", "discard")
    assert decisions.current() == {"a": "discard"}


def test_undo_takes_back_only_what_the_page_did(decisions):
    decisions.append("a", "keep", session="left")
    decisions.append("b", "discard", session="right")
    assert decisions.undo("left").id == "a"
    assert decisions.undo("left") is None
    assert decisions.current() == {"b": "discard"}


def test_undo_reaches_back_before_the_log_was_opened(path):
    with closing(Decisions(path)) as first:
        first.append("a", "keep", session="yesterday")
    with closing(Decisions(path)) as second:
        second.append("b", "keep", session="today")
        assert second.undo("today").id == "b"
        assert second.undo("today").id == "a"


def test_a_request_that_is_repeated_changes_nothing(decisions):
    first = decisions.append("a", "keep", request="1")
    assert decisions.append("a", "keep", request="1") == first
    decisions.append("b", "keep")
    assert decisions.undo(request="2").id == "b"
    assert decisions.undo(request="2").id == "b"
    assert decisions.current() == {"a": "keep"}
    assert len(decisions.log()) == 3


def test_two_logs_on_one_file_see_each_other(path):
    with closing(Decisions(path)) as left, closing(Decisions(path)) as right:
        left.append("a", "keep")
        right.append("b", "discard")
        left.append("c", "unsure")
        assert left.current() == right.current() == {"a": "keep", "b": "discard", "c": "unsure"}
        assert [row.id for row in right.log(after=1)] == ["b", "c"]
        assert left.undo().id == "c"
        assert right.undo().id == "b"


def test_threads_and_logs_lose_nothing(path):
    def write(opened, name):
        for k in range(25):
            opened.append(f"{name}-{k}", "keep")

    with closing(Decisions(path)) as left, closing(Decisions(path)) as right:
        jobs = [
            threading.Thread(target=write, args=(opened, f"{opened is left}{k}"))
            for opened in (left, right)
            for k in range(2)
        ]
        for job in jobs:
            job.start()
        for job in jobs:
            job.join()
        assert [row.seq for row in left.log()] == list(range(1, 101))
        assert len(right.current()) == 100


WRITER = """
import sys
from proponent.review import Decisions
decisions = Decisions(sys.argv[1])
for k in range(100_000):
    decisions.append(f"{sys.argv[2]}-{k}", "keep")
    print(k, flush=True)
"""


def test_a_kill_in_the_middle_of_writing_loses_nothing(path):
    """Two processes write, both are killed; every decision that was answered for is there."""
    writers = [
        subprocess.Popen([sys.executable, "-c", WRITER, str(path), name], stdout=subprocess.PIPE, text=True)
        for name in ("one", "two")
    ]
    answered = []
    for writer in writers:
        for _ in range(20):
            writer.stdout.readline()
    for name, writer in zip(("one", "two"), writers, strict=True):
        os.kill(writer.pid, signal.SIGKILL)
        rest = writer.stdout.read().split("\n")[:-1]
        writer.stdout.close()
        writer.wait()
        answered += [f"{name}-{k}" for k in [*range(20), *map(int, rest)]]
    assert len(answered) >= 40
    with closing(Decisions(path)) as opened:
        assert set(answered) <= set(opened.current())
        # What was written but not answered for yet is one row a process at most.
        assert len(opened.current()) <= len(answered) + 2
        opened.append("after", "discard")
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)


def test_a_decision_is_on_disk_well_under_50_ms(decisions):
    took = []
    for k in range(200):
        began = time.perf_counter()
        decisions.append(f"{k}", "keep")
        took.append(time.perf_counter() - began)
    assert statistics.median(took) < 0.05


def test_rows_are_never_changed_or_removed(decisions, path):
    decisions.append("a", "keep")
    with closing(sqlite3.connect(path)) as connection:
        with pytest.raises(sqlite3.IntegrityError, match="never removed"):
            connection.execute("DELETE FROM decisions")
        with pytest.raises(sqlite3.IntegrityError, match="never changed"):
            connection.execute("UPDATE decisions SET verdict = 'discard'")


def test_the_file_itself_refuses_other_verdicts(decisions, path):
    with closing(sqlite3.connect(path)) as connection, pytest.raises(sqlite3.IntegrityError, match="CHECK"):
        connection.execute(
            "INSERT INTO decisions (id, verdict, arm, ranking, learning, at, session, note) "
            "VALUES ('a', 'delete', 'queue', '', 0, 0, '', '')"
        )


@pytest.mark.parametrize("verdict", ["", "Keep", "delete", "undo"])
def test_unknown_verdicts_are_refused(decisions, verdict):
    with pytest.raises(ValueError, match="`verdict` must be one of keep, discard, unsure, got"):
        decisions.append("a", verdict)
    assert decisions.log() == []


def test_unknown_arms_are_refused(decisions):
    with pytest.raises(ValueError, match="`arm` must be one of queue, control, browse, got 'chance'"):
        decisions.append("a", "keep", arm="chance")


def test_an_id_is_only_data(decisions):
    hostile = "'); DROP TABLE decisions; --\n<script>"
    decisions.append(hostile, "discard")
    assert decisions.current() == {hostile: "discard"}


def test_a_file_of_another_kind_is_refused(tmp_path):
    (tmp_path / "review.sqlite").write_text("no database, but long enough to be looked at " * 10)
    with pytest.raises(ValueError, match=r"must be a log of decisions, but file is not a database"):
        Decisions(tmp_path / "review.sqlite")


def test_another_database_is_refused_and_left_as_it_is(tmp_path):
    with closing(sqlite3.connect(tmp_path / "other.sqlite")) as connection:
        connection.execute("CREATE TABLE letters (a)")
    with pytest.raises(ValueError, match="is an SQLite file of another kind"):
        Decisions(tmp_path / "other.sqlite")
    with closing(sqlite3.connect(tmp_path / "other.sqlite")) as connection:
        assert connection.execute("SELECT name FROM sqlite_master").fetchall() == [("letters",)]


def test_a_newer_log_is_refused(path):
    Decisions(path).close()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA user_version = 2")
    with pytest.raises(ValueError, match="in format 2, but this version of proponent reads format 1"):
        Decisions(path)


def test_a_folder_is_no_log(tmp_path):
    with pytest.raises(OSError, match="can't be opened: unable to open database file"):
        Decisions(tmp_path)


def test_a_log_that_another_holds_can_not_be_opened(path):
    Decisions(path).close()
    with closing(sqlite3.connect(path, isolation_level=None)) as holder:
        holder.execute("BEGIN EXCLUSIVE")
        with pytest.raises(OSError, match="can't be opened: database is locked"):
            Decisions(path, patience=0.01)


def test_a_decision_that_the_disk_does_not_take_is_not_kept(path):
    with closing(Decisions(path)) as opened:
        opened.append("a", "keep")
        (pages,) = opened._connection.execute("PRAGMA page_count").fetchone()
        opened._connection.execute(f"PRAGMA max_page_count = {pages}")
        with pytest.raises(OSError, match=r"could not be written.*database or disk is full"):
            opened.append("b" * 100_000, "keep")
        assert opened.current() == {"a": "keep"}
        opened._connection.execute("PRAGMA max_page_count = 100000")
        assert opened.append("b" * 100_000, "keep").seq == 2


def test_a_decision_waits_for_who_writes_and_gives_up(path):
    with (
        closing(Decisions(path, patience=0.01)) as opened,
        closing(sqlite3.connect(path, isolation_level=None)) as holder,
    ):
        holder.execute("BEGIN IMMEDIATE")
        with pytest.raises(OSError, match=r"could not be written.*database is locked.*It is not kept"):
            opened.append("a", "keep")
        with pytest.raises(OSError, match="database is locked"):
            opened.undo()
        holder.execute("ROLLBACK")
        assert opened.append("a", "keep").seq == 1


def test_what_stands_can_be_replayed_from_plain_rows(decisions):
    for k in range(20):
        decisions.append(f"{k % 7}", ("keep", "discard", "unsure")[k % 3])
        if k % 4 == 0:
            decisions.undo()
    rows = [Decision(**json.loads(json.dumps(vars(row)))) for row in decisions.log()]
    assert {id_: row.verdict for id_, row in standing(rows).items()} == decisions.current()
