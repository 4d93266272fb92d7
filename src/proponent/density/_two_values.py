"""The strongest of scores that take two values a query: a higher one for a few samples, one for the rest."""

import torch
from jaxtyping import Float, Int
from torch import Tensor

from proponent.top_scores import Extremes


def strongest_of_two(
    few: Int[Tensor, "q k"], higher: Float[Tensor, " q"], rest: float, n: int, top: int
) -> tuple[Extremes, Extremes]:
    """Select the highest and the lowest scores of each query; equal ones in the order of the samples.

    >>> highest, lowest = strongest_of_two(torch.tensor([[2, 0]]), torch.tensor([0.5]), -0.1, n=4, top=3)
    >>> highest.positions.T, lowest.positions.T
    (array([[0, 2, 1]]), array([[1, 3, 0]]))

    Args:
        few: The positions of the samples with the higher value.
        higher: That value. Where it is no higher than the other, all samples are alike.
        rest: The value of all other samples.
        n: How many samples there are.
        top: How many to select, from 1 to n.

    Returns:
        The highest, and the lowest with the sign changed.
    """
    q, k = few.shape
    m = min(n, top + k)  # among the first so many samples are as many of the rest as can be selected
    few = few.where(higher[:, None] > rest, n).sort(1).values
    taken = torch.zeros(q, m + 1, dtype=torch.bool, device=few.device).scatter_(1, few.clamp(max=m), True)
    positions = torch.cat([few, torch.arange(m, device=few.device).expand(q, m)], 1)
    present = torch.cat([few < n, ~taken[:, :m]], 1)
    is_few = torch.arange(k + m, device=few.device) < k
    values = torch.where(is_few, higher[:, None], rest)
    sides = []
    for sign, rank in ((1, ~is_few), (-1, is_few)):
        order = rank.long().expand(q, -1).where(present, 2).sort(dim=1, stable=True).indices[:, :top]
        keys = sign * values.gather(1, order).T
        sides.append(Extremes(positions.gather(1, order).T.cpu().numpy(), keys.cpu().numpy()))
    return sides[0], sides[1]


def bytes_of_selection(k: int, top: int) -> int:
    """What is held of a query meanwhile: positions, values, whether they are there, their ranks and order."""
    return 64 * (2 * k + top)
