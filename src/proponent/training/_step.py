"""One step of training: losses, gradients, the rule."""

import torch
from torch import Tensor

from proponent.data import Batch
from proponent.training._arithmetic import arithmetic
from proponent.training._learner import Learner
from proponent.training._rules import Rule


class Step:
    """Makes steps in place.

    Args:
        learner: What is trained.
        rule: How gradients move it.
        precision_name: In which arithmetic losses and gradients are computed.
    """

    def __init__(self, learner: Learner, rule: Rule, precision_name: str) -> None:
        self.learner, self.rule, self.precision_name = learner, rule, precision_name
        self.device = next(iter(learner.parameters.values())).device

    def __call__(self, batch: Batch, noise: Tensor | None, shape: torch.Size) -> Tensor:
        """Make a step and return the losses from before it.

        Args:
            batch: Samples ``[n, ...]`` or ``[members, n, ...]``.
            noise: Their noise.
            shape: What the losses' shape must be, ``[n]`` or ``[members, n]``.

        Raises:
            ValueError: The objective returns another.
        """
        # The block ends with the step: autocast keeps cast copies of the parameters until then.
        with arithmetic(self.precision_name, self.device):
            losses = self.learner.losses(batch, noise)
            if losses.shape != shape:
                raise ValueError(
                    f"The objective must return one loss a sample, {list(shape)} for this batch, got "
                    f"{list(losses.shape)}. Sum over features, and leave the mean over samples out."
                )
            gradients = self._gradients(losses)
        with torch.no_grad():
            self.rule.apply(gradients)
        return losses.detach()

    def changed(self) -> list[Tensor]:
        """Every tensor that a step changes."""
        slots = [tensor for slot in self.rule.slots.values() for tensor in slot.values()]
        return [*self.learner.changing(), *slots, *self.rule.counters()]

    def _gradients(self, losses: Tensor) -> dict[str, Tensor]:
        parameters = self.learner.parameters
        gradients = torch.autograd.grad(
            losses, list(parameters.values()), self._loss_weights(losses), allow_unused=True
        )
        found = zip(parameters, gradients, strict=True)
        return {name: gradient for name, gradient in found if gradient is not None}

    def _loss_weights(self, losses: Tensor) -> Tensor:
        """The weight of each sample's loss: a mean over the batch, times what the rule wants before it."""
        weight = (self.rule.loss_weight() / losses.shape[-1]).to(losses.dtype)
        return weight.reshape(weight.shape + (1,) * (losses.ndim - weight.ndim)).expand_as(losses)
