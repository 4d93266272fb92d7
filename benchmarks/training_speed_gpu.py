"""Training steps of the paper's models on one GPU: one perceptron, sixteen as an ensemble, convolutions."""

import copy
import statistics
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from _harness import Benchmark, Outcome, Settings, at_most, print_table
from proponent.models import MLPVAE, ConvVAE
from proponent.objectives import Elbo
from proponent.randomness import keyed_generator, keyed_seed
from proponent.training import Member, Tactics, fit, fit_ensemble

# Reports every interval's end: (steps made, mean loss).
Report = Callable[[int, float], None]
TACTICS = {
    "default": Tactics(),
    "whole backward pass": Tactics(split=False),
    "members mapped": Tactics(join_members=False),
    "one lane": Tactics(lanes=1),
    "four lanes": Tactics(lanes=4),
    "one step a replay": Tactics(steps_per_replay=1),
    "64 steps a replay": Tactics(steps_per_replay=64),
    "channels first": Tactics(channels_last=False),
    "no graph": Tactics(cuda_graph=False),
}


@dataclass(frozen=True)
class Case:
    """A training to time.

    Attributes:
        name: What it is called in the record.
        train: Trains for some steps and reports at every interval: (steps, interval, tactics, precision,
            report).
        plain: The same by hand: a loop in Python with torch's own SGD; or none.
    """

    name: str
    train: Callable[[int, int, Tactics, str, Report], Any]
    plain: Callable[[int, int, Report], None] | None


def measure(settings: Settings) -> Outcome:
    """Time every case: by default tactics in every precision, and in tf32 by every tactic."""
    seconds: dict[str, dict[str, float]] = {}
    losses: dict[str, list[float]] = {}
    for case in _cases(settings):
        entries = _entries(case, settings)
        times = {
            name: _microseconds(run, _intervals(name, settings), settings) for name, run in entries.items()
        }
        seconds[case.name] = {name: found for name, (found, _) in times.items()}
        full = _intervals("", settings)
        losses[case.name] = [loss for name, (_, loss) in times.items() if _intervals(name, settings) == full]
        print_table(
            f"microseconds a step: {case.name}", ("", "microseconds"), list(seconds[case.name].items())
        )
    chosen = {name: found["tf32, default"] for name, found in seconds.items()}
    return Outcome(
        measured={
            "mlp, microseconds": chosen["mlp"],
            "conv, microseconds": chosen["conv"],
            "16 mlps over one": chosen["16 mlps"] / chosen["mlp"],
            "largest difference of losses": max(max(all_) / min(all_) - 1 for all_ in losses.values()),
            "microseconds": seconds,
        },
        rivals={
            "a loop in Python, torch.optim.SGD": {
                name: found["plain loop"] for name, found in seconds.items() if "plain loop" in found
            },
            "bare prototype in a graph, on one H200 (peers.md)": {"mlp": 308.0, "conv": 1092.0},
        },
    )


def _entries(case: Case, settings: Settings) -> Mapping[str, Callable[[int, int, Report], object]]:
    precisions = ("tf32",) if settings.smoke else ("float32", "tf32", "bfloat16")
    entries: dict[str, Callable[[int, int, Report], object]] = {
        f"{precision}, default": partial(_by_tactics, case, TACTICS["default"], precision)
        for precision in precisions
    }
    for name, tactics in TACTICS.items():
        if name != "default":
            entries[f"tf32, {name}"] = partial(_by_tactics, case, tactics, "tf32")
    if case.plain is not None:
        entries["plain loop"] = case.plain
    return entries


def _by_tactics(case: Case, tactics: Tactics, precision: str, steps: int, every: int, report: Report) -> None:
    case.train(steps, every, tactics, precision, report)


def _intervals(name: str, settings: Settings) -> tuple[int, int]:
    """How many intervals of how many steps; few for what starts every kernel from Python."""
    if settings.smoke:
        return 3, 4
    return (5, 64) if name in ("plain loop", "tf32, no graph") else (8, 256)


def _microseconds(
    run: Callable[[int, int, Report], object], intervals_of: tuple[int, int], settings: Settings
) -> tuple[float, float]:
    """The median over intervals, the first two left out, of the time from report to report; and the loss."""
    intervals, every = intervals_of
    ends: list[float] = []
    losses: list[float] = []

    def report(step: int, loss: float) -> None:
        ends.append(time.perf_counter())
        losses.append(loss)

    run(intervals * every, every, report)
    spans = np.diff(ends)[1:] if len(ends) > 2 else np.diff(ends)
    return statistics.median(spans) / every * 1e6, losses[-1]


def _cases(settings: Settings) -> list[Case]:
    latent, size = (4, 16) if settings.smoke else (128, 64)
    count = 300 if settings.smoke else 5_000
    digits = _images((count, 784), settings)
    pictures = _images((count, 3, size, size), settings)
    perceptron = MLPVAE(784, latent, generator=keyed_generator(settings.seed, "model"))
    convolutions = ConvVAE(latent, size=size, generator=keyed_generator(settings.seed, "model"))
    members = [Member(seed=seed) for seed in range(3 if settings.smoke else 16)]
    return [
        _single("mlp", perceptron, Elbo(beta=4.0), digits, 1e-4),
        _single("conv", convolutions, Elbo(beta=2.0, likelihood="squared-error"), pictures, 3e-5),
        Case("16 mlps", partial(_train_many, perceptron, digits, members), None),
    ]


def _single(name: str, model: nn.Module, objective: Elbo, samples: Tensor, rate: float) -> Case:
    def train(steps: int, every: int, tactics: Tactics, precision: str, report: Report) -> None:
        fit(
            model, objective, samples, steps=steps, checkpoints=1, learning_rate=rate, log_every=every,
            device=samples.device, precision=precision, tactics=tactics, progress=report,
        )  # fmt: skip

    return Case(name, train, partial(_plain_loop, model, objective, samples, rate))


def _train_many(
    model: nn.Module,
    samples: Tensor,
    members: list[Member],
    steps: int,
    every: int,
    tactics: Tactics,
    precision: str,
    report: Report,
) -> None:
    fit_ensemble(
        model, Elbo(beta=4.0), samples, members, steps=steps, checkpoints=1, log_every=every,
        device=samples.device, precision=precision, tactics=tactics, progress=report,
    )  # fmt: skip


def _plain_loop(
    model: nn.Module, objective: Elbo, samples: Tensor, rate: float, steps: int, every: int, report: Report
) -> None:
    """What one writes by hand, in torch's default precision."""
    device = samples.device
    model = copy.deepcopy(model).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=rate)
    total = torch.zeros((), device=device)
    for step in range(1, steps + 1):
        batch = samples[torch.randint(len(samples), (64,), device=device)]
        noise = torch.randn(64, 1, model.latent_dim, device=device)
        optimizer.zero_grad()
        loss = objective(model, batch, noise).mean()
        loss.backward()
        optimizer.step()
        total += loss.detach()
        if step % every == 0:
            report(step, float(total) / every)
            total.zero_()


def _images(shape: tuple[int, ...], settings: Settings) -> Tensor:
    generator = torch.Generator(settings.device).manual_seed(keyed_seed(settings.seed, str(shape)))
    return torch.rand(shape, generator=generator, device=settings.device).pow(4)


BENCHMARK = Benchmark(
    name="training_speed_gpu",
    claim=(
        "A training step at batch 64 takes 120 microseconds for the paper's MLP and 500 for its "
        "convolutional model in tf32, and for 16 MLPs as an ensemble at most twice one MLP's."
    ),
    goal={
        "mlp, microseconds": at_most(120),
        "conv, microseconds": at_most(500),
        "16 mlps over one": at_most(2),
        "largest difference of losses": at_most(0.05),
    },
    measure=measure,
    needs_gpu=True,
)

if __name__ == "__main__":
    sys.exit(BENCHMARK.main())
