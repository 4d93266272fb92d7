"""A contest: every side at its own best setting, then all timed in turns."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from _harness import medians, print_table, relative_error

Work = Callable[[], Tensor]


@dataclass(frozen=True)
class Entry:
    """How one side came out.

    Attributes:
        best_at: Its best setting.
        seconds: The median of the repeats.
        error: Of its first scores, against float64.
        scores: What it computed.
    """

    best_at: str
    seconds: float
    error: float
    scores: Tensor

    def record(self) -> dict[str, Any]:
        """What is kept of it."""
        return {"best at": self.best_at, "seconds": self.seconds, "error against float64": self.error}


def contest(
    sides: Mapping[str, Mapping[str, Work]],
    truth: Tensor,
    device: torch.device,
    title: str,
    repeats: int = 5,
) -> dict[str, Entry]:
    """Find each side's quickest setting by one run, and time those against one another.

    Args:
        sides: For each side its settings, by name.
        truth: The first scores, computed in float64.
        device: Where it happens.
        title: What the printed table is called.
        repeats: How often each side is timed at its best setting.
    """
    best, works = {}, {}
    for side, settings in sides.items():
        once = medians(settings, device, repeats=1)
        best[side] = min(once, key=lambda name: once[name])
        works[side] = settings[best[side]]
    seconds = medians(works, device, repeats, warm_ups=0)  # each has run just before
    entries = {}
    for side, work in works.items():
        scores = work()
        error = relative_error(scores[tuple(slice(size) for size in truth.shape)], truth)
        entries[side] = Entry(best[side], seconds[side], error, scores)
    rows = [(side, entry.best_at, entry.seconds, entry.error) for side, entry in entries.items()]
    print_table(title, ("", "best at", "seconds", "error against float64"), rows)
    return entries
