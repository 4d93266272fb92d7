"""Fused linear layers equal torch's, and their step subtracts the gradients."""

import pytest
import torch
from kernel_cases import DEVICE, EITHER, QUIET

from asserts import assert_close
from proponent.kernels._linear import fused_linear, fused_linear_step

pytestmark = QUIET

CASES = {  # members, samples, inputs, outputs
    "small": (1, 3, 5, 4),
    "several-members": (3, 5, 7, 6),
    "beyond-one-tile": (2, 70, 130, 68),
}


@EITHER
@pytest.mark.parametrize("rectify", [True, False])
@pytest.mark.parametrize("has_bias", [True, False])
@pytest.mark.parametrize("name", CASES)
def test_forward(name, has_bias, rectify, draw, tolerance):
    s, n, i, o = CASES[name]
    x, weight = draw(s, n, i, key=1), draw(s, o, i, key=2)
    bias = draw(s, o, key=3) if has_bias else None
    expected = x.double() @ weight.double().mT + (0 if bias is None else bias[:, None].double())
    found = fused_linear(x, weight, bias, rectify)
    assert_close(found, expected.relu() if rectify else expected, tolerance)


@EITHER
@pytest.mark.parametrize("has_bias", [True, False])
@pytest.mark.parametrize("name", CASES)
def test_step(name, has_bias, draw, tolerance):
    s, n, i, o = CASES[name]
    gradient, x = draw(s, n, o, key=1), draw(s, n, i, key=2)
    weight, bias = draw(s, o, i, key=3), (draw(s, o, key=4) if has_bias else None)
    new_weight = weight.double() - gradient.double().mT @ x.double()
    new_bias = None if bias is None else bias.double() - gradient.double().sum(1)
    fused_linear_step(gradient, x, weight, bias)
    assert_close(weight, new_weight, tolerance)
    if bias is not None:
        assert_close(bias, new_bias, 1e-6)


def test_inputs_in_another_order_of_memory():
    x = torch.arange(24.0).view(4, 3, 2).permute(2, 1, 0)
    weight = torch.eye(4).expand(2, 4, 4).contiguous()
    assert_close(fused_linear(x.to(DEVICE), weight.to(DEVICE), None, False), x, 1e-3)
