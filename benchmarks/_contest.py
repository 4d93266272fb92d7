"""A contest: every side at its own best setting, then all timed in turns."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from _harness import median_seconds, medians, print_table, relative_error
from _workload import Workload

Work = Callable[[], Tensor]


def in_tf32(work: Work) -> Work:
    """A rival's work with products in tf32, which it has no word for itself."""

    def rounded() -> Tensor:
        torch.set_float32_matmul_precision("high")
        torch.backends.cudnn.allow_tf32 = True
        try:
            return work()
        finally:
            torch.set_float32_matmul_precision("highest")
            torch.backends.cudnn.allow_tf32 = False

    return rounded


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

    def scaled_record(self, timed: Workload, whole: Workload) -> dict[str, Any]:
        """What is kept where it was timed on a part, by the number of gradients in the whole.

        The products with the queries are left out, in favour of the side.
        """
        few, all_ = (len(work.samples) + len(work.queries) for work in (timed, whole))
        return {
            **self.record(),
            "seconds": self.seconds * all_ / few,
            "gradients timed": few,
            "gradients": all_,
        }


def difference(scores: Tensor, others: Tensor) -> float:
    """The median over queries of the relative difference of two sides' scores ``[n, q]``.

    Not that of all together: where the input of a ReLU is zero but for rounding, it opens on one side and
    not on the other, and a query or a sample differs by 1e-3. Whatever a side leaves out shows in all.
    """
    gap = (scores.double() - others.double()).norm(dim=0) / others.double().norm(dim=0)
    return float(gap.median())


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
        once = {name: _once(work, device) for name, work in settings.items()}
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


def _once(work: Work, device: torch.device) -> float:
    """The seconds of one run after another, or infinity where it takes more memory than there is."""
    try:
        return median_seconds(work, device, repeats=1)
    except torch.cuda.OutOfMemoryError:
        torch.cuda.empty_cache()
        return math.inf
