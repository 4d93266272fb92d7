"""The check of every job's first batch: one sample's gradient against plain autograd."""

from collections.abc import Iterable, Mapping
from typing import Any

import torch
from torch import Tensor, nn

from proponent.data import Batch
from proponent.gotchas import see
from proponent.gradients._gradients import Gradients
from proponent.objectives import Objective
from proponent.precision import passes

# What rounding can make of a gradient through a deep model; a missing term is of order one.
_ALLOWED = {torch.float64: 1e-8, torch.float32: 1e-3}
# What a coarser arithmetic may make of a whole gradient before it tells nothing.
_ALLOWED_ROUNDING = 0.5


def check_against_autograd(
    model: nn.Module,
    objective: Objective,
    parameters: Mapping[str, Tensor],
    gradients: Gradients,
    sample: Batch,
    noise: Tensor | None,
) -> dict[str, Any]:
    """Compare the first of some gradients with autograd's, parameter by parameter.

    Args:
        model: The model.
        objective: The loss.
        parameters: The tracked parameters.
        gradients: Of a batch that begins with `sample`.
        sample: A batch of one.
        noise: The draws.

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
    truth = {name: e.to_dense().flatten() for name, e in zip(parameters, expected, strict=True)}
    errors = _norms((found[name][0] if name in found else 0) - e for name, e in truth.items())
    norms = _norms(truth.values())
    whole = norms[norms.isfinite()].norm().clamp_min(torch.finfo(loss.dtype).tiny)
    # A parameter whose gradient vanishes beside the others is judged beside them.
    relative = errors / torch.maximum(norms, 1e-2 * whole)
    place = int(relative.argmax())  # NaN counts as the largest
    name, worst = list(truth)[place], relative[place].item()
    if not worst <= _ALLOWED[loss.dtype]:
        raise ValueError(
            f"The gradient of `{name}` differs from autograd's by {worst:.1e} of its norm, "
            f"where {loss.dtype} allows {_ALLOWED[loss.dtype]:.0e}. The gradient may hold NaN, or "
            "the model computes in a way the capture does not follow; please report it with "
            "the layer's definition."
        )
    return {
        "relative_error": (errors.norm() / whole).item(),
        "worst_parameter": name,
        "worst_error": worst,
    }


def check_rounding(gradients: Gradients, exact: Gradients) -> float:
    """Measure what rounding made of some gradients, as a share of their norm.

    Raises:
        ValueError: It is half of it or more.
    """
    truth = exact.materialise()
    error: float = (gradients.materialise() - truth).norm().item() / max(
        truth.norm().item(), torch.finfo(truth.dtype).tiny
    )
    if not error <= _ALLOWED_ROUNDING:
        raise ValueError(
            f"In {gradients.precision} the gradients of the first samples differ by {error:.1e} of their "
            f'norm from those in {exact.precision}. Use `precision="{exact.precision}"`.' + see("precisions")
        )
    return error


def _norms(vectors: Iterable[Tensor]) -> Tensor:
    """Norms, in float64 and on the CPU."""
    return torch.tensor([vector.norm().item() for vector in vectors], dtype=torch.float64)
