"""Training one model."""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from torch import nn

from proponent.data import Batch, as_batch, check_finite
from proponent.objectives import Objective
from proponent.precision import check_precision, parameter_dtype
from proponent.training._learner import SingleModel, trainable
from proponent.training._optimizer import Optimizer, as_optimizer
from proponent.training._plan import make_plan
from proponent.training._progress_bar import Report
from proponent.training._run import Run
from proponent.training._session import Assignment, train
from proponent.training._tactics import Tactics, tactics_for


def fit(
    model: nn.Module,
    objective: Objective,
    samples: Any,
    *,
    steps: int,
    checkpoints: int | Sequence[int] | None = None,
    directory: str | Path | None = None,
    seed: int = 0,
    batch_size: int = 64,
    learning_rate: float = 1e-4,
    optimizer: str | Optimizer = "sgd",
    draws: int = 1,
    device: torch.device | str | None = None,
    precision: str | None = None,
    log_every: int | None = None,
    progress: bool | Report = True,
    tactics: Tactics | None = None,
) -> Run:
    r"""Train a copy of a model and keep its trajectory.

    Each step takes a batch $B$ and changes the parameters by the optimiser's rule for the gradient of
    $\frac{1}{|B|} \sum_{i \in B} \ell(x_i; \theta, \varepsilon)$. Batches and noise follow from the seed
    alone: each epoch is a new permutation, of which what fills no batch is dropped.

    With a directory, a training that was stopped, at whatever moment, is taken up by the same call at its
    last checkpoint, and on a CPU ends in the same bits; a finished one is returned at once.

    The model trains in training mode. Layers that draw by themselves, such as dropout, draw from torch's
    generators, which are set to a key at every step (with CUDA graphs, at every replay) and put back after.

    >>> from proponent.objectives import objective
    >>> pull = objective(lambda model, batch, noise: (model.weight - batch).square().sum(1) / 2)
    >>> net = nn.Linear(1, 1, bias=False)
    >>> run = fit(net, pull, torch.full((4, 1), 3.0), steps=2, checkpoints=1, learning_rate=1.0)
    >>> run.model.weight                        # a full step goes to the target
    Parameter containing:
    tensor([[3.]], requires_grad=True)

    Args:
        model: Any module; the one passed stays as it is.
        objective: The loss of each sample.
        samples: Data: an array, or a tuple or dict of them. It is held on the device as a whole.
        steps: How many steps to make.
        checkpoints: How many checkpoints, evenly spaced, the last at the end; or the very steps, of which
            the last is `steps` and the first may be 0. 30 unless given, or one a step where there are
            fewer steps.
        directory: The run's folder. Without one the trajectory stays in memory.
        seed: What batches and noise follow from.
        batch_size: How many samples a step sees; all of them where there are fewer.
        learning_rate: The rate of every step.
        optimizer: ``"sgd"``, without momentum, ``"adam"``, or an `Optimizer` with other constants.
        draws: How many draws of noise a step's losses are averaged over.
        device: Where to train; where the model is, unless given.
        precision: ``float64``, ``float32``, ``tf32`` or ``bfloat16``; float32 or float64 as the model's
            parameters are, unless given.
        log_every: Over how many steps losses are averaged for the log, and how often they are looked at: a
            200th of all unless given.
        progress: Whether to show a bar on a terminal; or a function that gets the step and the mean loss
            whenever losses are looked at.
        tactics: What to do for speed; results change by rounding alone. The best that is known for the
            device, unless given.

    Returns:
        The trajectory, the losses and the trained model.

    Raises:
        DivergedError: A loss turned NaN or infinite; names the step, the learning rate and the last good
            checkpoint.
        ValueError: An argument is out of its range, the model has nothing to train, samples or their loss
            don't fit, or the directory holds another training.
        TypeError: The objective is none, such as a plain function, or isn't for such a model.
    """
    plan = make_plan(
        steps, checkpoints, batch_size, draws, as_optimizer(optimizer),
        resolved_precision(model, precision), log_every,
    )  # fmt: skip
    batch = checked_samples(samples, objective)
    place = resolved_device(model, device)
    tactics = tactics or tactics_for(place)
    learner = SingleModel(model, objective, place, parameter_dtype(plan.precision), tactics.channels_last)
    assignment = Assignment(
        seed=seed,
        learning_rate=checked_rate(learning_rate),
        objective=objective,
        subset=None,
        directory=None if directory is None else Path(directory),
    )
    return train(learner, plan, batch, [assignment], progress, tactics)[0]


def resolved_precision(model: nn.Module, name: str | None) -> str:
    """The precision by name, or the one in which the parameters are."""
    dtypes = {parameter.dtype for parameter in trainable(model).values()}
    if name is not None:
        check_precision(name)
        return name
    if dtypes == {torch.float64}:
        return "float64"
    if dtypes == {torch.float32}:
        return "float32"
    named = ", ".join(sorted(str(dtype) for dtype in dtypes))
    raise ValueError(
        f"The model's parameters must all be float32 or all float64, got {named}. Convert them with "
        "`model.float()`, or say which `precision` to train in."
    )


def resolved_device(model: nn.Module, device: torch.device | str | None) -> torch.device:
    """The device asked for, or that of the model."""
    if device is None:
        return next(iter(trainable(model).values())).device
    return torch.device(device)


def checked_rate(rate: float) -> float:
    """Refuse a rate that is not a positive number."""
    if not 0 < rate < math.inf:
        raise ValueError(f"`learning_rate` must be a positive number, got {rate}.")
    return float(rate)


def checked_samples(samples: Any, *objectives: object) -> Batch:
    """Turn data into a batch on which the objectives are defined.

    Raises:
        TypeError: One of them is no objective.
    """
    batch = as_batch(samples)
    check_finite(batch)
    for objective in objectives:
        if not isinstance(objective, Objective):
            raise TypeError(
                f"`objective` must be an objective, such as `pp.Elbo()`, got a {type(objective).__name__}. "
                "Make one of a function (model, batch, noise) -> losses [n] by `pp.objective(function)`."
            )
        objective.check_batch(batch)
    return batch
