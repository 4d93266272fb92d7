"""A record of how a loss uses the parameters: which calls, on what, and where their outputs lie.

While a tape is on, every torch function goes past it. A call that has a rule and takes a tracked
parameter in the place that the rule is for is noted. Any other differentiable use of a parameter is
noted as such: nothing can be left out without a trace.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.autograd.graph import GradientEdge, get_gradient_edge
from torch.overrides import TorchFunctionMode

from proponent.gradients._rules import RULES, Use
from proponent.gradients._substitutes import substituted


@dataclass(frozen=True, eq=False)
class Call:
    """One call that a rule describes.

    Attributes:
        use: What the rule says.
        weight: The tracked weight's name, or none.
        bias: The tracked bias's name, or none.
        edge: The output as it left the call, whatever is done to it in place afterwards.
        shape: The output's shape.
        version: The input's version counter at the call.
    """

    use: Use
    weight: str | None
    bias: str | None
    edge: GradientEdge
    shape: torch.Size
    version: int

    @property
    def names(self) -> tuple[str, ...]:
        """The tracked parameters."""
        return tuple(name for name in (self.weight, self.bias) if name is not None)


class Tape(TorchFunctionMode):
    """Notes the calls that use tracked parameters, while it is on.

    Attributes:
        calls: The calls that rules describe, in order.
        outside: The parameters that something else uses too.
    """

    def __init__(self, parameters: Mapping[str, Tensor]) -> None:
        super().__init__()
        self.calls: list[Call] = []
        self.outside: set[str] = set()
        self._names = {id(parameter): name for name, parameter in parameters.items()}

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Iterable[type],
        args: tuple[Any, ...] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        kwargs = kwargs or {}
        output = substituted(func, args, kwargs)
        tracked = self._tracked(args, kwargs)
        if not tracked or not _is_differentiable(output):
            return output
        rule = RULES.get(func)
        use = rule(*args, **kwargs) if rule is not None else None
        if use is None or torch._C._functorch.is_functorch_wrapped_tensor(output):
            self.outside.update(tracked)
            return output
        weight, bias = (self._names.get(id(parameter)) for parameter in (use.weight, use.bias))
        # A parameter in another place, such as a learnt input, is used outside the rule.
        self.outside.update(set(tracked) - {weight, bias})
        if id(use.input) in self._names:
            self.outside.add(self._names[id(use.input)])
        if weight is not None or bias is not None:
            edge = get_gradient_edge(output)
            self.calls.append(Call(use, weight, bias, edge, output.shape, use.input._version))
        return output

    def _tracked(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> list[str]:
        names = (self._names.get(id(tensor)) for tensor in _tensors((args, kwargs)))
        return [name for name in names if name is not None]


def _is_differentiable(output: Any) -> bool:
    # What `torch.func` wraps does not say whether a gradient passes.
    wrapped = torch._C._functorch.is_functorch_wrapped_tensor
    return any(tensor.requires_grad or wrapped(tensor) for tensor in _tensors((output,)))


def _tensors(values: Iterable[Any]) -> Iterator[Tensor]:
    """The tensors in arguments or outputs, however nested."""
    for value in values:
        if isinstance(value, Tensor):
            yield value
        elif isinstance(value, Mapping):
            yield from _tensors(value.values())
        elif isinstance(value, list | tuple):
            yield from _tensors(value)
