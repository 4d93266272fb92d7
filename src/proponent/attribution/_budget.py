"""The largest batch that keeps to a memory budget."""

import weakref
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from proponent.memory import in_words

_PROBE = 8
# Shares of a budget: where a prediction is trusted unmeasured, up to where batches more than double, and
# what fills it well enough.
_SAFE, _NEAR, _ENOUGH = 1 / 8, 1 / 4, 0.8


@dataclass(frozen=True)
class Memory:
    """What some work took.

    Attributes:
        peak: The most bytes that its tensors held at a time.
        kept: The bytes that were still held when it had ended.
    """

    peak: int
    kept: int


def measure_memory(work: Callable[[], object]) -> Memory:
    """Run some work, and count the bytes of the tensors that it makes.

    Tensors that were there before don't count, nor does what a kernel holds for itself while it runs.

    >>> measure_memory(lambda: torch.ones(100).double().sum()).peak  # 400 + 800
    1200

    Args:
        work: What it returns is kept until the count is taken.
    """
    with _LiveBytes() as live:
        result = work()
        kept = live.bytes
        del result
    return Memory(live.peak, kept)


def largest_batch(peak_of: Callable[[int], int], budget: int, limit: int, what: str) -> int:
    """Find the largest batch whose peak stays within a budget.

    The cheapest way to a score changes with the size of a batch, and its memory with it. So batches grow
    towards the budget in steps, each measured before the next, and what is tried exceeds it by little.

    Args:
        peak_of: Runs a batch of a size and gives the peak of its memory.
        budget: Bytes.
        limit: The largest batch that is of use.
        what: What a batch consists of, for the message.

    Raises:
        ValueError: One does not fit.
    """
    batch, peak = 1, peak_of(1)
    if peak > budget:
        raise ValueError(
            f"`memory_budget` must leave at least {in_words(peak)} for one {what}, but leaves "
            f"{in_words(max(budget, 0))}. Raise it, or use fewer `draws`."
        )
    bound, candidate = limit, min(_PROBE, limit)  # bound: the largest that may still fit
    while candidate > batch:
        found = peak_of(candidate)
        each = max((found - peak) / (candidate - batch), 1.0)
        if found > budget:
            bound = candidate - 1
            candidate = min(bound, batch + int((budget - peak) / each))
            continue
        batch, peak = candidate, found
        if peak + each * (bound - batch) <= budget * _SAFE:
            return bound
        if peak >= budget * _ENOUGH:
            return batch
        reach = batch + int((budget - peak) / each)
        safe = batch + int((budget * _NEAR - peak) / each)
        candidate = min(bound, reach, max(2 * batch, safe))
    return batch


class _LiveBytes(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Counts the bytes of the storages that operations make, as long as they live."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.bytes = 0
        self.peak = 0
        self._seen: dict[int, weakref.ref[torch.UntypedStorage]] = {}

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        return (
            False  # torch asks; else every operation passes through its compiler, which takes 2 s to import
        )

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        kwargs = kwargs or {}
        for tensor in tree_leaves((args, kwargs)):
            self._see(tensor, counts=False)
        result = func(*args, **kwargs)
        for tensor in tree_leaves(result):
            self._see(tensor, counts=True)
        return result

    def _see(self, tensor: Any, counts: bool) -> None:
        if not isinstance(tensor, Tensor):
            return
        storage = tensor.untyped_storage()
        key = storage._cdata
        if key in self._seen:
            return
        size = storage.nbytes() if counts else 0
        self.bytes += size
        self.peak = max(self.peak, self.bytes)

        def forget(_: object) -> None:
            self.bytes -= size
            del self._seen[key]

        self._seen[key] = weakref.ref(storage, forget)
