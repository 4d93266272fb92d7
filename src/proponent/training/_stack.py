"""Many models of one architecture as one batched model."""

import copy
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor, nn
from torch.func import functional_call, vmap

from proponent.data import Batch
from proponent.objectives import Elbo, LossModule, Objective
from proponent.training._joined import JoinedBatches
from proponent.training._learner import Learner, Tensors, trainable
from proponent.training._ledger import Ledger
from proponent.training._split import split_layers

# (model, batch, noise, beta) -> losses; beta is a member's own, or none where members share the objective
MemberLoss = Callable[[nn.Module, Any, Any, Any], Tensor]


class StackedModels(Learner):
    """Models whose parameters are stacked along a leading axis, and trained by `torch.func.vmap`.

    Args:
        models: The members' models, alike but for their numbers.
        objectives: The members' losses: the same, or ELBOs that differ in beta.
        device: Where they are trained.
        dtype: In which their floating-point numbers are held.

    Raises:
        ValueError: The models are of several architectures, or the objectives differ in more than beta.
    """

    def __init__(
        self,
        models: Sequence[nn.Module],
        objectives: Sequence[Objective],
        device: torch.device,
        dtype: torch.dtype,
    ) -> None:
        _check_alike(models)
        self.members = len(models)
        self.template = copy.deepcopy(models[0]).to(device, dtype).train()
        wanted = trainable(self.template)
        self.parameters = {
            name: _stacked(models, name, like).requires_grad_() for name, like in wanted.items()
        }
        self.others = {
            name: _stacked(models, name, like)
            for name, like in [*self.template.named_parameters(), *self.template.named_buffers()]
            if name not in wanted
        }
        loss, betas = _common_loss(objectives)
        self.betas = None if betas is None else torch.tensor(betas, device=self.place()[0], dtype=dtype)
        self.loss = LossModule(self.template, loss)
        self.joined: JoinedBatches | None = None
        self.joined_is_checked = False

    def split_layers(self, ledger: Ledger) -> None:
        """Call a twin of the template."""
        twin, slots = split_layers(self.template, ledger, stacked=True)
        self.loss = LossModule(twin, self.loss.loss)
        for slot in slots:
            slot.weight = self.parameters[slot.weight_name]

    def join_members(self, ledger: Ledger) -> None:
        """Put the members' batches into one from the first step on, if the losses come out the same."""
        joined = JoinedBatches(self.template, self.parameters, self.loss.loss, self.betas, ledger)
        self.joined = joined if joined.holds_everything else None

    def losses(self, batch: Batch, noise: Tensor | None) -> Tensor:
        """Every member's losses on its own batch."""
        if self.joined is not None and not self.joined_is_checked:
            self.joined_is_checked = True
            if not self.joined.agrees(batch, noise, lambda: self._mapped(batch, noise)):
                self.joined = None
        return self._mapped(batch, noise) if self.joined is None else self.joined.losses(batch, noise)

    def _mapped(self, batch: Batch, noise: Tensor | None) -> Tensor:
        arguments = (self.parameters, self.others, batch, noise, self.betas)
        in_dims = tuple(None if each is None or each == {} else 0 for each in arguments)
        losses: Tensor = vmap(self._member_losses, in_dims, randomness="different")(*arguments)
        return losses

    def tensors(self) -> Tensors:
        """The members' state dicts, stacked."""
        own = {**self.parameters, **self.others}
        names = {id(tensor): name for name, tensor in self._own_of_template()}
        state = self.template.state_dict(keep_vars=True)
        return {name: own[names[id(tensor)]].detach() for name, tensor in state.items()}

    def changing(self) -> list[Tensor]:
        """Parameters and buffers."""
        return [*self.parameters.values(), *self.others.values()]

    def example(self) -> nn.Module:
        """The model whose shapes all have."""
        return self.template

    def models(self) -> list[nn.Module]:
        """A model for each member."""
        models = []
        for state in self.split(self.tensors()):
            model = copy.deepcopy(self.template).eval()
            model.load_state_dict(state)
            models.append(model)
        return models

    def _member_losses(
        self,
        parameters: Tensors,
        others: Tensors,
        batch: Batch,
        noise: Tensor | None,
        beta: Tensor | None,
    ) -> Tensor:
        own = {f"model.{name}": tensor for name, tensor in [*parameters.items(), *others.items()]}
        losses: Tensor = functional_call(self.loss, own, (batch, noise, beta))
        return losses

    def _own_of_template(self) -> list[tuple[str, Tensor]]:
        return [*self.template.named_parameters(), *self.template.named_buffers()]


def _common_loss(objectives: Sequence[Objective]) -> tuple[MemberLoss, list[float] | None]:
    """One loss for all members, and the betas in which they differ."""
    first = objectives[0]
    if all(each == first for each in objectives):
        return lambda model, batch, noise, beta: first(model, batch, noise), None
    elbos = [each for each in objectives if isinstance(each, Elbo)]
    if len(elbos) == len(objectives) and len({replace(each, beta=1.0) for each in elbos}) == 1:
        return elbos[0].at_beta, [each.beta for each in elbos]
    raise ValueError(
        "The members' objectives must be the same, or ELBOs that differ in `beta` alone. Train those that "
        "differ in more with `fit`, or as ensembles of their own."
    )


def _stacked(models: Sequence[nn.Module], name: str, like: Tensor) -> Tensor:
    parent, _, leaf = name.rpartition(".")
    tensors = [getattr(model.get_submodule(parent), leaf).detach() for model in models]
    return torch.stack([tensor.to(like.device, like.dtype) for tensor in tensors])


def _check_alike(models: Sequence[nn.Module]) -> None:
    first = _shapes(models[0])
    for number, model in enumerate(models):
        other = _shapes(model)
        differing = [name for name in {**first, **other} if first.get(name) != other.get(name)]
        if differing:
            raise ValueError(
                f"The members' models must be alike but for their numbers, but model {number} differs from "
                f"model 0 in {', '.join(differing[:5])}. Train them as ensembles of their own."
            )


def _shapes(model: nn.Module) -> Mapping[str, tuple[int, ...]]:
    named = [*model.named_parameters(), *model.named_buffers()]
    return {name: tuple(tensor.shape) for name, tensor in named}
