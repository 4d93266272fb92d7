"""What is trained: one model, or several as one batched model, seen as tensors and a loss."""

import copy
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence

import torch
from torch import Tensor, nn

from proponent.data import Batch
from proponent.objectives import Objective
from proponent.training._fitting import misfits, shapes_of
from proponent.training._ledger import Ledger
from proponent.training._split import split_layers

Tensors = dict[str, Tensor]


class Learner(ABC):
    """Trainable tensors and the loss that depends on them.

    Attributes:
        members: How many models are stacked along a leading axis of every tensor, or none for a single
            model without that axis.
        parameters: What is trained: leaves that are changed in place.
    """

    members: int | None
    parameters: Tensors

    @abstractmethod
    def split_layers(self, ledger: Ledger) -> None:
        """From now on compute the losses by layers whose weight gradients go to the ledger."""

    def join_members(self, ledger: Ledger) -> None:  # noqa: B027 (one model has nothing to join)
        """From now on put the members' batches into one, where the model allows it."""

    @abstractmethod
    def losses(self, batch: Batch, noise: Tensor | None) -> Tensor:
        """The losses ``[n]``, or ``[members, n]`` of a batch ``[members, n, ...]``."""

    @abstractmethod
    def tensors(self) -> Tensors:
        """Everything that belongs to the models' state, by the names of a state dict."""

    @abstractmethod
    def changing(self) -> list[Tensor]:
        """Everything that a step may change, buffers that no state dict has included."""

    @abstractmethod
    def example(self) -> nn.Module:
        """A model of the kind that is trained, to be asked about its shapes."""

    @abstractmethod
    def models(self) -> list[nn.Module]:
        """The models as they are now, in evaluation mode."""

    def place(self) -> tuple[torch.device, torch.dtype]:
        """On which device and in which dtype training goes on."""
        first = next(iter(self.parameters.values()))
        return first.device, first.dtype

    def split(self, tensors: Mapping[str, Tensor]) -> list[Tensors]:
        """Part what is stacked by member."""
        if self.members is None:
            return [dict(tensors)]
        return [{name: tensor[i] for name, tensor in tensors.items()} for i in range(self.members)]

    @torch.no_grad()
    def fill(self, tensors: Mapping[str, Tensor], members: Sequence[Mapping[str, Tensor]]) -> None:
        """Write each member's numbers into tensors such as `split` parts.

        Raises:
            ValueError: They are of other names or shapes.
        """
        for ours, theirs in zip(self.split(tensors), members, strict=True):
            found = misfits(shapes_of(theirs), shapes_of(ours))
            if found:
                raise ValueError(
                    f"What a training is taken up with must fit what is trained, but these keys are {found}. "
                    "Pass the model of that training, with the same parameters frozen."
                )
            for name, tensor in ours.items():
                tensor.copy_(theirs[name])


class SingleModel(Learner):
    """One model, trained as it is.

    Args:
        model: It is copied.
        objective: The loss.
        device: Where it is trained.
        dtype: In which its floating-point numbers are held.
        channels_last: Whether the weights of convolutions lie with their channels last.
    """

    def __init__(
        self,
        model: nn.Module,
        objective: Objective,
        device: torch.device,
        dtype: torch.dtype,
        channels_last: bool,
    ) -> None:
        self.members = None
        self.model = copy.deepcopy(model).to(device, dtype).train()
        if channels_last:
            self.model.to(memory_format=torch.channels_last)  # type: ignore[call-overload]
        self.objective = objective
        self.parameters = trainable(self.model)
        self.called = self.model

    def split_layers(self, ledger: Ledger) -> None:
        """Call a twin of the model."""
        self.called, slots = split_layers(self.model, ledger, stacked=False)
        for slot in slots:
            slot.weight = self.parameters[slot.weight_name]
            slot.bias = None if slot.bias_name is None else self.parameters[slot.bias_name]

    def losses(self, batch: Batch, noise: Tensor | None) -> Tensor:
        """The objective's."""
        return self.objective(self.called, batch, noise)

    def tensors(self) -> Tensors:
        """The state dict."""
        return dict(self.model.state_dict())

    def changing(self) -> list[Tensor]:
        """Parameters and buffers."""
        return [*self.parameters.values(), *self.model.buffers()]

    def example(self) -> nn.Module:
        """The model."""
        return self.model

    def models(self) -> list[nn.Module]:
        """The model."""
        return [self.model.eval()]


def trainable(model: nn.Module) -> Tensors:
    """The parameters that want a gradient.

    Raises:
        ValueError: None does.
    """
    parameters: Tensors = {
        name: parameter for name, parameter in model.named_parameters() if parameter.requires_grad
    }
    if not parameters:
        raise ValueError(
            "`model` must have a parameter with `requires_grad`, got none. Nothing can be trained."
        )
    return parameters
