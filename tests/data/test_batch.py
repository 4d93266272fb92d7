import numpy as np
import pandas as pd
import pytest
import torch

from proponent.data import as_batch, batch_size, check_finite, concatenate, move, take

NESTED = {"x": torch.arange(6.0).reshape(3, 2), "more": (torch.arange(3), torch.tensor([True, False, True]))}


def assert_same(a, b):
    if isinstance(a, torch.Tensor):
        assert a.dtype == b.dtype
        assert torch.equal(a, b)
        return
    assert type(a) is type(b)
    assert len(a) == len(b)
    for key in a if isinstance(a, dict) else range(len(a)):
        assert_same(a[key], b[key])


def test_a_tensor_stays_the_same_object():
    x = torch.zeros(2)
    assert as_batch(x) is x


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64, np.uint8, np.bool_])
def test_arrays_keep_their_dtype(dtype):
    assert as_batch(np.zeros((2, 3), dtype)).numpy().dtype == dtype


def test_frames_and_lists_of_numbers_are_arrays():
    expected = torch.tensor([[1.0, 2.0], [3.0, 4.0]], dtype=torch.float64)
    assert_same(as_batch([[1.0, 2.0], [3.0, 4.0]]), expected)
    assert_same(as_batch(pd.DataFrame({"a": [1.0, 3.0], "b": [2.0, 4.0]})), expected)


def test_structure_is_kept():
    data = {"x": NESTED["x"].numpy(), "more": tuple(part.numpy() for part in NESTED["more"])}
    assert_same(as_batch(data), NESTED)


def test_views_with_negative_strides_and_read_only_memory_are_copied():
    x = np.arange(6.0).reshape(3, 2)
    x.flags.writeable = False
    assert_same(as_batch(x), torch.from_numpy(x.copy()))
    assert_same(as_batch(x[::-1]), torch.from_numpy(x[::-1].copy()))


def test_text_is_refused():
    with pytest.raises(TypeError, match="`queries` must be numbers, got an array of dtype <U1"):
        as_batch(["a"], name="queries")


def test_a_single_number_is_refused():
    with pytest.raises(
        ValueError, match="`samples` must have samples along the first axis, got a single number"
    ):
        as_batch(3.0)


def test_parts_must_agree():
    with pytest.raises(
        ValueError, match=r"Every part of `samples` must hold the same number of samples, got \[2, 3\]"
    ):
        as_batch((np.zeros(2), np.zeros(3)))


def test_no_samples_are_refused():
    with pytest.raises(ValueError, match="`samples` must hold at least one sample, got none"):
        as_batch(np.zeros((0, 3)))


@pytest.mark.parametrize("empty", [(), {}, {"x": ()}])
def test_no_tensors_are_refused(empty):
    with pytest.raises(ValueError, match="A batch must hold at least one tensor, got an empty tuple or dict"):
        as_batch(empty)


def test_size_and_selection():
    assert batch_size(NESTED) == 3
    index = torch.tensor([2, 0])
    assert_same(
        take(NESTED, index),
        {"x": NESTED["x"][index], "more": tuple(part[index] for part in NESTED["more"])},
    )
    assert batch_size(take(NESTED, slice(1, None))) == 2


def test_a_dtype_is_for_floats_alone():
    moved = move(NESTED, "cpu", torch.float64)
    assert [moved["x"].dtype, moved["more"][0].dtype, moved["more"][1].dtype] == [
        torch.float64,
        torch.int64,
        torch.bool,
    ]
    assert_same(move(NESTED), NESTED)


@pytest.mark.parametrize("batch", [NESTED, NESTED["more"], NESTED["x"]], ids=["dict", "tuple", "tensor"])
def test_concatenate_puts_together_what_take_parted(batch):
    assert_same(concatenate([take(batch, slice(i, i + 1)) for i in range(3)]), batch)


@pytest.mark.parametrize("bad", [torch.nan, torch.inf, -torch.inf])
def test_what_is_not_finite_is_counted(bad):
    x = torch.zeros(4, 2, 3)
    x[1, 0, 2] = x[1, 1, 0] = x[3, 0, 0] = bad
    message = "`samples` must be finite, but 2 of 4 hold NaN or infinity, the first at position 1"
    with pytest.raises(ValueError, match=message):
        check_finite({"ids": torch.arange(4), "x": x})


def test_finite_numbers_pass():
    check_finite(NESTED)
