"""Trajectories made of checkpoints that somebody else has trained."""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from torch import Tensor, nn

from proponent.training._checkpoint import Checkpoint
from proponent.training._files import AdamMoments, ForeignFile
from proponent.training._optimizer import Optimizer, as_optimizer
from proponent.training._source import Memory, Source, check_exists, own_copy
from proponent.training._trajectory import Trajectory


def from_state_dicts(
    states: Sequence[Mapping[str, Any]],
    steps: Sequence[int] | None,
    learning_rates: Sequence[float] | float | None,
    sample_count: int | None,
    second_moments: Sequence[Mapping[str, Tensor]] | None,
    optimizer: str | Optimizer,
) -> Trajectory:
    """What `Trajectory.from_state_dicts` says."""
    if second_moments is not None and steps is None:
        raise ValueError("`second_moments` must come with `steps`: Adam's bias correction depends on them.")
    _check_length(second_moments, len(states), "second_moments")
    moments = [Memory(own_copy(each)) for each in second_moments] if second_moments is not None else None
    if moments is not None and optimizer == "unknown":
        optimizer = "adam"
    sources = [Memory(own_copy(state)) for state in states]
    checkpoints = _checkpoints(sources, moments, steps, learning_rates)
    return Trajectory(checkpoints, as_optimizer(optimizer), sample_count)


def from_files(
    paths: Sequence[Path],
    steps: Sequence[int] | None,
    learning_rates: Sequence[float] | float | None,
    key: str | None,
    prefix: str,
    sample_count: int | None,
    optimizer: str | Optimizer | None,
    optimizer_key: str | None,
    optimizer_files: Sequence[Path] | None,
    parameter_names: Sequence[str] | nn.Module | None,
) -> Trajectory:
    """What `Trajectory.from_files` says."""
    _check_length(optimizer_files, len(paths), "optimizer_files")
    for path in [*paths, *(optimizer_files or [])]:
        check_exists(path)
    sources = [ForeignFile(path, key, prefix) for path in paths]
    if sources:
        sources[0].read()  # a wrong key or prefix is told now, not in the midst of a job
    moments = None
    if paths and (optimizer_key is not None or optimizer_files is not None):
        places, names = optimizer_files or paths, _names(parameter_names)
        moments = [AdamMoments(path, optimizer_key, names, prefix) for path in places]
        steps = steps if steps is not None else [each.step() for each in moments]
        optimizer = optimizer if isinstance(optimizer, Optimizer) else _adam_of(moments[0], optimizer)
    checkpoints = _checkpoints(sources, moments, steps, learning_rates)
    return Trajectory(checkpoints, as_optimizer(optimizer or "unknown"), sample_count)


def _adam_of(moments: AdamMoments, name: str | None) -> Optimizer:
    """Adam with the constants of its state; a name says no constants."""
    if name not in (None, "adam"):
        raise ValueError(f'`optimizer` must be "adam" where Adam\'s state is given, got {name!r}.')
    return moments.optimizer()


def _names(names: Sequence[str] | nn.Module | None) -> tuple[str, ...] | None:
    if isinstance(names, nn.Module):
        return tuple(name for name, _ in names.named_parameters())
    return None if names is None else tuple(names)


def _checkpoints(
    sources: Sequence[Source],
    moments: Sequence[Source] | None,
    steps: Sequence[int] | None,
    learning_rates: Sequence[float] | float | None,
) -> tuple[Checkpoint, ...]:
    count = len(sources)
    if isinstance(learning_rates, int | float):
        learning_rates = [float(learning_rates)] * count
    _check_length(steps, count, "steps")
    _check_length(learning_rates, count, "learning_rates")
    if any(not 0 <= rate < math.inf for rate in learning_rates or ()):
        raise ValueError(
            f"`learning_rates` must be finite and not negative, got {list(learning_rates or ())}."
        )
    at = list(range(count)) if steps is None else [int(step) for step in steps]
    since = [None] * count if steps is None else _differences(at)
    return tuple(
        Checkpoint(
            step=at[i],
            tensors=sources[i],
            learning_rate=None if learning_rates is None else float(learning_rates[i]),
            steps=since[i],
            moments=None if moments is None else moments[i],
        )
        for i in range(count)
    )


def _differences(steps: list[int]) -> list[int | None]:
    if any(step < 0 for step in steps):
        raise ValueError(f"`steps` must not be negative, got {steps}.")
    return [later - earlier for earlier, later in zip([0, *steps], steps, strict=False)]


def _check_length(values: Sequence[object] | None, count: int, name: str) -> None:
    if values is not None and len(values) != count:
        raise ValueError(
            f"`{name}` must have one entry for each of the {count} checkpoints, got {len(values)}."
        )
