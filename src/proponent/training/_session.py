"""A training from its settings to its runs, the same for one model and for many at once."""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import safetensors.torch
import torch
from torch import Tensor

from proponent.data import Batch, batch_size, fingerprint, move
from proponent.objectives import Objective, check_identified
from proponent.storage import whole_file
from proponent.training._feed import Feed
from proponent.training._fitting import shapes_of
from proponent.training._folder import FolderKeeper
from proponent.training._graph import Graphed
from proponent.training._keeper import Course, Keeper, MemoryKeeper
from proponent.training._learner import Learner
from proponent.training._ledger import Ledger
from proponent.training._loop import Loop
from proponent.training._plan import Plan
from proponent.training._progress_bar import Report, reporting
from proponent.training._rules import make_rule
from proponent.training._run import Run
from proponent.training._runner import Eager, Runner
from proponent.training._samples import Samples
from proponent.training._source import own_copy
from proponent.training._step import Step
from proponent.training._stream import Stream
from proponent.training._tactics import Tactics


@dataclass(frozen=True, eq=False)
class Assignment:
    """What one member of a training is given.

    Attributes:
        seed: Of its batches and noise.
        learning_rate: Its rate.
        objective: Its loss.
        subset: The samples that it sees, by position, or none for all.
        directory: Where its checkpoints go, or none for memory.
    """

    seed: int
    learning_rate: float
    objective: Objective
    subset: Tensor | None
    directory: Path | None


def train(
    learner: Learner,
    plan: Plan,
    samples: Batch,
    assignments: Sequence[Assignment],
    progress: bool | Report,
    tactics: Tactics,
) -> list[Run]:
    """Train what the learner holds, from where its folders stand, and give a run for each member."""
    device, dtype = learner.place()
    streams = [_stream(learner, plan, samples, each, device, dtype) for each in assignments]
    rates = torch.tensor([each.learning_rate for each in assignments], device=device, dtype=torch.float64)
    rule = make_rule(learner.parameters, plan.optimizer, rates if learner.members else rates[0])
    step = Step(learner, rule, plan.precision, _ledger(learner, plan, tactics, assignments))
    data = Samples(move(samples, device, dtype), tactics.channels_last)
    loop = Loop(
        plan=plan,
        step=step,
        feed=_feed(streams, assignments, learner, device),
        runner=_runner(step, data, assignments[0].seed, tactics),
        keepers=_keepers(learner, plan, samples, assignments, streams),
        rates=[each.learning_rate for each in assignments],
    )
    loop.resume()
    with (
        torch.random.fork_rng([device] if device.type == "cuda" else []),
        _tuned(device),
        reporting(progress, plan.steps, loop.done) as report,
    ):
        loop.run(report)
    return _runs(loop)


def _stream(
    learner: Learner, plan: Plan, samples: Batch, own: Assignment, device: torch.device, dtype: torch.dtype
) -> Stream:
    count = batch_size(samples) if own.subset is None else len(own.subset)
    size = min(plan.batch_size, count)
    draw = own.objective.noise_shape(learner.example())
    each = (size, plan.draws) if own.objective.per_sample_noise else (plan.draws,)
    return Stream(own.seed, count, size, None if draw is None else (*each, *draw), device, dtype)


def _feed(
    streams: Sequence[Stream], assignments: Sequence[Assignment], learner: Learner, device: torch.device
) -> Feed:
    subsets = [None if each.subset is None else each.subset.to(device) for each in assignments]
    return Feed(streams, subsets, stacked=learner.members is not None)


@contextmanager
def _tuned(device: torch.device) -> Iterator[None]:
    """Let cuDNN try its kernels and take the fastest: shapes are the same in every step."""
    before = torch.backends.cudnn.benchmark
    torch.backends.cudnn.benchmark = device.type == "cuda" or before
    try:
        yield
    finally:
        torch.backends.cudnn.benchmark = before


def _noise_is_each_samples_own(assignments: Sequence[Assignment]) -> bool:
    """Whether samples of several members, who share no draws, can stand in one batch."""
    return all(each.objective.per_sample_noise for each in assignments)


def _ledger(
    learner: Learner, plan: Plan, tactics: Tactics, assignments: Sequence[Assignment]
) -> Ledger | None:
    # Autocast would hand split layers inputs of another dtype than their weights.
    if not tactics.split or plan.precision == "bfloat16":
        return None
    ledger = Ledger(learner.place()[0], tactics.lanes)
    learner.split_layers(ledger)
    if tactics.join_members and _noise_is_each_samples_own(assignments):
        learner.join_members(ledger)
    return ledger


def _runner(step: Step, data: Samples, seed: int, tactics: Tactics) -> Runner:
    if step.device.type == "cuda" and tactics.cuda_graph:
        return Graphed(step, data, seed, tactics.steps_per_replay)
    return Eager(step, data, seed)


def _keepers(
    learner: Learner,
    plan: Plan,
    samples: Batch,
    assignments: Sequence[Assignment],
    streams: Sequence[Stream],
) -> list[Keeper]:
    for own in assignments:
        if own.directory is not None:
            check_identified(own.objective)
    shared = plan.describe() | {"members": learner.members, "samples": fingerprint(samples)}
    starts = learner.split(learner.tensors())
    keepers: list[Keeper] = []
    for own, stream, start in zip(assignments, streams, starts, strict=True):
        training = shared | _own_facts(own, stream)
        course = Course(
            optimizer=plan.optimizer,
            learning_rate=own.learning_rate,
            sample_count=stream.sample_count,
            training=training,
            initial=_digest(start),
            shapes=shapes_of(start),
        )
        keepers.append(MemoryKeeper(course) if own.directory is None else FolderKeeper(own.directory, course))
        if own.directory is not None and own.subset is not None:
            with whole_file(own.directory / "subset.npy") as path:
                np.save(path, own.subset.numpy())
    return keepers


def _own_facts(own: Assignment, stream: Stream) -> dict[str, Any]:
    facts = {
        "seed": own.seed,
        "batch_size": stream.batch_size,
        "learning_rate": own.learning_rate,
        "objective": own.objective.describe(),
        "subset": None if own.subset is None else fingerprint(own.subset),
        "stream": stream.describe(),
    }
    read_back: dict[str, Any] = json.loads(json.dumps(facts))  # tuples turn to lists, as in a file
    return read_back


def _digest(tensors: Mapping[str, Tensor]) -> str:
    return hashlib.sha256(safetensors.torch.save(own_copy(tensors))).hexdigest()


def _runs(loop: Loop) -> list[Run]:
    ends = np.minimum((np.arange(len(loop.losses)) + 1) * loop.plan.log_every, loop.plan.steps)
    return [
        Run(keeper.trajectory(), loop.losses[:, i].numpy(), ends, model, keeper.directory)
        for i, (keeper, model) in enumerate(zip(loop.keepers, loop.step.learner.models(), strict=True))
    ]
