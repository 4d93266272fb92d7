"""All samples on the device, and batches gathered from them."""

from torch import Tensor

from proponent.data import Batch, map_leaves


class Samples:
    """Samples from which steps take their batches.

    Args:
        batch: All of them, on the device.
        channels_last: Whether images ``[n, channels, height, width]`` lie with their channels last.
    """

    def __init__(self, batch: Batch, channels_last: bool) -> None:
        self.batch, self.channels_last = batch, channels_last
        if channels_last:
            self.batch = map_leaves(_with_channels_last, batch)

    def batches(self, positions: Tensor) -> list[Batch]:
        """The batches at positions ``[k, ...]`` of k steps, gathered at once."""
        gathered = map_leaves(lambda part: self._gathered(part, positions), self.batch)
        return [_at(gathered, i) for i in range(len(positions))]

    def _gathered(self, part: Tensor, positions: Tensor) -> Tensor:
        chosen = part[positions]
        return chosen.movedim(-1, -3) if self.channels_last and part.ndim == 4 else chosen


def _with_channels_last(part: Tensor) -> Tensor:
    return part.movedim(1, -1).contiguous() if part.ndim == 4 else part


def _at(batches: Batch, i: int) -> Batch:
    return map_leaves(lambda part: part[i], batches)
