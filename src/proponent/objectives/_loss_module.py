"""A loss as a module, so that `torch.func.functional_call` reaches the parameters of its model."""

from collections.abc import Callable
from typing import Any

from torch import Tensor, nn


class LossModule(nn.Module):
    """Holds a model under the name ``model`` and calls a loss on it.

    Args:
        model: The model.
        loss: ``(model, *arguments) -> losses``, such as an objective.
    """

    def __init__(self, model: nn.Module, loss: Callable[..., Tensor]) -> None:
        super().__init__()
        self.model, self.loss = model, loss

    def forward(self, *arguments: Any) -> Tensor:
        """Call the loss on the model and what else it takes."""
        return self.loss(self.model, *arguments)
