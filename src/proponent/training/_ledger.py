"""The weight gradients of a step, made beside the backward pass and collected at its end."""

from collections.abc import Callable

import torch
from torch import Tensor


class Ledger:
    """Takes work that the backward pass need not wait for.

    Args:
        device: On a GPU the work goes to streams of its own; elsewhere it is done at once.
        lanes: How many streams.

    Attributes:
        straight: Whether a weight that is used once may be changed where its gradient is made. Not in the
            first step, in which it turns out how each weight is used.
    """

    def __init__(self, device: torch.device, lanes: int) -> None:
        self.straight = False
        self.deferred: set[str] = set()
        self._device = device
        cuda = device.type == "cuda"
        self._lanes = [torch.cuda.Stream(device) for _ in range(lanes)] if cuda else []  # type: ignore[no-untyped-call]
        self._turn = 0
        self._used: set[int] = set()
        self._gradients: dict[str, list[Tensor]] = {}
        self._kept: list[tuple[Tensor, ...]] = []
        self._calls: dict[str, int] = {}

    def note_call(self, name: str) -> None:
        """Count a use of a weight in the forward pass; one that is used twice is never changed straight."""
        self._calls[name] = self._calls.get(name, 0) + 1
        if self._calls[name] > 1:
            self.deferred.add(name)

    def forget_calls(self) -> None:
        """Forget what was counted in a forward pass that no backward pass follows."""
        self._calls.clear()
        self.deferred.clear()

    def goes_straight(self, name: str) -> bool:
        """Whether the weight may be changed now."""
        return self.straight and name not in self.deferred

    def beside(self, work: Callable[[], None], *reads: Tensor) -> None:
        """Do work that reads some tensors, after all that the current stream has been given so far."""
        if not self._lanes:
            work()
            return
        lane = self._lanes[self._turn]
        self._used.add(self._turn)
        self._turn = (self._turn + 1) % len(self._lanes)
        lane.wait_stream(torch.cuda.current_stream(self._device))
        with torch.cuda.stream(lane):
            work()
        self._kept.append(reads)  # so that their memory is not given out before the lane is done

    def add(self, name: str, gradient: Tensor) -> None:
        """Note a gradient."""
        self._gradients.setdefault(name, []).append(gradient)

    def collect(self) -> dict[str, Tensor]:
        """Wait for all lanes and hand out the gradients that did not go straight into weights."""
        for turn in self._used:  # a lane without work is no part of a capture and must not be waited for
            torch.cuda.current_stream(self._device).wait_stream(self._lanes[turn])
        found = {name: _sum(each) for name, each in self._gradients.items()}
        self._gradients.clear()
        self._kept.clear()
        self._calls.clear()
        self._used.clear()
        self._turn = 0
        return found


def _sum(gradients: list[Tensor]) -> Tensor:
    return gradients[0] if len(gradients) == 1 else torch.stack(gradients).sum(0)
