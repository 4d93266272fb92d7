"""The loop: steps until the next pause, then losses are read, and parameters kept."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from proponent.training._checkpoint import Checkpoint
from proponent.training._divergence import check_losses, check_parameters
from proponent.training._feed import Feed
from proponent.training._keeper import Keeper, Progress
from proponent.training._plan import Plan
from proponent.training._progress_bar import Report
from proponent.training._runner import Runner
from proponent.training._step import Step


@dataclass
class Loop:
    """A training under way.

    Attributes:
        plan: What it does.
        step: One step; it holds all that changes.
        feed: What the steps see.
        runner: What makes steps in a row.
        keepers: Where each member's checkpoints go.
        rates: Each member's learning rate.
    """

    plan: Plan
    step: Step
    feed: Feed
    runner: Runner
    keepers: Sequence[Keeper]
    rates: Sequence[float]

    def __post_init__(self) -> None:
        members = len(self.keepers)
        self.done = 0
        self.losses = torch.zeros(0, members, dtype=torch.float64)
        self.pending = torch.zeros(0, members, dtype=torch.float64)

    def resume(self) -> None:
        """Go to the last checkpoint that every member has, if there is one."""
        common = set.intersection(*[set(keeper.steps_to_resume()) for keeper in self.keepers])
        if not common:
            for keeper in self.keepers:
                keeper.checkpoints.clear()
            return
        self.done = max(common)
        found = [keeper.resume(self.done) for keeper in self.keepers]
        learner, rule = self.step.learner, self.step.rule
        learner.fill(learner.tensors(), [each.state for each in found])
        if self.done < self.plan.steps:
            for name, slot in rule.slots.items():
                learner.fill(slot, [each.slots[name] for each in found])
            rule.resume(self.done)
        self.losses = torch.stack([each.losses for each in found], 1)
        self.pending = torch.stack([each.pending for each in found], 1)

    def run(self, report: Report) -> None:
        """Make the steps that are left."""
        if self.done == 0 and self.plan.checkpoint_steps[0] == 0 and not self.keepers[0].checkpoints:
            self._keep()
        for pause in self.plan.pauses(self.done):
            pieces = [self.runner(*piece) for piece in self.feed.steps(self.done, pause)]
            self._read(torch.cat(pieces), pause)
            if pause % self.plan.log_every == 0 or pause == self.plan.steps:
                self._log()
                report(pause, float(self.losses[-1].mean()))
            if pause in self.plan.checkpoint_steps:
                self._keep()

    def _read(self, losses: Tensor, pause: int) -> None:
        """Bring the losses to the CPU: the one moment at which Python waits for the device."""
        losses = losses.to("cpu", torch.float64).reshape(-1, len(self.keepers))
        check_losses(losses, pause, self.rates, self._last())
        self.pending = torch.cat([self.pending, losses])
        self.done = pause

    def _log(self) -> None:
        self.losses = torch.cat([self.losses, self.pending.mean(0, keepdim=True)])
        self.pending = self.pending[:0]

    def _keep(self) -> None:
        learner, slots = self.step.learner, self.step.rule.slots
        states = learner.split(learner.tensors())
        check_parameters(states, self.done, self.rates, self._last())
        if self.done == self.plan.steps:  # nothing will be taken up from here
            slots = {name: slot for name, slot in slots.items() if name == "second"}
        parts = {name: learner.split(slot) for name, slot in slots.items()}
        for member, keeper in enumerate(self.keepers):
            own = {name: part[member] for name, part in parts.items()}
            progress = Progress(
                self.done, states[member], own, self.losses[:, member], self.pending[:, member]
            )
            keeper.stage(progress)
        for keeper in self.keepers:
            keeper.commit()
        for keeper in self.keepers:
            keeper.sweep()

    def _last(self) -> list[Checkpoint | None]:
        return [keeper.last() for keeper in self.keepers]
