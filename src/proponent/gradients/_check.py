"""The check of every job's first batch: one sample's gradient against plain autograd."""

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor, nn

from proponent.data import Batch
from proponent.gradients._gradients import Gradients
from proponent.gradients._precision import passes
from proponent.objectives import Objective

# What rounding can make of a gradient through a deep model; a missing term is of order one.
_ALLOWED = {"float64": 1e-8, "float32": 1e-3, "tf32": 3e-2, "bfloat16": 2e-1}


def check_against_autograd(
    model: nn.Module,
    objective: Objective,
    parameters: Mapping[str, Tensor],
    gradients: Gradients,
    sample: Batch,
    noise: Tensor | None,
    precision: str,
) -> dict[str, Any]:
    """Compare the first of some gradients with autograd's, parameter by parameter.

    Args:
        model: The model.
        objective: The loss.
        parameters: The tracked parameters.
        gradients: Of a batch that begins with `sample`.
        sample: A batch of one.
        noise: The draws.
        precision: The arithmetic in which `gradients` were computed; the reference is not rounded.

    Returns:
        The relative error of the whole gradient, and the worst parameter.

    Raises:
        ValueError: They differ by more than rounding; it names the parameter.
    """
    with passes("float32", next(iter(parameters.values())).device):
        loss = objective(model, sample, noise)[0]
        expected = torch.autograd.grad(
            loss, list(parameters.values()), allow_unused=True, materialize_grads=True
        )
    found = gradients.select(0, 1).by_parameter()
    whole = max(
        torch.cat([e.to_dense().flatten() for e in expected]).norm().item(), torch.finfo(loss.dtype).tiny
    )
    squares, worst = 0.0, ("", 0.0)
    for name, e in zip(parameters, expected, strict=True):
        e = e.to_dense().flatten()
        error = ((found[name][0] if name in found else 0) - e).norm().item()
        squares += error**2
        # A parameter whose gradient vanishes beside the others is judged beside them.
        relative = error / max(e.norm().item(), 1e-2 * whole)
        if not relative <= worst[1]:
            worst = (name, relative)
    if not worst[1] <= _ALLOWED[precision]:
        raise ValueError(
            f"The gradient of `{worst[0]}` differs from autograd's by {worst[1]:.1e} of its norm, "
            f"where {precision} allows {_ALLOWED[precision]:.0e}. The loss may hold NaN, or "
            "the model computes in a way the capture does not follow; please report it with "
            "the layer's definition."
        )
    return {"relative_error": squares**0.5 / whole, "worst_parameter": worst[0], "worst_error": worst[1]}
