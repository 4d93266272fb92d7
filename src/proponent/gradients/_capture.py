"""The gradients of a model's losses, sample by sample, for any batch."""

import copy
from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from proponent.data import Batch, batch_size, move, take
from proponent.gradients._assembly import assemble
from proponent.gradients._block import Block
from proponent.gradients._check import check_against_autograd, check_rounding
from proponent.gradients._fallback import single_gradients, vectorised_gradients
from proponent.gradients._gradients import Gradients
from proponent.gradients._probe import Plan, Signature, probe, record, signature, without_factors
from proponent.objectives import Objective
from proponent.precision import check_precision, parameter_dtype, passes


class GradientCapture:
    """Takes per-sample gradients of a model's losses, as factors wherever a rule allows.

    It holds a copy of the model. `prepare` looks at a first batch: it refuses losses that couple samples,
    finds out how each parameter is used, and checks one sample's gradient against autograd. Calling the
    capture then gives the gradients of a batch.

    >>> import proponent as pp
    >>> squares = pp.objective(lambda model, x, noise: model(x).square().sum(1) / 2)
    >>> layer = nn.Linear(2, 1, bias=False)
    >>> capture = GradientCapture(layer, squares)
    >>> capture.load({"weight": torch.tensor([[1.0, 2.0]])})
    >>> capture(torch.tensor([[1.0, 0.0], [1.0, 1.0]]), None).materialise()
    tensor([[1., 0.],
            [3., 3.]])

    Args:
        model: The model. Parameters with ``requires_grad=False`` are left out, as they are not trained.
        objective: The per-sample loss.
        layers: Names of modules or parameters to restrict the gradients to, such as ``"decoder"``.
        precision: The arithmetic, by name.
        device: Where to compute; where the model is by default.

    Raises:
        ValueError: A layer or precision is not there, or nothing is left to differentiate.

    Attributes:
        sizes: How many numbers each tracked parameter has, in the model's order.
        facts: Coverage and the check of the first batch, fit for JSON; empty before `prepare`.
    """

    def __init__(
        self,
        model: nn.Module,
        objective: Objective,
        layers: Sequence[str] | None = None,
        precision: str = "float32",
        device: torch.device | str | None = None,
    ) -> None:
        check_precision(precision)
        self.precision = precision
        self.dtype = parameter_dtype(precision)
        self.objective = objective
        self.model = copy.deepcopy(model).to(dtype=self.dtype, device=device)
        self._trained = {name: parameter.requires_grad for name, parameter in self.model.named_parameters()}
        tracked = _tracked(self.model, layers)
        for name, parameter in self.model.named_parameters():
            parameter.requires_grad_(name in tracked)
        self._parameters = tracked
        first = next(iter(tracked.values()))
        self.device = first.device
        self.sizes = {name: parameter.numel() for name, parameter in tracked.items()}
        self.facts: dict[str, Any] = {}
        self._plans: dict[Signature, Plan] = {}
        self._vectorises = True

    def load(self, state: Mapping[str, Tensor]) -> None:
        """Take the parameters and buffers of a checkpoint."""
        self.model.load_state_dict(dict(state))
        self._plans = {key: plan for key, plan in self._plans.items() if plan.settled}

    def prepare(self, batch: Batch, noise: Tensor | None) -> None:
        """Look at a first batch; the results stand in `facts`.

        Raises:
            ValueError: The loss couples samples, is random beyond its noise, has the wrong shape, or its
                gradient differs from autograd's.
        """
        batch, noise = self._moved(batch, noise)
        with passes("float32", self.device):
            key, plan = probe(self.model, self.objective, self._parameters, batch, noise)
        self._plans[key] = plan
        self._vectorises = self._can_vectorise(plan, batch, noise)
        few = take(batch, slice(0, 3))
        exact = self._take(few, noise, "float64" if self.precision == "float64" else "float32")
        first = take(few, slice(0, 1))
        check = check_against_autograd(self.model, self.objective, self._parameters, exact, first, noise)
        if self.precision in ("tf32", "bfloat16"):
            check |= {"rounding": check_rounding(self._take(few, noise, self.precision), exact)}
        self.facts = {"coverage": self._coverage(plan), "check": check}

    def __call__(self, batch: Batch, noise: Tensor | None) -> Gradients:
        """Take the gradients of each sample's loss, averaged over the draws.

        Args:
            batch: n samples.
            noise: ``[m, *shape]``, the draws that all of them share; none for a loss without noise.
        """
        batch, noise = self._moved(batch, noise)
        return self._take(batch, noise, self.precision)

    def _take(self, batch: Batch, noise: Tensor | None, precision: str) -> Gradients:
        n = batch_size(batch)
        with passes(precision, self.device):
            tape, losses = record(self.model, self.objective, self._parameters, batch, noise)
            edges: list[Any] = [call.edge for call in tape.calls]
            at_outputs: Sequence[Tensor | None] = [None] * len(edges)
            if edges and losses.requires_grad:
                at_outputs = torch.autograd.grad(losses.sum(), edges, allow_unused=True)
        plan = self._plan(signature(tape, at_outputs, n), batch, noise)
        with torch.no_grad():
            blocks = assemble(tape.calls, at_outputs, plan.layouts, plan.served, n)
        if plan.fallback:
            with passes(precision, self.device):
                blocks = (*blocks, self._differentiate(plan, batch, noise))
        return Gradients(blocks, losses.detach(), self.sizes, precision)

    def _moved(self, batch: Batch, noise: Tensor | None) -> tuple[Batch, Tensor | None]:
        if noise is not None:
            noise = noise.to(device=self.device, dtype=self.dtype)
        return move(batch, self.device, self.dtype), noise

    def _plan(self, key: Signature, batch: Batch, noise: Tensor | None) -> Plan:
        if key not in self._plans:  # the first batch, or one that takes another way through the model
            with passes("float32", self.device):
                found, plan = probe(self.model, self.objective, self._parameters, batch, noise)
            self._plans[found] = plan
            if found.way != key.way:
                plan = without_factors(self._parameters, len(key.single))
            self._plans[key] = plan
            self._vectorises = self._vectorises and self._can_vectorise(plan, batch, noise)
        return self._plans[key]

    def _can_vectorise(self, plan: Plan, batch: Batch, noise: Tensor | None) -> bool:
        if not plan.fallback:
            return True
        try:
            vectorised_gradients(
                self.model, self.objective, list(plan.fallback), take(batch, slice(0, 1)), noise
            )
        except torch.OutOfMemoryError:
            raise
        except Exception:  # whatever torch.func can't transform is differentiated sample by sample
            return False
        return True

    def _differentiate(self, plan: Plan, batch: Batch, noise: Tensor | None) -> Block:
        take_gradients = vectorised_gradients if self._vectorises else single_gradients
        return take_gradients(self.model, self.objective, list(plan.fallback), batch, noise)

    def _coverage(self, plan: Plan) -> dict[str, Any]:
        total = sum(self.sizes.values())
        left_out = {
            name: "not trained" if not self._trained[name] else "not among `layers`"
            for name, _ in self.model.named_parameters()
            if name not in self.sizes
        }
        slow = {
            "parameters": list(plan.fallback),
            "share": sum(self.sizes[name] for name in plan.fallback) / total,
            "way": "vmap(grad)" if self._vectorises else "sample by sample",
            "reasons": dict(plan.fallback),
        }
        return {
            "parameters": total,
            "share": total / sum(parameter.numel() for parameter in self.model.parameters()),
            "left_out": left_out,
            "by_factors": sum(self.sizes[name] for name in plan.served) / total,
            "by_differentiation": slow if plan.fallback else None,
            "without_gradient": sorted(plan.unused),
        }


def _tracked(model: nn.Module, layers: Sequence[str] | None) -> dict[str, Tensor]:
    trained = {name: p for name, p in model.named_parameters() if p.requires_grad}
    if not trained:
        raise ValueError("`model` must have parameters with `requires_grad=True`, found none.")
    if layers is None:
        return dict(trained)
    if not layers:
        raise ValueError("`layers` must name at least one layer, got an empty list. Leave it out for all.")
    chosen: set[str] = set()
    for layer in layers:
        inside = {name for name in trained if name == layer or name.startswith(f"{layer}.")}
        if not inside:
            known = sorted({name.rpartition(".")[0] or name for name in trained})
            raise ValueError(
                f"`layers` names `{layer}`, which has no trainable parameter. There are: {', '.join(known)}."
            )
        chosen |= inside
    return {name: parameter for name, parameter in trained.items() if name in chosen}
