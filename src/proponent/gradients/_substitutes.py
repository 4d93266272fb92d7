"""Faster twins of torch functions, for passes that need gradients at layer outputs and at no weight."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from proponent.kernels import Window, computes_rounded, rounded_dtype


def substituted(func: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
    """Call a torch function, by its fused twin where that serves the arguments."""
    twin = _TWINS.get(func)
    output = twin(*args, **kwargs) if twin is not None else None
    return func(*args, **kwargs) if output is None else output


def _convolve(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: int | Sequence[int] = 1,
    padding: int | str | Sequence[int] = 0,
    dilation: int | Sequence[int] = 1,
    groups: int = 1,
) -> Tensor | None:
    if isinstance(padding, str) or not _serves(input, weight, bias, dilation, groups):
        return None
    from proponent.kernels._convolution import FusedConvolution

    window = Window(tuple(weight.shape[2:]), _pair(stride), _pair(padding), (1, 1), 1)
    output: Tensor = FusedConvolution.apply(_rounded(input), weight, bias, window)  # type: ignore[no-untyped-call]
    return output


def _convolve_transposed(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: int | Sequence[int] = 1,
    padding: int | Sequence[int] = 0,
    output_padding: int | Sequence[int] = 0,
    groups: int = 1,
    dilation: int | Sequence[int] = 1,
) -> Tensor | None:
    if not _serves(input, weight, bias, dilation, groups):
        return None
    from proponent.kernels._convolution import FusedTransposedConvolution

    window = Window(tuple(weight.shape[2:]), _pair(stride), _pair(padding), (1, 1), 1)
    output: Tensor = FusedTransposedConvolution.apply(  # type: ignore[no-untyped-call]
        _rounded(input), weight, bias, window, _pair(output_padding)
    )
    return output


def _serves(
    input: Tensor, weight: Tensor, bias: Tensor | None, dilation: int | Sequence[int], groups: int
) -> bool:
    # A weight that another layer made passes gradients on to it; a twin stops them.
    are_leaves = weight.is_leaf and (bias is None or bias.is_leaf)
    fits = input.ndim == 4 and groups == 1 and _pair(dilation) == (1, 1)
    return are_leaves and fits and computes_rounded(input)


def _rounded(input: Tensor) -> Tensor:
    dtype = rounded_dtype(input)
    return input if dtype is None else input.to(dtype)


def _pair(sizes: int | Sequence[int]) -> tuple[int, int]:
    if isinstance(sizes, int):
        return sizes, sizes
    return (sizes[0], sizes[-1])


_TWINS: Mapping[Callable[..., Any], Callable[..., Tensor | None]] = {
    torch.conv2d: _convolve,
    torch.conv_transpose2d: _convolve_transposed,
}
