"""The arithmetic of a step, by the name of its precision."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch


@contextmanager
def arithmetic(precision: str, device: torch.device) -> Iterator[None]:
    """Compute within the block as the name says, and leave the process's settings as they were.

    Full float32 unless ``tf32`` or ``bfloat16`` is asked for; the latter through autocast.
    """
    matmul, cudnn = torch.backends.cuda.matmul.allow_tf32, torch.backends.cudnn.allow_tf32
    rounded = precision in ("tf32", "bfloat16")
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = rounded
    try:
        with torch.autocast(device.type, torch.bfloat16, enabled=precision == "bfloat16"):
            yield
    finally:
        torch.backends.cuda.matmul.allow_tf32, torch.backends.cudnn.allow_tf32 = matmul, cudnn
