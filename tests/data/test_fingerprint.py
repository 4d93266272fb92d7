import numpy as np
import pytest
import torch

from proponent.data import as_batch, fingerprint

X = torch.arange(12.0).reshape(3, 4)


def test_equal_data_have_equal_fingerprints():
    assert fingerprint(X) == fingerprint(as_batch(X.numpy().copy())) == fingerprint(X.T.contiguous().T)


@pytest.mark.parametrize(
    "other",
    [X + 1e-6, X.double(), X.reshape(4, 3), X.flip(0), (X,), {"x": X}, X.bfloat16()],
    ids=["value", "dtype", "shape", "order", "tuple", "dict", "bfloat16"],
)
def test_other_data_have_other_fingerprints(other):
    assert fingerprint(other) != fingerprint(X)


def test_keys_matter_and_their_order_does_not():
    a, b = torch.zeros(2), torch.ones(2)
    assert fingerprint({"a": a, "b": b}) == fingerprint({"b": b, "a": a}) != fingerprint({"a": b, "b": a})


def test_is_pinned():
    # Runs on disk hold it: a change here makes every run look as if its data had changed.
    expected = "sha256:e7665b83db9ce0e77b9e41be65661e3433ae46d4a2826e4e1b214e4d791e4568"
    assert fingerprint(as_batch(np.arange(12, dtype=np.float32).reshape(3, 4))) == expected
