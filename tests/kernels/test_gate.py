"""Which work goes to a fused kernel."""

import pytest
import torch

from proponent.kernels import computes_rounded, has_kernels, rounded_dtype

NUMBERS = {dtype: torch.zeros(2, dtype=dtype) for dtype in (torch.float32, torch.float64, torch.bfloat16)}


@pytest.fixture
def tf32():
    before = torch.backends.cuda.matmul.allow_tf32
    torch.backends.cuda.matmul.allow_tf32 = True
    yield
    torch.backends.cuda.matmul.allow_tf32 = before


@pytest.fixture(params=[torch.bfloat16, torch.float16])
def autocast(request):
    """Autocast for GPUs as it stands within a block, which torch refuses to open without one."""
    before = torch.is_autocast_enabled("cuda"), torch.get_autocast_dtype("cuda")
    torch.set_autocast_enabled("cuda", True)
    torch.set_autocast_dtype("cuda", request.param)
    yield request.param
    torch.set_autocast_enabled("cuda", before[0])
    torch.set_autocast_dtype("cuda", before[1])


def dtypes():
    return [rounded_dtype(NUMBERS[dtype]) for dtype in NUMBERS]


def test_only_bfloat16_is_rounded_by_itself():
    assert dtypes() == [None, None, torch.bfloat16]


def test_float32_is_rounded_where_tf32_is_allowed(tf32):
    assert dtypes() == [torch.float32, None, torch.bfloat16]


def test_float32_is_bfloat16_under_autocast(autocast):
    rounded = torch.bfloat16 if autocast == torch.bfloat16 else None
    assert dtypes() == [rounded, None, torch.bfloat16]


def test_nothing_goes_to_a_kernel_on_the_cpu(tf32):
    for numbers in NUMBERS.values():
        assert not has_kernels(numbers)
        assert not computes_rounded(numbers)
