"""One step of training: losses, gradients, the rule."""

import torch
from torch import Tensor

from proponent.data import Batch
from proponent.precision import passes
from proponent.training._learner import Learner
from proponent.training._ledger import Ledger
from proponent.training._rules import Rule


class Step:
    """Makes steps in place.

    Args:
        learner: What is trained.
        rule: How gradients move it.
        precision: In which arithmetic losses and gradients are computed.
        ledger: Where split layers leave their gradients, if the learner has such.
    """

    def __init__(self, learner: Learner, rule: Rule, precision: str, ledger: Ledger | None = None) -> None:
        self.learner, self.rule, self.precision = learner, rule, precision
        self.ledger = ledger
        self.device, _ = learner.place()
        self._weights: Tensor | None = None

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
        with passes(self.precision, self.device):
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
        named = zip(parameters, gradients, strict=True)
        found = {name: gradient for name, gradient in named if gradient is not None}
        return found if self.ledger is None else self._with_split(found, self.ledger)

    def _with_split(self, found: dict[str, Tensor], ledger: Ledger) -> dict[str, Tensor]:
        """Add the gradients that split layers made; from the second step on some may go straight."""
        split = ledger.collect()
        used_elsewhere = found.keys() & split.keys()
        ledger.deferred |= used_elsewhere
        ledger.straight = self.rule.straight
        return found | split | {name: found[name] + split[name] for name in used_elsewhere}

    def _loss_weights(self, losses: Tensor) -> Tensor:
        """The weight of each sample's loss: a mean over the batch, times what the rule wants before it."""
        if self._weights is None or self._weights.shape != losses.shape:
            weight = (self.rule.loss_weight() / losses.shape[-1]).to(losses.dtype)
            weight = weight.reshape(weight.shape + (1,) * (losses.ndim - weight.ndim))
            self._weights = weight.expand_as(losses).contiguous()
        return self._weights
