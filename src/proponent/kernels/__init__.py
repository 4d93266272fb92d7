"""Fused kernels for GPUs, and which work goes to them.

Each kernel has a plain twin where it is called, to which it is compared; nothing here is needed without a
GPU. The modules that hold kernels import Triton, so they are imported where they are called.
"""

from proponent.kernels._gate import computes_rounded, has_kernels, rounded_dtype
from proponent.kernels._window import Window

__all__ = ["Window", "computes_rounded", "has_kernels", "rounded_dtype"]
