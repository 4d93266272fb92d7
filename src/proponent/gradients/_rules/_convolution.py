"""The rules for convolutions and transposed convolutions in one, two and three dimensions."""

from collections.abc import Callable, Sequence
from functools import partial
from math import prod

from torch import Tensor

from proponent.gradients._block import Block
from proponent.gradients._correlation import Correlation, patches
from proponent.gradients._rules._use import Use
from proponent.kernels import Window

Sizes = int | Sequence[int]


def convolution(dimensions: int) -> Callable[..., Use]:
    """Make the rule for `torch.nn.functional.conv1d`, `conv2d` or `conv3d`."""

    def rule(
        input: Tensor,
        weight: Tensor,
        bias: Tensor | None = None,
        stride: Sizes = 1,
        padding: Sizes | str = 0,
        dilation: Sizes = 1,
        groups: int = 1,
    ) -> Use:
        kernel = tuple(weight.shape[2:])
        spacing = _each(dilation, dimensions)
        before: tuple[int, ...]
        if padding == "same":  # the odd one of the padding goes to the end, as torch has it
            before = tuple(d * (k - 1) // 2 for d, k in zip(spacing, kernel, strict=True))
        elif padding == "valid":
            before = (0,) * dimensions
        else:
            before = _each(padding, dimensions)  # type: ignore[arg-type]
        window = Window(kernel, _each(stride, dimensions), before, spacing, groups)
        block = partial(_block, window=window, transposed=False)
        return Use(input, weight, bias, _leading(input, dimensions), block, _bias_gradient)

    return rule


def transposed_convolution(dimensions: int) -> Callable[..., Use]:
    """Make the rule for `torch.nn.functional.conv_transpose1d`, `..2d` or `..3d`."""

    def rule(
        input: Tensor,
        weight: Tensor,
        bias: Tensor | None = None,
        stride: Sizes = 1,
        padding: Sizes = 0,
        output_padding: Sizes = 0,
        groups: int = 1,
        dilation: Sizes = 1,
    ) -> Use:
        # Output padding makes the output larger, at places that no window reaches.
        window = Window(
            tuple(weight.shape[2:]),
            _each(stride, dimensions),
            _each(padding, dimensions),
            _each(dilation, dimensions),
            groups,
        )
        block = partial(_block, window=window, transposed=True)
        return Use(input, weight, bias, _leading(input, dimensions), block, _bias_gradient)

    return rule


def _block(
    names: tuple[str, ...], input: Tensor, gradient: Tensor, window: Window, transposed: bool
) -> Block:
    input = input.to(gradient.dtype)
    anchor, field = (input, gradient) if transposed else (gradient, input)
    block = Correlation(names, anchor, field, window)
    # Few positions: the windows, unfolded, are the inputs of a linear map.
    terms = anchor.shape[1] * prod(anchor.shape[3:])
    channels, inputs = anchor.shape[2], field.shape[2] * prod(window.kernel)
    if window.groups == 1 and terms * terms * (channels + inputs) <= channels * inputs:
        return patches(block)
    return block


def _bias_gradient(gradient: Tensor) -> Tensor:
    return gradient.flatten(3).sum((1, 3))


def _leading(input: Tensor, dimensions: int) -> int:
    """One axis of samples; none in an image without a batch."""
    return int(input.ndim == dimensions + 2)


def _each(sizes: Sizes, dimensions: int) -> tuple[int, ...]:
    if isinstance(sizes, int):
        return (sizes,) * dimensions
    return tuple(sizes) * (dimensions if len(sizes) == 1 else 1)
