"""How steps are made on a device: choices that change how long they take, and results by rounding alone."""

from dataclasses import dataclass

import torch


@dataclass(frozen=True)
class Tactics:
    """What to do for speed.

    With `split` a training that was stopped goes on to the same numbers, but not to the same bits: the first
    step after it finds out anew how weights are used.

    Attributes:
        cuda_graph: Capture steps in a CUDA graph, where there is a GPU.
        steps_per_replay: How many steps a graph holds.
        split: Take weight gradients out of the backward pass. They run beside it, on streams of their own,
            and under SGD without momentum go straight into the weights of linear layers.
        lanes: On how many such streams.
        join_members: Put the batches of an ensemble's members into one, where only linear layers hold
            parameters; with `split`.
        channels_last: Hold images and convolutions with channels as the last axis in memory.
    """

    cuda_graph: bool = True
    steps_per_replay: int = 16
    split: bool = True
    lanes: int = 2
    join_members: bool = True
    channels_last: bool = True

    def __post_init__(self) -> None:
        for name in ("steps_per_replay", "lanes"):
            if getattr(self, name) < 1:
                raise ValueError(f"`{name}` must be at least 1, got {getattr(self, name)}.")


def tactics_for(device: torch.device) -> Tactics:
    """All of them on a GPU; none elsewhere, where a step's time is in its arithmetic."""
    if device.type == "cuda":
        return Tactics()
    return Tactics(cuda_graph=False, split=False, join_members=False, channels_last=False)
