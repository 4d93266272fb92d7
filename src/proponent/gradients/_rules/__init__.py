"""Factor rules, one for each torch function that has a fast one.

A rule takes a function's own arguments and says how the call uses its parameters. Functions rather than
modules: a model that calls `torch.nn.functional.linear` with a parameter of its own is served like one
that holds a `torch.nn.Linear`.
"""

from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch.nn import functional as F

from proponent.gradients._rules._convolution import convolution, transposed_convolution
from proponent.gradients._rules._embedding import embedding
from proponent.gradients._rules._linear import linear
from proponent.gradients._rules._normalisation import batch_norm, group_norm, instance_norm, layer_norm
from proponent.gradients._rules._use import Use

RULES: Mapping[Callable[..., Any], Callable[..., Use]] = {
    F.linear: linear,
    torch.conv1d: convolution(1),
    torch.conv2d: convolution(2),
    torch.conv3d: convolution(3),
    torch.conv_transpose1d: transposed_convolution(1),
    torch.conv_transpose2d: transposed_convolution(2),
    torch.conv_transpose3d: transposed_convolution(3),
    F.embedding: embedding,
    F.layer_norm: layer_norm,
    F.group_norm: group_norm,
    F.instance_norm: instance_norm,
    F.batch_norm: batch_norm,
}

__all__ = ["RULES", "Use"]
