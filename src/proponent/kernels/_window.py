"""How the window of a convolution moves."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Window:
    """How a convolution's window moves, a number for each spatial axis."""

    kernel: tuple[int, ...]
    stride: tuple[int, ...]
    padding: tuple[int, ...]
    dilation: tuple[int, ...]
    groups: int
