r"""Scores from groups of draws: their mean, and how far it is from the expectation.

The draws of each side are divided into B groups, and $S_{ab}$ is the score from group a of the sample's
draws and group b of the query's. Every group meets every other, so the design is crossed,

$$S_{ab} = S + \alpha_a + \beta_b + \gamma_{ab},$$

with a part of the noise that comes from the sample's draws, one from the query's, and one from both.
"""

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

_MOST_GROUPS = 8


@dataclass(frozen=True)
class Components:
    r"""The variances of one group's $\alpha$, $\beta$ and $\gamma$, estimated without bias.

    Attributes:
        rows: Of $\alpha$; it can come out negative where the truth is near 0.
        columns: Of $\beta$, likewise.
        both: Of $\gamma$.
    """

    rows: Float[Tensor, "..."]
    columns: Float[Tensor, "..."]
    both: Float[Tensor, "..."]


def group_count(draws: int, what: str = "`draws`") -> int:
    """Into how many groups of equal size some draws are divided: the largest divisor up to 8.

    >>> group_count(16), group_count(12), group_count(5)
    (8, 6, 5)

    Args:
        draws: How many draws there are.
        what: What the message calls them.

    Raises:
        ValueError: They can't be divided.
    """
    for count in range(min(draws, _MOST_GROUPS), 1, -1):
        if draws % count == 0:
            return count
    raise ValueError(
        f"{what} must be divisible by a number from 2 to {_MOST_GROUPS} for `standard_errors`, got {draws}. "
        f"Use a multiple of {_MOST_GROUPS}."
    )


def variance_components(S: Float[Tensor, "b b ..."]) -> Components:
    """Estimate the variances of the three parts from the mean squares of the crossed design."""
    B = S.shape[0]
    rows, columns, mean = S.mean(1), S.mean(0), S.mean((0, 1))
    MS_rows = B * (rows - mean).square().sum(0) / (B - 1)
    MS_columns = B * (columns - mean).square().sum(0) / (B - 1)
    residual = S - rows[:, None] - columns[None] + mean
    MS_both = residual.square().sum((0, 1)) / (B - 1) ** 2
    return Components((MS_rows - MS_both) / B, (MS_columns - MS_both) / B, MS_both)


def crossed_variance(S: Float[Tensor, "b b ..."]) -> Float[Tensor, "..."]:
    r"""Estimate the variance of the mean over all pairs of groups.

    It is the jackknife that leaves out a group of rows, plus the one that leaves out a group of columns,
    less $\gamma$'s share $\sigma_\gamma^2 / B^2$, which both of them count.

    >>> S = torch.tensor([[1.0, 1.0], [3.0, 3.0]])  # only the rows differ: the variance of their mean
    >>> float(crossed_variance(S))
    1.0
    """
    B = S.shape[0]
    parts = variance_components(S)
    return (parts.rows.clamp_min(0) + parts.columns.clamp_min(0)) / B + parts.both / B**2


def squared_mean_variance(S: Float[Tensor, "b b ..."]) -> Float[Tensor, "..."]:
    """Estimate the variance of the mean of a symmetric S, whose rows and columns are the same groups.

    By the jackknife that leaves out a group on both sides at once.

    >>> S = torch.tensor([[0.0, 0.0], [0.0, 4.0]])  # groups 0 and 2: without one of them 2² or 0²
    >>> float(squared_mean_variance(S))
    4.0
    """
    B = S.shape[0]
    diagonal = torch.stack([S[a, a] for a in range(B)])
    without = (S.sum((0, 1)) - S.sum(1) - S.sum(0) + diagonal) / (B - 1) ** 2
    return (B - 1) / B * (without - without.mean(0)).square().sum(0)
