"""Training many models at once."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from proponent.data import Batch
from proponent.data import batch_size as count_samples
from proponent.objectives import Objective
from proponent.precision import parameter_dtype
from proponent.randomness import keyed_generator
from proponent.training._fit import checked_rate, checked_samples, resolved_device, resolved_precision
from proponent.training._optimizer import Optimizer, as_optimizer
from proponent.training._plan import make_plan
from proponent.training._progress_bar import Report
from proponent.training._run import Run
from proponent.training._session import Assignment, train
from proponent.training._stack import StackedModels
from proponent.training._tactics import Tactics, tactics_for

Models = nn.Module | Sequence[nn.Module] | Callable[[torch.Generator], nn.Module]


@dataclass(frozen=True, eq=False)
class Member:
    """One model of an ensemble, and in what it differs from the others.

    Attributes:
        seed: Of its batches and noise.
        subset: The positions of the samples that it sees, or none for all.
        objective: Its own loss, or none for that of the ensemble.
        learning_rate: Its own rate, or none for that of the ensemble.
    """

    seed: int = 0
    subset: Any = None
    objective: Objective | None = None
    learning_rate: float | None = None


def fit_ensemble(
    models: Models,
    objective: Objective,
    samples: Any,
    members: Sequence[Member],
    *,
    steps: int,
    checkpoints: int | Sequence[int] | None = None,
    directory: str | Path | None = None,
    batch_size: int = 64,
    learning_rate: float = 1e-4,
    optimizer: str | Optimizer = "sgd",
    draws: int = 1,
    device: torch.device | str | None = None,
    precision: str | None = None,
    log_every: int | None = None,
    progress: bool | Report = True,
    tactics: Tactics | None = None,
) -> list[Run]:
    """Train many models at once, as one batched model.

    Each member sees the batches and the noise that `fit` would give it with its seed and its subset, and
    comes out with the trajectory that `fit` would have made, to rounding. Members that share a directory
    are taken up together, as in `fit`; member i lies in its folder ``member-i``.

    >>> from proponent.objectives import objective
    >>> pull = objective(lambda model, batch, noise: (model.weight - batch).square().sum(1) / 2)
    >>> slow, fast = fit_ensemble(
    ...     nn.Linear(1, 1, bias=False), pull, torch.full((4, 1), 3.0),
    ...     [Member(learning_rate=1e-9), Member(learning_rate=1.0)], steps=1, checkpoints=1,
    ... )
    >>> fast.model.weight
    Parameter containing:
    tensor([[3.]], requires_grad=True)

    Args:
        models: One model from which all begin; or a list, one for each member; or a function that makes a
            model, which gets a `torch.Generator` keyed by the member's seed.
        objective: The loss of each sample.
        samples: Data, as in `fit`.
        members: In what the members differ.
        steps: How many steps each makes.
        checkpoints: As in `fit`.
        directory: The folder of their folders.
        batch_size: As in `fit`; the same for all, so no subset may be smaller than another's batch.
        learning_rate: The rate of members without one of their own.
        optimizer: As in `fit`.
        draws: As in `fit`.
        device: As in `fit`.
        precision: As in `fit`.
        log_every: As in `fit`.
        progress: As in `fit`; losses are the members' mean.
        tactics: As in `fit`.

    Returns:
        A run for each member.

    Raises:
        DivergedError: A member's loss turned NaN or infinite; names the member, too.
        ValueError: As in `fit`; or members differ in what a batched model must share.
        TypeError: As in `fit`.
    """
    if not members:
        raise ValueError("`members` must hold at least one member, got none.")
    built = _built(models, members)
    plan = make_plan(
        steps, checkpoints, batch_size, draws, as_optimizer(optimizer),
        resolved_precision(built[0], precision), log_every,
    )  # fmt: skip
    objectives = [each.objective or objective for each in members]
    batch = checked_samples(samples, *objectives)
    place = resolved_device(built[0], device)
    tactics = tactics or replace(tactics_for(place), channels_last=False)
    learner = StackedModels(built, objectives, place, parameter_dtype(plan.precision))
    assignments = [
        Assignment(
            seed=member.seed,
            learning_rate=checked_rate(
                learning_rate if member.learning_rate is None else member.learning_rate
            ),
            objective=own,
            subset=_subset(member, batch),
            directory=None if directory is None else Path(directory) / f"member-{number:04d}",
        )
        for number, (member, own) in enumerate(zip(members, objectives, strict=True))
    ]
    _check_batches(assignments, batch, plan.batch_size)
    return train(learner, plan, batch, assignments, progress, tactics)


def _built(models: Models, members: Sequence[Member]) -> list[nn.Module]:
    if isinstance(models, nn.Module):
        return [models] * len(members)
    if isinstance(models, Sequence):
        if len(models) != len(members):
            raise ValueError(
                f"`models` must be one model, or one for each of the {len(members)} members, got "
                f"{len(models)}."
            )
        return list(models)
    return [models(keyed_generator(member.seed, "initialisation")) for member in members]


def _subset(member: Member, samples: Batch) -> Tensor | None:
    if member.subset is None:
        return None
    positions, count = np.asarray(member.subset), count_samples(samples)
    if positions.ndim != 1 or positions.dtype.kind not in "iu" or not len(positions):
        raise ValueError(
            "`subset` must be positions of samples in one axis, got an array of "
            f"{positions.dtype} and shape {positions.shape}. For a mask use `np.flatnonzero(mask)`."
        )
    if positions.min() < 0 or positions.max() >= count:
        raise ValueError(
            f"`subset` must hold positions from 0 to {count - 1}, got {positions.min()} to {positions.max()}."
        )
    return torch.from_numpy(positions.astype(np.int64))


def _check_batches(assignments: Sequence[Assignment], samples: Batch, size: int) -> None:
    counts = [count_samples(samples) if each.subset is None else len(each.subset) for each in assignments]
    sizes = {min(size, count) for count in counts}
    if len(sizes) > 1:
        raise ValueError(
            f"All members' batches must be of one size, but the smallest subset has {min(counts)} samples "
            f"and `batch_size` is {size}. Use `batch_size={min(counts)}` or less."
        )
