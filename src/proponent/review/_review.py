"""A review as the page sees it: what is asked, as plain records; nothing here knows of HTTP."""

import hashlib
import hmac
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from proponent.review._decisions import VERDICTS, Decision, Decisions, standing
from proponent.review._estimate import ERROR
from proponent.review._items import ReviewItems
from proponent.review._queues import Queues
from proponent.review._summary import summary_of

Record = dict[str, Any]


class Review:
    """Samples, the decisions on them, and the queues they are shown in.

    Which arm a sample of the queue belongs to is not told, for a person who knew would judge what chance
    brought by other standards: the page gets a token that only the log's key can tell apart.

    Attributes:
        items: The samples.
        decisions: The log.
    """

    def __init__(self, items: ReviewItems, decisions: Decisions, seed: int = 0) -> None:
        """Begin, or go on where the log ends.

        Args:
            items: The samples.
            decisions: The log.
            seed: What the control arm follows from.
        """
        self.items = items
        self.decisions = decisions
        self.queues = Queues(items, seed)
        self._places = {id_: i for i, id_ in enumerate(items.ids.tolist())}
        self._known: tuple[tuple[int, str, bool], Record] | None = None
        self._orders: dict[str, npt.NDArray[np.intp]] = {}

    @cached_property
    def run(self) -> str:
        """Tells a browser what it keeps of this review from what it keeps of others."""
        return hashlib.sha256(b"run" + self.decisions.key).hexdigest()[:16]

    @cached_property
    def version(self) -> str:
        """Stands in the addresses of pictures, so that a browser never takes another run's for these."""
        text = "\0".join((self.items.title, *self.items.ids.tolist()))
        return hashlib.sha256(text.encode()).hexdigest()[:12]

    def state(
        self,
        ranking: str | None = None,
        learning: bool | None = None,
        seen: int | None = None,
        session: str = "",
    ) -> Record:
        """What a page begins with, or what other pages did since a number.

        The ranking is the last one used unless given, and so is whether the queue learns.
        """
        log = self.decisions.log()
        last = next((row for row in reversed(log) if row.ranking in self.items.rankings), None)
        if ranking is None:
            ranking = self.items.default if last is None else last.ranking
        if learning is None:
            learning = True if last is None else last.learning
        return {
            "title": self.items.title,
            "kind": self.items.kind,
            "n": len(self.items),
            "rankings": list(self.items.rankings),
            "default": self.items.default,
            "ranking": ranking,
            "learning": learning,
            "can_learn": True,
            "run": self.run,
            "others": [] if seen is None else self._others(log, seen, session),
        } | self._standings(log, ranking, learning)

    def queue(self, count: int, ranking: str, learning: bool, shown: set[int]) -> Record:
        """The samples whose turn it is, which are not shown yet."""
        log = self.decisions.log()
        entries = self.queues.get(ranking, learning).next(log, count, shown)
        stands = self._stands(log)
        before = sum(each.arm != "browse" for each in stands.values()) + len(shown)
        items = [
            self._item(int(entry.i), stands)
            | {"token": self._token(int(entry.i), entry.arm, ranking, learning), "position": before + k}
            for k, entry in enumerate(entries)
        ]
        return {"items": items, "seq": _last(log)}

    def decide(
        self,
        i: int,
        verdict: str,
        ranking: str | None,
        position: int | None,
        seen: int,
        token: str = "",
        **more: Any,
    ) -> Record:
        """Write a decision; on a sample that no queue served, the person went to it."""
        arm, learning = self._arm(i, ranking, token)
        made = self.decisions.append(
            str(self.items.ids[i]),
            verdict,
            arm=arm,
            ranking=ranking or "",
            learning=learning,
            position=position,
            **more,
        )
        log = self.decisions.log()
        others = self._others(log, seen, made.session, made.seq)
        return self._standings(log, ranking or self.items.default, learning) | {"others": others}

    def undo(self, seen: int, session: str = "", request: str | None = None) -> Record:
        """Take back the last decision of this page, or of a time before."""
        undone = self.decisions.undo(session, request)
        log = self.decisions.log()
        stands = self._stands(log)
        back, ranking, learning = None, self.items.default, False
        if undone is not None and undone.id in self._places:
            i = self._places[undone.id]
            item = self._item(i, stands)
            if undone.arm != "browse":  # decided anew, it keeps its place
                token = self._token(i, undone.arm, undone.ranking, undone.learning)
                item |= {"token": token, "position": undone.position}
            back = {"i": i, "verdict": undone.verdict, "now": item["verdict"], "item": item}
            back["ranking"] = undone.ranking or None
            if undone.ranking in self.items.rankings:
                ranking, learning = undone.ranking, undone.learning
        others = {"undone": back, "others": self._others(log, seen, session)}
        return self._standings(log, ranking, learning) | others

    def grid(
        self, ranking: str, offset: int, count: int, verdict: str | None = None, seq: int | None = None
    ) -> Record:
        """Samples in the order of a ranking: all, or those that had one verdict at a time.

        That time is a number of the log, so that the parts of a grid fit together while decisions are made.
        """
        log = self.decisions.log()
        stands = self._stands(log)
        order = self._order(ranking).tolist()
        if verdict is not None:
            then = stands if seq is None else self._stands([row for row in log if row.seq <= seq])
            order = [i for i in order if (_verdict(then.get(i)) or "left") == verdict]
        shown = order[offset : offset + count]
        return {"items": [self._tile(i, stands) for i in shown], "n": len(order)}

    def sample(self, i: int) -> Record:
        """One sample, with all that is known of it."""
        return self._item(i, self._stands(self.decisions.log()))

    def summary(self) -> Record:
        """What the review found, and what the ranking was worth to it."""
        state = self.state()
        log = [row for row in self.decisions.log() if row.id in self._places]
        return {name: state[name] for name in ("title", "n", "estimate")} | summary_of(log)

    def verdicts(self) -> dict[str, Decision]:
        """The decisions that stand on these samples, by id; decisions on samples that are gone are not."""
        log = self.decisions.log()
        return {id_: each for id_, each in standing(log).items() if id_ in self._places}

    def _stands(self, log: Sequence[Decision]) -> dict[int, Decision]:
        return {self._places[id_]: each for id_, each in standing(log).items() if id_ in self._places}

    def _standings(self, log: Sequence[Decision], ranking: str, learning: bool) -> Record:
        """Counts and estimate; pages ask every few seconds, so the last answer is kept."""
        key = (_last(log), ranking, learning)
        if self._known is None or self._known[0] != key:
            stands = self._stands(log)
            counts = dict.fromkeys(VERDICTS, 0) | {"left": len(self.items) - len(stands)}
            for decision in stands.values():
                counts[decision.verdict] += 1
            estimate = asdict(self.queues.get(ranking, learning).estimate(log))
            estimate = {name: _plain(value) for name, value in estimate.items()} | {"level": 1 - ERROR}
            self._known = (key, {"counts": counts, "estimate": estimate, "seq": _last(log)})
        return self._known[1]

    def _others(
        self, log: Sequence[Decision], seen: int, session: str, own: int | None = None
    ) -> list[Record]:
        """What stands of the samples that other pages decided on, each once."""
        stands = self._stands(log)
        rows = [row for row in log if row.seq > seen and row.seq != own and row.id in self._places]
        changed = dict.fromkeys(self._places[row.id] for row in rows if not session or row.session != session)
        last = {self._places[row.id]: row.seq for row in rows}
        return [{"i": i, "verdict": _verdict(stands.get(i)), "seq": last[i]} for i in changed]

    def _token(self, i: int, arm: str, ranking: str, learning: bool) -> str:
        text = "\0".join((str(self.items.ids[i]), arm, ranking, str(learning)))
        return hmac.new(self.decisions.key, text.encode(), "sha256").hexdigest()

    def _arm(self, i: int, ranking: str | None, token: str) -> tuple[str, bool]:
        """The arm that a token stands for, and whether the queue learnt."""
        for arm in ("queue", "control"):
            for learning in (False, True):
                if ranking is not None and token == self._token(i, arm, ranking, learning):
                    return arm, learning
        return "browse", False

    def _order(self, ranking: str) -> npt.NDArray[np.intp]:
        if ranking not in self._orders:
            self._orders[ranking] = np.argsort(-self.items.rankings[ranking], kind="stable")
        return self._orders[ranking]

    def _item(self, i: int, stands: Mapping[int, Decision]) -> Record:
        return self._tile(i, stands) | self._details(i)

    def _tile(self, i: int, stands: Mapping[int, Decision]) -> Record:
        """What a tile of the grid shows: hundreds are asked for at once, and details may lie on a disk."""
        tile = {
            "i": i,
            "id": str(self.items.ids[i]),
            "caption": str(self.items.captions[i]),
            "verdict": _verdict(stands.get(i)),
            "scores": {name: _plain(values[i]) for name, values in self.items.rankings.items()},
        }
        if self.items.kind == "rows":  # their details say it all
            return tile | self._details(i)
        return tile | {"thumb": f"/thumb/{i}?v={self.version}", "full": f"/full/{i}?v={self.version}"}

    def _details(self, i: int) -> Record:
        told = self.items.details(i)
        return {"details": {str(name): _plain(value) for name, value in told.items()}}


def _verdict(decision: Decision | None) -> str | None:
    return None if decision is None else decision.verdict


def _last(log: Sequence[Decision]) -> int:
    return log[-1].seq if log else 0


def _plain(value: Any) -> Any:
    """A value as JSON has it; numbers that are none, or endless, as text."""
    if hasattr(value, "item"):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return "not a number" if math.isnan(value) else ("∞" if value > 0 else "−∞")
    return value
