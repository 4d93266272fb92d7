r"""Gradients of convolutions, held as the two images whose correlation they are.

A convolution and a transposed one have the same gradient with the parts exchanged. With an anchor a (one
value a position) and a field b (a window a position),

$$G_i[\alpha, \beta, \kappa] = \sum_{draws, x} a_i[\alpha, x]\; b_i[\beta, s x + d \kappa - p].$$

The anchor of a convolution is the gradient at its output and the field its input; for a transposed one
the anchor is the input and the field the gradient at the output.

Nothing is unfolded. A processor forms them sample by sample, by its library's own kernel. A GPU takes all
samples at once: a window of size K at stride s is a window of size K/s at stride 1 on the image whose
channels are the s phases of the field (space to depth). Laid flat with the channels last, a shift of the
window is an offset into one buffer, so each shift is one batched matrix product of two views. In rounded
arithmetic a fused kernel reads the windows where they lie.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from math import prod

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn.functional import pad

from proponent.gradients._block import Block
from proponent.gradients._outer_products import OuterProducts
from proponent.kernels import Window, computes_rounded


@dataclass(frozen=True, eq=False)
class Correlation(Block):
    """The gradients of a convolution's weight.

    Attributes:
        names: The weight's name.
        anchor: ``[n, m, A, *positions]``, with m calls or draws for each sample.
        field: ``[n, m, B, *size]``.
        window: How the window moves over the field.
    """

    anchor: Float[Tensor, "n m A *positions"]
    field: Float[Tensor, "n m B *size"]
    window: Window

    @property
    def samples(self) -> int:
        """How many samples it holds."""
        return self.anchor.shape[0]

    @property
    def size(self) -> int:
        """How many numbers one sample's gradient has."""
        return self.anchor.shape[2] * self.field.shape[2] // self.window.groups * prod(self.window.kernel)

    def gradients(self) -> tuple[Float[Tensor, "n p"]]:
        """The weight's gradients, in the weight's own order ``[A, B / groups, *kernel]``."""
        return (correlate(self.anchor, self.field, self.window),)

    def select(self, start: int, stop: int) -> "Correlation":
        """The samples from `start` to `stop`."""
        return Correlation(self.names, self.anchor[start:stop], self.field[start:stop], self.window)


def correlate(
    anchor: Float[Tensor, "n m A *positions"], field: Float[Tensor, "n m B *size"], window: Window
) -> Float[Tensor, "n p"]:
    """Form every sample's gradient of the weight."""
    if computes_rounded(anchor):
        from proponent.kernels import _correlation as kernel

        if kernel.fits(anchor, window):
            return kernel.fused_correlation(anchor, field, window)
    if anchor.device.type == "cpu":
        return _sample_by_sample(anchor, field, window)
    return _shift_by_shift(anchor, field, window)


def _sample_by_sample(anchor: Tensor, field: Tensor, window: Window) -> Float[Tensor, "n p"]:
    """Let the library's own kernel form each sample's, which a processor's cache holds."""
    n, _, A = anchor.shape[:3]
    weight = anchor.new_empty(A, field.shape[2] // window.groups, *window.kernel)
    field = _long_enough(field, anchor.shape[3:], window)
    anchor = _as_many(anchor, field.shape[3:], window)
    zeros = [0] * len(window.kernel)
    G = anchor.new_empty(n, weight.numel())
    for i in range(n):
        _, of_weight, _ = torch.ops.aten.convolution_backward(
            anchor[i], field[i], weight, None, window.stride, window.padding, window.dilation, False, zeros,
            window.groups, (False, True, False),
        )  # fmt: skip
        G[i] = of_weight.flatten()
    return G


def _long_enough(field: Tensor, positions: Sequence[int], window: Window) -> Tensor:
    """Zeros after a field that the last windows would leave, as an uneven padding has them."""
    margins: list[int] = []
    for size, length, k, s, p, d in zip(
        positions, field.shape[3:], window.kernel, window.stride, window.padding, window.dilation, strict=True
    ):
        margins = [0, max(0, s * (size - 1) + d * (k - 1) + 1 - length - 2 * p), *margins]
    return pad(field, margins) if any(margins) else field


def _as_many(anchor: Tensor, size: Sequence[int], window: Window) -> Tensor:
    """Zeros after an anchor whose windows leave a stride of the field or more, as output padding does."""
    margins: list[int] = []
    for positions, length, k, s, p, d in zip(
        anchor.shape[3:], size, window.kernel, window.stride, window.padding, window.dilation, strict=True
    ):
        margins = [0, (length + 2 * p - d * (k - 1) - 1) // s + 1 - positions, *margins]
    return pad(anchor, margins) if any(margins) else anchor


def _shift_by_shift(
    anchor: Float[Tensor, "n m A *positions"], field: Float[Tensor, "n m B *size"], window: Window
) -> Float[Tensor, "n p"]:
    """Multiply views of one buffer, a batched product for each shift of the window."""
    n, m, A = anchor.shape[:3]
    positions = anchor.shape[3:]
    B, g = field.shape[2], window.groups
    taps = [_taps(k, s, d) for k, s, d in zip(window.kernel, window.stride, window.dilation, strict=True)]
    grid = [size + max(shift for shift, _ in axis) for size, axis in zip(positions, taps, strict=True)]
    phases = list(product(*[sorted({phase for _, phase in axis}) for axis in taps]))
    # A shift by one row of the grid is an offset by its length.
    lengths = [prod(grid[axis + 1 :]) for axis in range(len(grid))]
    shifts = list(product(*[sorted({shift for shift, _ in axis}) for axis in taps]))
    offsets = [sum(c * length for c, length in zip(shift, lengths, strict=True)) for shift in shifts]

    rows = m * prod(grid)
    a = anchor.new_zeros(n, g, m, *grid, A // g)
    inner = tuple(slice(size) for size in positions)
    a[(slice(None), slice(None), slice(None), *inner)] = _channels_last(anchor, g)
    b = field.new_zeros(n, g, rows + max(offsets), len(phases) * (B // g))
    _fill(b[:, :, :rows].view(n, g, m, *grid, len(phases), B // g), field, window, phases)

    a = a.flatten(0, 1).flatten(1, -2)
    b = b.flatten(0, 1)
    G = torch.stack([torch.bmm(a.mT, b[:, offset : offset + rows]) for offset in offsets], 1)
    # [n g, shifts, A/g, phases B/g] -> [n, g, A/g, B/g, shifts, phases]
    G = G.view(n, g, len(shifts), A // g, len(phases), B // g).permute(0, 1, 3, 5, 2, 4)
    index = [
        (shifts.index(tuple(shift for shift, _ in tap)), phases.index(tuple(phase for _, phase in tap)))
        for tap in product(*taps)
    ]
    of_shift, of_phase = (torch.tensor(part, device=G.device) for part in zip(*index, strict=True))
    return G[..., of_shift, of_phase].flatten(1)


def _taps(kernel: int, stride: int, dilation: int) -> list[tuple[int, int]]:
    """Where each tap of the window lies: whole strides, and the phase within one."""
    return [divmod(tap * dilation, stride) for tap in range(kernel)]


def _channels_last(images: Tensor, groups: int) -> Tensor:
    """``[n, m, g c, *size]`` as ``[n, g, m, *size, c]``."""
    n, m, channels = images.shape[:3]
    split = images.reshape(n, m, groups, channels // groups, *images.shape[3:])
    return split.movedim(2, 1).movedim(3, -1)


def _fill(buffer: Tensor, field: Tensor, window: Window, phases: list[tuple[int, ...]]) -> None:
    """Lay the phases of the field into ``[n, g, m, *grid, phases, c]``, zero where it is padding."""
    images = _channels_last(field, window.groups)
    every = [slice(None)] * 3
    for place, phase in enumerate(phases):
        target: list[slice] = []
        source: list[slice] = []
        for axis, (s, p, start) in enumerate(zip(window.stride, window.padding, phase, strict=True)):
            # Grid cell q shows the field at s q + phase - p: the first that lies inside.
            first = max(0, -((start - p) // s))
            begin = s * first + start - p
            count = min(buffer.shape[3 + axis] - first, max(0, -((begin - field.shape[3 + axis]) // s)))
            target.append(slice(first, first + max(count, 0)))
            source.append(slice(begin, begin + s * max(count - 1, 0) + (count > 0), s))
        buffer[..., place, :][(*every, *target)] = images[(*every, *source)]


def patches(block: Correlation) -> OuterProducts:
    """Write the block as outer products, the windows unfolded; for few positions, without groups."""
    anchor, field, window = block.anchor, block.field, block.window
    n, m, A = anchor.shape[:3]
    positions = anchor.shape[3:]
    margins: list[int] = []
    for axis, size in enumerate(positions):
        s, d, k, p = (part[axis] for part in (window.stride, window.dilation, window.kernel, window.padding))
        reach = s * (size - 1) + d * (k - 1) + 1 - p - field.shape[3 + axis]
        margins = [p, max(reach, 0), *margins]
    padded = pad(field, margins)
    taps = []
    for tap in product(*[range(k) for k in window.kernel]):
        cut = [
            slice(c * d, c * d + s * (size - 1) + 1, s)
            for c, d, s, size in zip(tap, window.dilation, window.stride, positions, strict=True)
        ]
        taps.append(padded[(slice(None), slice(None), slice(None), *cut)].flatten(3))
    right = torch.stack(taps, 3).flatten(2, 3)  # [n, m, B taps, positions]
    left = anchor.reshape(n, m, A, -1)
    return OuterProducts(block.names, left.mT.flatten(1, 2), right.mT.flatten(1, 2))
