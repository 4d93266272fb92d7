"""Bringing arrays of the process to a device, at the speed of what lies between."""

import torch
from torch import Tensor

from proponent.scores import FloatArray

# A GPU fetches memory that can't be moved by itself; other memory is copied there first, by one thread, if
# this isn't done here by all of them.
_BYTES_AT_ONCE = 32 << 20


def bring(array: FloatArray, device: torch.device) -> Tensor:
    """Make a tensor on a device; on the CPU it shares the array's memory."""
    source = torch.as_tensor(array)
    if device.type != "cuda" or source.nbytes <= _BYTES_AT_ONCE:
        return source.to(device)
    rows = max(1, _BYTES_AT_ONCE // (source.nbytes // len(source)))
    brought = torch.empty(source.shape, dtype=source.dtype, device=device)
    with torch.cuda.device(device):
        stages = [
            (
                torch.empty(rows, *source.shape[1:], dtype=source.dtype, pin_memory=True),
                torch.cuda.Event(),  # type: ignore[no-untyped-call]
            )
            for _ in range(2)
        ]
        parts = zip(torch.split(brought, rows), torch.split(source, rows), strict=True)
        for turn, (there, here) in enumerate(parts):
            stage, fetched = stages[turn % 2]
            fetched.synchronize()
            there.copy_(stage[: len(here)].copy_(here), non_blocking=True)
            fetched.record()
    return brought
