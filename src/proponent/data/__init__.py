"""Samples as the library sees them."""

from proponent.data._batch import Batch, as_batch, batch_size, check_finite, concatenate, move, take

__all__ = ["Batch", "as_batch", "batch_size", "check_finite", "concatenate", "move", "take"]
