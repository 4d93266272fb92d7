"""Runs a benchmark: measures, writes its record, and fails where the claim does not hold.

A script defines one `Benchmark` and ends with ``sys.exit(BENCHMARK.main())``. On the command line:

    python benchmarks/NAME.py [--out FOLDER] [--date YYYY-MM-DD] [--seed N] [--device cuda] [--smoke]

The record is written before the claim is asserted, so a benchmark that fails leaves its numbers too.
"""

import argparse
import datetime
import importlib.metadata
import math
import os
import platform
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

import proponent
from proponent.storage import write_json

RESULTS = Path(__file__).parent / "results"
PEERS = ("torch", "numpy", "scikit-learn", "captum")


@dataclass(frozen=True)
class Bound:
    """What a measured number must reach."""

    word: str
    value: float

    def is_met(self, measured: float) -> bool:
        """Whether a number reaches it; NaN never does."""
        return measured <= self.value if self.word == "at most" else measured >= self.value

    def __str__(self) -> str:
        return f"{self.word} {self.value:g}"


def at_most(value: float) -> Bound:
    """A number that must not exceed `value`."""
    return Bound("at most", value)


def at_least(value: float) -> Bound:
    """A number that must reach `value`."""
    return Bound("at least", value)


@dataclass(frozen=True)
class Settings:
    """How a benchmark is run.

    Attributes:
        device: Where to measure.
        seed: What all random numbers come from.
        smoke: Whether to run everything at tiny size, to see that it runs. Speed is then not judged.
    """

    device: torch.device
    seed: int = 0
    smoke: bool = False


@dataclass(frozen=True)
class Outcome:
    """What a benchmark found.

    Attributes:
        measured: Numbers by name; those that the goal names must be among them.
        rivals: The same for the other sides, by their names.
    """

    measured: Mapping[str, Any]
    rivals: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Benchmark:
    """A claim with the measurement that proves it.

    Attributes:
        name: The script's name; the record is ``NAME.json``.
        claim: One sentence.
        goal: What the measured numbers must reach, by name.
        measure: The measurement.
        needs_gpu: Whether the claim is about a GPU. A smoke run does without.
    """

    name: str
    claim: str
    goal: Mapping[str, Bound]
    measure: Callable[[Settings], Outcome]
    needs_gpu: bool = False

    def main(self, arguments: Sequence[str] | None = None) -> int:
        """Run from the command line; the exit code is 1 where the claim does not hold."""
        parser = argparse.ArgumentParser(self.name, description=self.claim)
        parser.add_argument("--out", type=Path, default=RESULTS, help="folder for the record")
        parser.add_argument("--date", default=datetime.date.today().isoformat())
        parser.add_argument("--seed", type=int, default=0)
        parser.add_argument("--device", default="cuda" if self.needs_gpu else "cpu")
        parser.add_argument("--smoke", action="store_true", help="tiny sizes, no record, no judgement")
        chosen = parser.parse_args(arguments)
        wants_gpu = chosen.device.startswith("cuda")
        if wants_gpu and not torch.cuda.is_available():
            if not chosen.smoke:
                parser.error(f"{self.name} must run on a GPU, and torch sees none")
            chosen.device = "cpu"
        settings = Settings(torch.device(chosen.device), chosen.seed, chosen.smoke)
        outcome = self.measure(settings)
        verdicts = {name: bound.is_met(outcome.measured[name]) for name, bound in self.goal.items()}
        print_table(
            f"{self.name} on {device_name(settings.device)}",
            ("", "measured", "goal", "holds"),
            [(name, outcome.measured[name], str(self.goal[name]), ok) for name, ok in verdicts.items()],
        )
        if settings.smoke:
            return 0
        write_json(chosen.out / f"{self.name}.json", self._record(outcome, verdicts, settings, chosen.date))
        return 0 if all(verdicts.values()) else 1

    def _record(
        self, outcome: Outcome, verdicts: Mapping[str, bool], settings: Settings, date: str
    ) -> dict[str, Any]:
        return {
            "claim": self.claim,
            "goal": {name: str(bound) for name, bound in self.goal.items()},
            "measured": _rounded(outcome.measured),
            "holds": all(verdicts.values()),
            "rivals": _rounded(outcome.rivals),
            "device": device_name(settings.device),
            "versions": versions(),
            "seed": settings.seed,
            "date": date,
        }


def medians(
    works: Mapping[str, Callable[[], object]],
    device: torch.device,
    repeats: int = 5,
    warm_ups: int = 1,
) -> dict[str, float]:
    """Time several works in turns, so that what slows the machine down slows all of them.

    Args:
        works: What to time, by name.
        device: CUDA events are used on a GPU, the wall clock elsewhere.
        repeats: How often each is timed.
        warm_ups: How often each runs untimed before.

    Returns:
        The median seconds of each.
    """
    for work in works.values():
        for _ in range(warm_ups):
            work()
    seconds: dict[str, list[float]] = {name: [] for name in works}
    for _ in range(repeats):
        for name, work in works.items():
            seconds[name].append(_seconds(work, device))
    return {name: statistics.median(times) for name, times in seconds.items()}


def median_seconds(
    work: Callable[[], object], device: torch.device, repeats: int = 5, warm_ups: int = 1
) -> float:
    """Time one work: the median of the repeats, in seconds."""
    return medians({"": work}, device, repeats, warm_ups)[""]


def relative_error(found: Tensor, truth: Tensor) -> float:
    """The norm of the difference over the norm of the truth, in float64."""
    found, truth = found.detach().double().cpu(), truth.detach().double().cpu()
    return float((found - truth).norm() / truth.norm())


def device_name(device: torch.device) -> str:
    """The device in words."""
    if device.type == "cuda":
        return torch.cuda.get_device_name(device)
    return f"{torch.get_num_threads()} threads on {os.cpu_count()} cores of {platform.machine()}"


def versions() -> dict[str, str]:
    """The versions of what took part."""
    found = {"proponent": proponent.__version__, "python": platform.python_version()}
    for name in PEERS:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    if torch.version.cuda:
        found["cuda"] = torch.version.cuda
    return found


def print_table(title: str, head: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    """Print rows under a head, in columns."""
    cells = [[str(cell) for cell in head]] + [[_shown(cell) for cell in row] for row in rows]
    widths = [max(len(row[k]) for row in cells) for k in range(len(head))]
    print(f"\n{title}")
    for row in cells:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
    print(flush=True)


def _seconds(work: Callable[[], object], device: torch.device) -> float:
    if device.type != "cuda":
        start = time.perf_counter()
        work()
        return time.perf_counter() - start
    first, last = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    torch.cuda.synchronize(device)
    first.record()
    work()
    last.record()
    torch.cuda.synchronize(device)
    return first.elapsed_time(last) / 1000


def _shown(cell: Any) -> str:
    if isinstance(cell, bool):
        return "yes" if cell else "NO"
    return f"{cell:.4g}" if isinstance(cell, float) else str(cell)


def _rounded(value: Any) -> Any:
    """Four significant digits; JSON has no NaN or infinity, so those become words."""
    if isinstance(value, Mapping):
        return {str(key): _rounded(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_rounded(part) for part in value]
    if isinstance(value, float):
        return float(f"{value:.4g}") if math.isfinite(value) else str(value)
    return value
