"""What tells one data set from another: a hash of its numbers."""

import hashlib

import torch

from proponent.data._batch import Batch


def fingerprint(batch: Batch) -> str:
    """Hash the numbers, shapes and dtypes of a batch: equal for equal data, whatever the file or device.

    >>> fingerprint(torch.zeros(2)) == fingerprint(torch.zeros(2)), fingerprint(torch.zeros(2))[:7]
    (True, 'sha256:')

    Args:
        batch: A tensor, or a tuple or dict of them; the order of a dict's keys does not matter.
    """
    digest = hashlib.sha256()
    _add(digest, batch)
    return f"sha256:{digest.hexdigest()}"


def _add(digest: "hashlib._Hash", batch: Batch) -> None:
    if isinstance(batch, torch.Tensor):
        digest.update(f"{batch.dtype} {tuple(batch.shape)} ".encode())
        # Through uint8, since numpy has no bfloat16.
        digest.update(batch.detach().cpu().contiguous().reshape(-1).view(torch.uint8).numpy().data)
        return
    parts = sorted(batch.items()) if isinstance(batch, dict) else list(enumerate(batch))
    digest.update(f"{type(batch).__name__} {len(parts)} ".encode())
    for key, part in parts:
        digest.update(f"{key!r} ".encode())
        _add(digest, part)
