"""What a user hands to a method, checked where it comes in."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from proponent.data import Batch, as_batch, check_finite
from proponent.objectives import Objective
from proponent.scores import IdArray
from proponent.training import Trajectory

# What a model says of samples that don't fit it.
_REFUSALS = (RuntimeError, ValueError, TypeError, IndexError, KeyError, AttributeError)


def check_objective(objective: Any) -> None:
    """Refuse what is no objective, such as a plain function.

    Raises:
        TypeError: Says how to make one.
    """
    if not isinstance(objective, Objective):
        raise TypeError(
            f"`objective` must be an Objective, such as `pp.Elbo()`, got a {type(objective).__name__}. "
            "Make one of a function (model, batch, noise) -> losses [n] by `pp.objective(function)`."
        )


def as_trajectories(trajectory: Any) -> tuple[Trajectory, ...]:
    """Take one trajectory, several, or plain state dicts, which become one.

    Raises:
        TypeError: It is none of these.
        ValueError: It is an empty list.
    """
    if isinstance(trajectory, Trajectory):
        return (trajectory,)
    if isinstance(trajectory, Mapping | str) or not isinstance(trajectory, Sequence):
        hint = " Put a single state dict into a list." if isinstance(trajectory, Mapping) else ""
        raise TypeError(
            "`trajectory` must be a Trajectory, a list of them, or a list of state dicts, "
            f"got a {type(trajectory).__name__}.{hint}"
        )
    if not trajectory:
        raise ValueError("`trajectory` must hold at least one checkpoint, got an empty list.")
    trajectories = [each for each in trajectory if isinstance(each, Trajectory)]
    if len(trajectories) == len(trajectory):
        return tuple(trajectories)
    states = [each for each in trajectory if isinstance(each, Mapping)]
    if len(states) == len(trajectory):
        return (Trajectory.from_state_dicts(states),)
    kinds = sorted({type(each).__name__ for each in trajectory})
    raise TypeError(f"`trajectory` must be a list of trajectories or of state dicts, got {', '.join(kinds)}.")


def as_samples(data: Any, objective: Objective, name: str) -> Batch:
    """Make a batch of samples, and refuse what the objective can't take.

    Raises:
        TypeError: They aren't numbers.
        ValueError: There is none, one isn't finite, or the objective is not defined on one.
    """
    batch = as_batch(data, name)
    check_finite(batch, name)
    try:
        objective.check_batch(batch)
    except (TypeError, ValueError) as error:
        raise type(error)(str(error).replace("`samples`", f"`{name}`")) from error
    return batch


def check_computes(
    model: nn.Module, objective: Objective, batch: Batch, noise: Tensor | None, name: str
) -> None:
    """Compute the losses of a few samples, and say so if the model does not take them.

    Args:
        model: The model.
        objective: The loss.
        batch: A few samples, on the model's device.
        noise: The draws.
        name: What the message calls the samples.

    Raises:
        ValueError: The model or the objective refuses them.
    """
    try:
        with torch.no_grad():
            objective(model, batch, noise)
    except _REFUSALS as error:
        raise ValueError(
            f"`{name}` must be samples that the model and the objective take, but those of "
            f"{_shapes(batch)} were refused: {error}. Give samples of the shape and dtype it was trained "
            "on, and the `noise_shape` that the objective expects."
        ) from error


def check_mean_over_draws(
    model: nn.Module, objective: Objective, batch: Batch, groups: Sequence[Tensor | None], what: str
) -> None:
    """Refuse a loss that isn't a mean over its draws, where draws are to be divided into groups.

    Args:
        model: The model.
        objective: The loss.
        batch: A few samples, on the model's device.
        groups: The draws, in groups of equal size.
        what: What needs the groups, for the message.

    Raises:
        ValueError: The loss has no draws, or isn't their mean.
    """
    parts = [group for group in groups if group is not None]
    if not parts:
        raise ValueError(
            f"{what} needs an objective with noise; without any, scores are exact. Leave it out."
        )
    with torch.no_grad():
        whole = objective(model, batch, torch.cat(parts))
        mean = torch.stack([objective(model, batch, part) for part in parts]).mean(0)
    if not torch.allclose(whole, mean, rtol=1e-3):
        raise ValueError(
            f"{what} needs a loss that is the mean over its draws, but the objective gives "
            f"{float(whole[0]):.6g} for all draws and {float(mean[0]):.6g} for the mean over groups of them. "
            "Leave it out."
        )


def as_ids(ids: Any, count: int, name: str, of: str) -> IdArray:
    """Check ids, one a sample and all different; positions without any.

    Raises:
        ValueError: Their number is wrong, or one occurs twice.
    """
    if ids is None:
        return np.arange(count)
    array = np.asarray(ids)
    if array.shape != (count,):
        raise ValueError(
            f"`{name}` must be one id for each of the {count} {of}, got an array of shape {array.shape}."
        )
    values, counts = np.unique(array, return_counts=True)
    if (counts > 1).any():
        raise ValueError(
            f"`{name}` must be different for all {of}, but {values[counts > 1][0]} occurs "
            f"{counts.max()} times. Leave them out to use positions."
        )
    return array


def _shapes(batch: Batch) -> str:
    """The shape of one sample, part by part."""
    if isinstance(batch, Tensor):
        return f"shape {tuple(batch.shape[1:])}"
    parts = batch.items() if isinstance(batch, dict) else enumerate(batch)
    return "parts " + ", ".join(f"{key}: {_shapes(part)}" for key, part in parts)
