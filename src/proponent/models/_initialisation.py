"""How the paper's experiments draw the first parameters."""

import math

import torch
from torch import nn

from proponent.randomness import keyed_generator


def initialise(model: nn.Module, generator: torch.Generator | None) -> None:
    """Draw the parameters of all linear and convolutional layers, in the order of the layers.

    Linear and convolutional layers get Kaiming-normal weights and zero biases; transposed convolutions
    what PyTorch gives them by default.

    Args:
        model: Its parameters are overwritten.
        generator: Where the numbers come from. Without one they are the same in every call.
    """
    generator = generator or keyed_generator(0, "initialisation")
    for layer in model.modules():
        if isinstance(layer, nn.Linear | nn.Conv2d):
            nn.init.kaiming_normal_(layer.weight, generator=generator)
            assert layer.bias is not None
            nn.init.zeros_(layer.bias)
        elif isinstance(layer, nn.ConvTranspose2d):
            nn.init.kaiming_uniform_(layer.weight, a=math.sqrt(5), generator=generator)
            assert layer.bias is not None
            bound = 1 / math.sqrt(layer.weight[0].numel())
            nn.init.uniform_(layer.bias, -bound, bound, generator=generator)
