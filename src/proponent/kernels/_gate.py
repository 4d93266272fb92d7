"""Which work goes to a fused kernel: tensors on a GPU with Triton, in arithmetic of ten bits or fewer."""

from functools import cache
from importlib.util import find_spec

import torch
from torch import Tensor

from proponent.precision import tf32_is_allowed


def has_kernels(tensor: Tensor) -> bool:
    """Whether a plain tensor lies where kernels run; what `torch.func` wraps has no memory to hand over."""
    return tensor.is_cuda and not torch._C._functorch.is_functorch_wrapped_tensor(tensor) and _has_triton()


def computes_rounded(tensor: Tensor) -> bool:
    """Whether a kernel serves products of this tensor: it is where kernels run, and they are rounded."""
    return has_kernels(tensor) and rounded_dtype(tensor) is not None


def rounded_dtype(tensor: Tensor) -> torch.dtype | None:
    """The dtype of matrix products of this tensor if they keep ten bits or fewer, or none.

    bfloat16 under autocast or as it is; float32 where tf32 is allowed.
    """
    if tensor.dtype == torch.bfloat16 or (
        tensor.dtype == torch.float32
        and torch.is_autocast_enabled("cuda")
        and torch.get_autocast_dtype("cuda") == torch.bfloat16
    ):
        return torch.bfloat16
    if tensor.dtype == torch.float32 and tf32_is_allowed():
        return torch.float32
    return None


@cache
def _has_triton() -> bool:
    # Tensor memory access and the matrix instructions that the kernels are shaped for came with Hopper.
    return find_spec("triton") is not None and torch.cuda.get_device_capability() >= (9, 0)
