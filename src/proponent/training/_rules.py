"""How gradients move parameters: SGD and Adam on tensors alone, so that a CUDA graph can hold a step."""

from abc import ABC, abstractmethod
from collections.abc import Mapping

import torch
from torch import Tensor

from proponent.training._optimizer import Optimizer

Tensors = dict[str, Tensor]


class Rule(ABC):
    """An optimiser's state beside the parameters, and the step it makes.

    Attributes:
        slots: Its state, a tensor for each parameter under each name; what a restart needs.
        straight: Whether a step only subtracts the gradients, so that each may be subtracted where it is
            made.
    """

    slots: dict[str, Tensors]
    straight = False

    @abstractmethod
    def loss_weight(self) -> Tensor:
        """By what the gradient that comes to `apply` is multiplied: a number, or one for each member."""

    @abstractmethod
    def apply(self, gradients: Mapping[str, Tensor]) -> None:
        """Make a step in place. A parameter without a gradient stays as it is."""

    def resume(self, step: int) -> None:  # noqa: B027 (SGD doesn't count)
        """Take up at a step, after `slots` were filled."""

    def counters(self) -> list[Tensor]:
        """Other tensors that a step changes."""
        return []


class SGD(Rule):
    r"""$b \leftarrow \mu b + \eta g$, $\theta \leftarrow \theta - b$.

    The learning rate is put into the gradient of the loss, where it costs nothing; so the buffer $b$ has it
    in it, unlike torch's.

    Args:
        parameters: What is trained.
        optimizer: For $\mu$.
        rates: The learning rate, or one for each member of stacked parameters.
    """

    def __init__(self, parameters: Tensors, optimizer: Optimizer, rates: Tensor) -> None:
        self.parameters = parameters
        self.momentum = optimizer.momentum
        self.straight = not self.momentum
        self.rates = rates
        self.slots = {"momentum": _zeros(parameters)} if self.momentum else {}

    def loss_weight(self) -> Tensor:
        """The learning rate."""
        return self.rates

    def apply(self, gradients: Mapping[str, Tensor]) -> None:
        """One fused subtraction; with momentum, through the buffers."""
        if not gradients:
            return
        names = list(gradients)
        moves = list(gradients.values())
        if self.momentum:
            buffers = [self.slots["momentum"][name] for name in names]
            torch._foreach_mul_(buffers, self.momentum)
            torch._foreach_add_(buffers, moves)
            moves = buffers
        torch._foreach_sub_([self.parameters[name] for name in names], moves)


class Adam(Rule):
    r"""$\theta \leftarrow \theta - \eta \, \hat m / (\sqrt{\hat v} + \epsilon)$ with bias-corrected moments.

    Args:
        parameters: What is trained.
        optimizer: For the betas and $\epsilon$.
        rates: The learning rate, or one for each member of stacked parameters.
    """

    def __init__(self, parameters: Tensors, optimizer: Optimizer, rates: Tensor) -> None:
        self.parameters = parameters
        self.optimizer = optimizer
        self.rates = rates.to(torch.float64)
        self.count = torch.zeros((), dtype=torch.float64, device=rates.device)
        self.slots = {"first": _zeros(parameters), "second": _zeros(parameters)}

    def loss_weight(self) -> Tensor:
        """The gradient as it is."""
        return torch.ones_like(self.rates)

    def apply(self, gradients: Mapping[str, Tensor]) -> None:
        """Adam's step, with the count and the corrections on the device."""
        (beta1, beta2), names = self.optimizer.betas, list(gradients)
        g = list(gradients.values())
        m = [self.slots["first"][name] for name in names]
        v = [self.slots["second"][name] for name in names]
        self.count += 1
        torch._foreach_lerp_(m, g, 1 - beta1)
        torch._foreach_mul_(v, beta2)
        torch._foreach_addcmul_(v, g, g, 1 - beta2)
        root = (1 - beta2**self.count).sqrt()
        rate = self.rates / (1 - beta1**self.count)
        denominators = torch._foreach_sqrt(v)
        torch._foreach_div_(denominators, root.to(g[0].dtype))
        torch._foreach_add_(denominators, self.optimizer.eps)
        moves = torch._foreach_div(m, denominators)
        for move in moves:
            move.mul_(_by_member(rate, move))
        torch._foreach_sub_([self.parameters[name] for name in names], moves)

    def resume(self, step: int) -> None:
        """Set the count."""
        self.count.fill_(step)

    def counters(self) -> list[Tensor]:
        """The count."""
        return [self.count]


def make_rule(parameters: Tensors, optimizer: Optimizer, rates: Tensor) -> Rule:
    """The rule of an optimiser's name."""
    rules: dict[str, type[SGD] | type[Adam]] = {"sgd": SGD, "adam": Adam}
    if optimizer.name not in rules:
        raise ValueError(f'`optimizer` must be "sgd" or "adam" for training, got {optimizer.name!r}.')
    return rules[optimizer.name](parameters, optimizer, rates)


def _by_member(rate: Tensor, like: Tensor) -> Tensor:
    return rate.to(like.dtype).reshape(rate.shape + (1,) * (like.ndim - rate.ndim))


def _zeros(parameters: Tensors) -> Tensors:
    return {name: torch.zeros_like(parameter, requires_grad=False) for name, parameter in parameters.items()}
