"""What an objective is: a loss for every sample, with the noise as an argument."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from torch import Tensor, nn

from proponent.data import Batch
from proponent.objectives._identity import identity

LossFunction = Callable[[nn.Module, Any, Any], Tensor]


class Objective(ABC):
    r"""The loss of each sample, $\ell(x_i; \theta, \text{noise})$, averaged over the draws in `noise`.

    An objective draws nothing by itself. It must treat samples apart: the loss of one may not depend on
    which others stand in the batch.
    """

    @abstractmethod
    def __call__(self, model: nn.Module, batch: Batch, noise: Tensor | None) -> Tensor:
        """Compute the losses ``[n]`` of a batch of n samples.

        Args:
            model: The model at some parameters.
            batch: The samples.
            noise: ``[m, *shape]``, m draws that all samples share; or, where `per_sample_noise` is
                true, also ``[n, m, *shape]``, m draws for each sample; or none for an objective
                without noise.
        """

    @abstractmethod
    def noise_shape(self, model: nn.Module) -> tuple[int, ...] | None:
        """The shape of one draw for this model, or none where the loss needs no noise."""

    @property
    @abstractmethod
    def per_sample_noise(self) -> bool:
        """Whether the losses also take a draw of its own for each sample."""

    @abstractmethod
    def describe(self) -> Mapping[str, Any]:
        """What identifies the objective, fit for JSON: it is kept beside whatever is computed with it.

        Two objectives that describe themselves alike count as the same in a folder. One that can't tell
        itself from others holds ``"identified": False``, and no folder takes it.
        """

    @property
    def unit(self) -> str:
        """The unit of the losses."""
        return "units of the loss"

    def check_batch(self, batch: Batch) -> None:  # noqa: B027 (accepting everything is a sound default)
        """Refuse samples on which the loss is not defined. The default accepts everything.

        Raises:
            ValueError: Says what must hold, what was found and what to do.
        """


@dataclass(frozen=True)
class FunctionObjective(Objective):
    """A user's own function as an objective; made by `objective`."""

    function: LossFunction
    shape: tuple[int, ...] | None
    own_noise: bool = False
    name: str | None = None

    def __call__(self, model: nn.Module, batch: Batch, noise: Tensor | None) -> Tensor:
        """Call the function."""
        return self.function(model, batch, noise)

    def noise_shape(self, model: nn.Module) -> tuple[int, ...] | None:
        """The shape that was given."""
        return self.shape

    @property
    def per_sample_noise(self) -> bool:
        """As was given."""
        return self.own_noise

    def describe(self) -> Mapping[str, Any]:
        """Name the function, with a hash of its code and of the values that it holds."""
        if self.name is not None:
            return {"objective": self.name, "noise_shape": self.shape}
        name = f"{self.function.__module__}.{getattr(self.function, '__qualname__', 'callable')}"
        found = identity(self.function)
        known = {"identity": found} if found else {"identified": False}
        return {"objective": name, "noise_shape": self.shape, **known}


def check_identified(objective: Objective) -> None:
    """Refuse an objective that can't be told from others, before results are kept under its description.

    Raises:
        ValueError: It says so itself.
    """
    description = objective.describe()
    if not description.get("identified", True):
        raise ValueError(
            "`directory` needs an objective that can be told from others, but "
            f"`{description['objective']}` holds values that can't be compared. "
            'Name it by `objective(..., name="...")`, and give every other function another name.'
        )


def objective(
    function: LossFunction | Any,  # anything, so that our own message speaks first
    noise_shape: Sequence[int] | int | None = None,
    per_sample_noise: bool = False,
    name: str | None = None,
) -> Objective:
    r"""Make an objective of a function ``(model, batch, noise) -> losses [n]``.

    >>> import torch
    >>> def squared_error(model, batch, noise):
    ...     x, y = batch
    ...     return (model(x) - y).square().sum(1)
    >>> loss = objective(squared_error)
    >>> loss(torch.nn.Linear(3, 1), (torch.zeros(5, 3), torch.zeros(5, 1)), None).shape
    torch.Size([5])

    Args:
        function: It gets the model, a batch and the noise, and returns one loss a sample, the mean over
            the draws.
        noise_shape: The shape of one draw, or how many numbers it has. The function then gets
            ``[m, *noise_shape]``, and all samples share the draws. Without it the function gets none.
        per_sample_noise: Whether the function also takes ``[n, m, *noise_shape]``, draws of its own for
            each sample. Training is faster with it.
        name: What identifies the function in folders. Without it its code and the values that it holds
            do: a folder of results then belongs to this very function. With it you vouch for that.

    Raises:
        TypeError: `function` can't be called.
        ValueError: `noise_shape` has a size under 1.
    """
    if not callable(function):
        raise TypeError(
            "`function` must be a function (model, batch, noise) -> losses [n], "
            f"got a {type(function).__name__}."
        )
    if noise_shape is not None:
        sizes = (noise_shape,) if isinstance(noise_shape, int) else noise_shape
        noise_shape = tuple(int(size) for size in sizes)
        if any(size < 1 for size in noise_shape):
            raise ValueError(f"`noise_shape` must hold sizes of at least 1, got {noise_shape}.")
    return FunctionObjective(function, noise_shape, per_sample_noise, name)
