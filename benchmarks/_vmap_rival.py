"""Per-sample gradients by `torch.func.vmap(grad)`, then one matrix product: what one writes without us."""

from collections.abc import Iterator

import torch
from torch import Tensor, nn
from torch.func import functional_call, grad, vmap

from _workload import Workload
from proponent.objectives import Objective


def vmap_scores(work: Workload, chunk: int) -> Tensor:
    """Compute ``[n, q]`` inner products of gradients, of which `chunk` are formed at once."""
    asked = [
        torch.cat(parts)
        for parts in zip(*_gradients(work, work.queries, work.query_noise, chunk), strict=True)
    ]
    return torch.cat(
        [
            sum(G @ Q.T for G, Q in zip(gradients, asked, strict=True))
            for gradients in _gradients(work, work.samples, work.noise, chunk)
        ]
    )


def _gradients(work: Workload, samples: Tensor, noise: Tensor, chunk: int) -> Iterator[list[Tensor]]:
    """The gradients of each chunk, one matrix a parameter."""
    losses = _Losses(work.vae, work.objective)
    parameters = {name: parameter.detach() for name, parameter in losses.named_parameters()}

    def loss(parameters: dict[str, Tensor], sample: Tensor) -> Tensor:
        return functional_call(losses, parameters, (sample[None], noise))[0]

    each = vmap(grad(loss), (None, 0))
    for part in samples.split(chunk):
        yield [gradient.flatten(1) for gradient in each(parameters, part).values()]


class _Losses(nn.Module):
    """The objective as a module, so that its parameters can be replaced."""

    def __init__(self, model: nn.Module, objective: Objective) -> None:
        super().__init__()
        self.model, self.objective = model, objective

    def forward(self, batch: Tensor, noise: Tensor) -> Tensor:
        return self.objective(self.model, batch, noise)
