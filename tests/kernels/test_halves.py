"""Halves and their scale stand for the numbers that they were made of."""

import pytest
import torch
from kernel_cases import DEVICE, QUIET, normal, whole

from proponent.kernels._halves import halved, halved_rows

pytestmark = QUIET


def assert_stands_for(values, half, scale):
    assert half.dtype == torch.float16
    assert scale.shape == (1,)
    assert torch.frexp(scale).mantissa.item() == 0.5  # a power of two
    largest = values.abs().max().item()
    error = (half.float() * scale - values).abs()
    # Ten bits of each number, or of what the smallest steps of the type leave.
    assert bool((error <= 2**-11 * values.abs() + 2**-40 * largest).all())
    assert 2**14 <= half.abs().max().item() <= 2**15


@pytest.mark.parametrize("scale", [1e-30, 1e-3, 1.0, 3e7, 1e30])
def test_ten_bits_of_each_number(scale):
    values = scale * normal(5, 7, 3)
    assert_stands_for(values, *halved(values))


def test_more_than_one_block():
    values = normal(3, 4099)
    assert_stands_for(values, *halved(values))


def test_exact_numbers_stay_exact():
    values = whole(4, 9)
    half, scale = halved(values)
    assert torch.equal(half.float() * scale, values)


def test_the_largest_number_may_be_a_power_of_two():
    for largest in (1.0, 1 - 2**-24):
        values = torch.tensor([0.25, -largest], device=DEVICE)
        half, scale = halved(values)
        assert torch.equal((half.float() * scale)[:1], values[:1])
        assert half.isfinite().all()


def test_zeros():
    half, _ = halved(torch.zeros(4, 3, device=DEVICE))
    assert not half.any()


ORDERS = {
    "channels-last": lambda: normal(2, 3, 4, 5).to(memory_format=torch.channels_last),
    "transposed": lambda: normal(6, 5).T,
    "with-gaps": lambda: normal(6, 5)[::2, ::2],
    "a-slice": lambda: normal(6, 5)[2:4],
    "expanded": lambda: normal(1, 5).expand(6, 5),
    "one-number": lambda: normal(1).expand(6, 5),
}


@pytest.mark.parametrize("name", ORDERS)
def test_numbers_in_any_order_of_memory(name):
    values = ORDERS[name]()
    half, scale = halved(values)
    assert half.shape == values.shape
    assert_stands_for(values, half, scale)
    if name in ("channels-last", "transposed", "a-slice"):
        assert half.stride() == values.stride()


def test_bfloat16_stays_as_it_is():
    values = normal(4, 3).bfloat16().requires_grad_()
    half, scale = halved(values)
    assert half.dtype == torch.bfloat16
    assert half.data_ptr() == values.data_ptr()
    assert scale is None
    assert not half.requires_grad


@pytest.mark.parametrize(("terms", "width"), [(3, 10), (4, 16)])
@pytest.mark.parametrize("name", ["packed", "transposed", "with-gaps", "expanded"])
def test_rows_have_a_scale_each(name, terms, width):
    values = {
        "packed": lambda: normal(5, 3, 10),
        "transposed": lambda: normal(10, 3, 5).permute(2, 1, 0),
        "with-gaps": lambda: normal(9, 3, 20)[::2, :, ::2],
        "expanded": lambda: normal(5, 1, 10).expand(5, 3, 10),
    }[name]()
    values = values * (10.0 ** torch.arange(-7, 8, device=DEVICE)).view(5, 3, 1)
    half, scale = halved_rows(values, terms, width)
    assert (half.shape, scale.shape, half.dtype) == ((5 * terms, width), (5 * terms,), torch.float16)
    assert bool((torch.frexp(scale).mantissa == 0.5).all())
    found = (half.float() * scale[:, None]).view(5, terms, width)
    error = (found[:, :3, :10] - values).abs()
    largest = values.abs().amax(2, keepdim=True)
    assert bool((error <= 2**-11 * values.abs() + 2**-38 * largest).all())
    assert not found[:, 3:].any()
    assert not found[..., 10:].any()
    tops = half.view(5, terms, width)[:, :3].abs().amax(2)
    assert bool((tops >= 2**13).all())
    assert bool((tops <= 2**15).all())


def test_rows_of_next_to_nothing_do_no_harm():
    values = torch.zeros(1, 4, 8, device=DEVICE)
    values[0, 1], values[0, 2], values[0, 3] = 1e-36, 1e-42, 1.0
    half, scale = halved_rows(values, 4, 8)
    assert half.isfinite().all()
    assert not half[0].any()
    assert bool((scale >= 2.0**-126).all())
    assert bool(((half.float() * scale[:, None] - values[0]).abs() <= 2.0**-120).all())


def test_rows_of_bfloat16_are_laid_out_alone():
    values = normal(5, 3, 10).bfloat16()
    rows, scale = halved_rows(values, 4, 16)
    assert scale is None
    assert torch.equal(rows.view(5, 4, 16)[:, :3, :10], values)
    assert rows.float().sum().item() == pytest.approx(values.float().sum().item(), abs=1e-3)
    assert torch.equal(halved_rows(values, 3, 10)[0].view(5, 3, 10), values)
