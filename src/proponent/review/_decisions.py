"""The log of decisions: an SQLite file that is only ever appended to.

What a person decided is the one thing here that can't be computed again. So a decision is on the disk
before it is answered for, an undo is a row like any other, and nothing changes or removes a row: what
stands, and every order in which samples were shown, follow from the log.
"""

import sqlite3
import time
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields
from pathlib import Path
from threading import Lock
from typing import Literal

Verdict = Literal["keep", "discard", "unsure"]
Arm = Literal["queue", "control", "browse"]

VERDICTS: tuple[Verdict, ...] = ("keep", "discard", "unsure")
ARMS: tuple[Arm, ...] = ("queue", "control", "browse")

_FORMAT = 1  # of the file; kept in SQLite's `user_version`
_SCHEMA = (
    """CREATE TABLE decisions (
        seq INTEGER PRIMARY KEY AUTOINCREMENT,
        id TEXT NOT NULL,
        verdict TEXT NOT NULL CHECK (verdict IN ('keep', 'discard', 'unsure', 'undo')),
        arm TEXT NOT NULL CHECK (arm IN ('queue', 'control', 'browse')),
        ranking TEXT NOT NULL,
        learning INTEGER NOT NULL CHECK (learning IN (0, 1)),
        position INTEGER,
        at REAL NOT NULL,
        session TEXT NOT NULL,
        note TEXT NOT NULL,
        undoes INTEGER UNIQUE REFERENCES decisions (seq),
        request TEXT UNIQUE,
        CHECK ((verdict = 'undo') = (undoes IS NOT NULL))
    )""",
    "CREATE TABLE review (key BLOB NOT NULL, began REAL NOT NULL)",
    "INSERT INTO review VALUES (randomblob(32), julianday('now'))",
    """CREATE TRIGGER decisions_stay BEFORE DELETE ON decisions
        BEGIN SELECT RAISE(ABORT, 'decisions are never removed'); END""",
    """CREATE TRIGGER decisions_stay_as_they_are BEFORE UPDATE ON decisions
        BEGIN SELECT RAISE(ABORT, 'decisions are never changed'); END""",
    f"PRAGMA user_version = {_FORMAT}",
)


@dataclass(frozen=True)
class Decision:
    """A row of the log.

    Attributes:
        seq: Its number, from 1, rising.
        id: The sample.
        verdict: ``"keep"``, ``"discard"``, ``"unsure"``, or ``"undo"``.
        arm: Why the sample was shown: its place in the queue, chance, or because somebody went to it.
        ranking: What the queue was sorted by.
        learning: Whether the queue learnt from the decisions before.
        position: How many samples the queue had shown before it; none outside the queue.
        at: When, in seconds since 1970.
        session: Which page it came from.
        note: What the person wrote beside it.
        undoes: The number of the decision that this row takes back.
        request: What the page called the request that this row answers.
    """

    seq: int
    id: str
    verdict: str
    arm: str = "browse"
    ranking: str = ""
    learning: bool = False
    position: int | None = None
    at: float = 0.0
    session: str = ""
    note: str = ""
    undoes: int | None = None
    request: str | None = None


def standing(log: Iterable[Decision]) -> dict[str, Decision]:
    """The decision that stands for each sample: its last one that was not taken back.

    >>> log = [Decision(1, "a", "keep"), Decision(2, "a", "discard"), Decision(3, "b", "unsure")]
    >>> {id_: decision.verdict for id_, decision in standing(log).items()}
    {'a': 'discard', 'b': 'unsure'}
    >>> {id_: each.verdict for id_, each in standing([*log, Decision(4, "a", "undo", undoes=2)]).items()}
    {'a': 'keep', 'b': 'unsure'}

    Args:
        log: Decisions in the order of their numbers.

    Returns:
        Decisions by sample, in the order of their numbers.
    """
    rows = list(log)
    undone = {row.undoes for row in rows if row.undoes is not None}
    stands: dict[str, Decision] = {}
    for row in rows:
        if row.undoes is None and row.seq not in undone:
            stands.pop(row.id, None)  # so that the order is that of the decisions that stand
            stands[row.id] = row
    return stands


class Decisions:
    """The decisions on the samples of a run, in a file.

    Several pages, threads and processes may append at once: each row is one transaction, and numbers
    become visible in their order, so that who asks for what came `after` a number misses nothing.

    >>> import tempfile
    >>> from contextlib import closing
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with closing(Decisions(Path(folder) / "review.sqlite")) as decisions:
    ...         _ = decisions.append("a.png", "discard")
    ...         _ = decisions.append("b.png", "keep")
    ...         undone = decisions.undo()
    ...         decisions.current()
    {'a.png': 'discard'}
    >>> undone.id
    'b.png'

    Attributes:
        path: The file.
        key: A secret that was drawn when the log began: whatever the page is served from later, it is there.
    """

    def __init__(self, path: str | Path, patience: float = 10.0) -> None:
        """Open a log, or begin one.

        Args:
            path: The file; missing folders are made.
            patience: Seconds to wait for another process that writes.

        Raises:
            ValueError: The file is no log of decisions, or one of a newer version.
            OSError: It can't be opened or written.
        """
        self.path = Path(path)
        self._lock = Lock()
        self._rows: list[Decision] = []
        self.path.parent.mkdir(parents=True, exist_ok=True)
        try:
            self._connection = sqlite3.connect(
                self.path, timeout=patience, isolation_level=None, check_same_thread=False
            )
        except sqlite3.OperationalError as error:
            raise OSError(f"The log of decisions `{self.path}` can't be opened: {error}.") from error
        try:
            self._prepare()
        except BaseException:
            self._connection.close()
            raise
        (self.key,) = self._connection.execute("SELECT key FROM review").fetchone()
        self._opened_at = max((row.seq for row in self.log()), default=0)

    def append(
        self,
        id: str,
        verdict: str,
        *,
        arm: str = "browse",
        ranking: str = "",
        learning: bool = False,
        position: int | None = None,
        session: str = "",
        note: str = "",
        request: str | None = None,
    ) -> Decision:
        """Write a decision; it is on the disk when this returns.

        Args:
            id: The sample.
            verdict: ``"keep"``, ``"discard"`` or ``"unsure"``.
            arm: Why the sample was shown.
            ranking: What the queue was sorted by.
            learning: Whether the queue learnt.
            position: How many samples the queue had shown before it.
            session: Which page it comes from.
            note: What the person wrote beside it.
            request: What the page calls this; a second request of that name changes nothing, so that a page
                may ask again when no answer came.

        Returns:
            The row.

        Raises:
            ValueError: There is no such verdict or arm.
            OSError: It can't be written; nothing of it was.
        """
        if verdict not in VERDICTS:
            raise ValueError(f"`verdict` must be one of {', '.join(VERDICTS)}, got {verdict!r}.")
        if arm not in ARMS:
            raise ValueError(f"`arm` must be one of {', '.join(ARMS)}, got {arm!r}.")
        place = {"arm": arm, "ranking": ranking, "learning": learning, "position": position}
        with self._writing():
            return self._answered(request) or self._insert(
                id, verdict, **place, session=session, note=note, undoes=None, request=request
            )

    def undo(self, session: str | None = None, request: str | None = None) -> Decision | None:
        """Take back the newest decision that stands, by a row that says so.

        Args:
            session: Only decisions of this page, and those from before this log was opened; all of them
                unless given. So of two pages none takes back what the other is deciding.
            request: As for `append`.

        Returns:
            The decision that was taken back; none if there is none.

        Raises:
            OSError: It can't be written; nothing of it was.
        """
        with self._writing():
            rows = self._read()
            if (answered := self._answered(request)) is not None:
                return next(row for row in rows if row.seq == answered.undoes)
            undone = {row.undoes for row in rows if row.undoes is not None}
            last = next(
                (
                    row
                    for row in reversed(rows)
                    if row.undoes is None
                    and row.seq not in undone
                    and (session is None or row.session == session or row.seq <= self._opened_at)
                ),
                None,
            )
            if last is not None:
                where = {name: getattr(last, name) for name in ("arm", "ranking", "learning", "position")}
                self._insert(
                    last.id, "undo", **where, session=session or "", note="", undoes=last.seq, request=request
                )
            return last

    def log(self, after: int = 0) -> list[Decision]:
        """The rows whose number is over `after`, those of other processes too."""
        with self._lock:
            rows = self._read()
            return rows[bisect_right(rows, after, key=lambda row: row.seq) :]

    def current(self) -> dict[str, str]:
        """The verdict that stands, by sample."""
        return {id_: decision.verdict for id_, decision in standing(self.log()).items()}

    def close(self) -> None:
        """Close the file; SQLite then folds its side files into it."""
        with self._lock:
            self._connection.close()

    def _prepare(self) -> None:
        """Make the table where there is none.

        Raises:
            ValueError: The file is no log of decisions, or one of a newer version.
            OSError: It can't be written.
        """
        try:
            self._connection.execute("PRAGMA journal_mode = WAL")  # readers and the writer don't wait
            self._connection.execute("PRAGMA synchronous = FULL")  # a decision outlives a power cut
            with self._transaction():  # two processes may begin a log at once
                tables = {name for (name,) in self._connection.execute("SELECT name FROM sqlite_master")}
                if not tables:
                    for statement in _SCHEMA:
                        self._connection.execute(statement)
            (version,) = self._connection.execute("PRAGMA user_version").fetchone()
        except sqlite3.OperationalError as error:
            raise OSError(f"The log of decisions `{self.path}` can't be opened: {error}.") from error
        except sqlite3.DatabaseError as error:
            raise ValueError(
                f"`{self.path}` must be a log of decisions, but {error}. Move it away."
            ) from error
        if tables and "decisions" not in tables:
            raise ValueError(
                f"`{self.path}` must be a log of decisions, but is an SQLite file of another kind. "
                "Move it away."
            )
        if version != _FORMAT:
            raise ValueError(
                f"`{self.path}` is a log of decisions in format {version}, but this version of proponent "
                f"reads format {_FORMAT}. Use the version that wrote it."
            )

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        """One transaction that takes the writer's place at its start, so that what it reads still holds."""
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            yield
            self._connection.execute("COMMIT")
        finally:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")

    @contextmanager
    def _writing(self) -> Iterator[None]:
        try:
            with self._lock, self._transaction():
                yield
        except sqlite3.Error as error:
            raise OSError(
                f"The decision could not be written to `{self.path}`: {error}. It is not kept; "
                "decide again when the cause is gone."
            ) from error

    def _answered(self, request: str | None) -> Decision | None:
        """The row that answered a request already."""
        return None if request is None else next((r for r in self._read() if r.request == request), None)

    def _insert(self, id_: str, verdict: str, **more: object) -> Decision:
        row = {"id": id_, "verdict": verdict, "at": time.time()} | more
        names, marks = ", ".join(row), ", ".join("?" * len(row))
        command = f"INSERT INTO decisions ({names}) VALUES ({marks})"
        seq = self._connection.execute(command, tuple(row.values())).lastrowid
        return Decision(seq=seq, **row)  # type: ignore[arg-type]

    def _read(self) -> list[Decision]:
        """All rows; only those that are new are read from the file."""
        last = self._rows[-1].seq if self._rows else 0
        names = [field.name for field in fields(Decision)]
        found = self._connection.execute(
            f"SELECT {', '.join(names)} FROM decisions WHERE seq > ? ORDER BY seq", (last,)
        )
        for row in found:
            values = dict(zip(names, row, strict=True))
            self._rows.append(Decision(**values | {"learning": bool(values["learning"])}))
        return self._rows
