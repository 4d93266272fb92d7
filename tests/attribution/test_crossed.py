import pytest
import torch
from torch import Tensor

from asserts import assert_close, assert_expectation
from proponent.attribution._crossed import (
    crossed_variance,
    group_count,
    squared_mean_variance,
    variance_components,
)

B, REPEATS = 4, 4000
ROWS, COLUMNS, BOTH = 2.0, 0.5, 1.5  # standard deviations


def normal(*shape: int) -> Tensor:
    return torch.randn(shape, generator=normal.generator, dtype=torch.float64)


@pytest.fixture(autouse=True)
def _seeded():
    normal.generator = torch.Generator().manual_seed(11)


def design() -> Tensor:
    """Crossed designs with known variances, ``[b, b, repeats]``."""
    rows, columns = ROWS * normal(B, 1, REPEATS), COLUMNS * normal(1, B, REPEATS)
    return 7 + rows + columns + BOTH * normal(B, B, REPEATS)


def test_variance_components_are_unbiased():
    parts = variance_components(design())
    assert_expectation(parts.rows, ROWS**2)
    assert_expectation(parts.columns, COLUMNS**2)
    assert_expectation(parts.both, BOTH**2)


def test_the_variance_is_that_of_the_mean():
    S = design()
    expected = (ROWS**2 + COLUMNS**2) / B + BOTH**2 / B**2
    assert abs(float(S.mean((0, 1)).var()) / expected - 1) < 0.1
    assert abs(float(crossed_variance(S).mean()) / expected - 1) < 0.1


def test_the_variance_is_that_of_two_jackknives():
    S = design()[..., :5]
    grand = S.mean((0, 1))
    without_row = torch.stack([torch.cat([S[:a], S[a + 1 :]]).mean((0, 1)) for a in range(B)])
    without_column = torch.stack([torch.cat([S[:, :b], S[:, b + 1 :]], 1).mean((0, 1)) for b in range(B)])
    jackknives = sum((each - grand).square().sum(0) for each in (without_row, without_column)) * (B - 1) / B
    parts = variance_components(S)
    unclamped = (parts.rows + parts.columns) / B + parts.both / B**2
    assert_close(unclamped, jackknives - parts.both / B**2)


def test_the_variance_is_never_negative():
    S = BOTH * normal(2, 2, 500)
    assert (variance_components(S).rows < 0).any()
    assert (crossed_variance(S) > 0).all()


def test_the_variance_of_a_square_is_the_jackknife():
    g = 1 + normal(B, 3, 5)
    S = torch.einsum("api,bpi->abp", g.transpose(1, 2).transpose(1, 2), g)
    whole = torch.stack([torch.cat([g[:a], g[a + 1 :]]).mean(0).square().sum(1) for a in range(B)])
    assert_close(squared_mean_variance(S), (B - 1) / B * (whole - whole.mean(0)).square().sum(0))


@pytest.mark.parametrize(("draws", "groups"), [(2, 2), (3, 3), (16, 8), (12, 6), (22, 2), (64, 8), (9, 3)])
def test_groups_are_the_largest_divisor(draws, groups):
    assert group_count(draws) == groups


@pytest.mark.parametrize("draws", [1, 11, 26 // 2])
def test_draws_that_cannot_be_divided(draws):
    with pytest.raises(
        ValueError, match=rf"`draws` must be divisible by a number from 2 to 8 .* got {draws}\. Use"
    ):
        group_count(draws)
