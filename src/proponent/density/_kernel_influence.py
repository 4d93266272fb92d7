r"""What leaving a sample out takes from the logarithm of a weighted mean of kernels.

With a sample's share of all weight, $\omega_i = w_i / \sum_j w_j$, and its share of a query's sum,
$r_i = w_i K_i(z) / \sum_j w_j K_j(z)$,

$$S(x_i, z) = \log (1 - \omega_i) - \log (1 - r_i)
    = -\log \Big( 1 + \frac{\omega_i - r_i}{1 - \omega_i} \Big),$$

of which the last form keeps its digits where the two shares are about equal.

One sample a query at most has $r > 1/2$, and owns it. Where nothing else is near, $1 - r$ would have no digit
left, so for owners it is the sum of all other shares; where these are no numbers any more, it is the
difference of two logarithms of sums, one of them over the others alone.
"""

from math import log

import torch
from jaxtyping import Float, Int
from torch import Tensor

from proponent.density._log_sum import Sums, log_sums, powers, tile_for
from proponent.density._pairs import Kernels, Pairs, Without, tile_shape
from proponent.density._place import slices

# Below it, a sum of shares may have lost some that underflowed.
_SMALL = {torch.float64: 2.0**-400, torch.float32: 2.0**-40}


def fill_influence(
    kernels: Kernels,
    queries: Float[Tensor, "q d"],
    remaining: Float[Tensor, " m"],
    out: Float[Tensor, "n q"],
) -> None:
    r"""Write S for every sample and query.

    Args:
        kernels: The samples'.
        queries: In float64.
        remaining: $\log(1 - \omega)$ of each sample, or one for all.
        out: Where to; it holds the powers of all pairs on the way.
    """
    for part in slices(len(queries), tile_shape(kernels, len(queries))[1]):
        _fill_columns(kernels, queries[part], remaining, out[:, part])


def self_influence(
    kernels: Kernels, others: Float[Tensor, " n"], remaining: Float[Tensor, " m"]
) -> Float[Tensor, " n"]:
    r"""Compute S of every sample on itself.

    As $K_i(x_i) = 1$, it is $\log(1 - \omega_i) + \log(1 + w_i / \sum_{j \ne i} w_j K_j(x_i))$.

    Args:
        kernels: The samples'.
        others: The logarithms of the sums without itself, to base 2.
        remaining: $\log(1 - \omega)$ of each sample, or one for all.
    """
    own = torch.zeros_like(others) if kernels.log_weights is None else kernels.log_weights
    gains = torch.nn.functional.softplus((own - others) * log(2), threshold=50)
    return (remaining + gains).where(others > -torch.inf, torch.inf)


def _fill_columns(
    kernels: Kernels,
    queries: Float[Tensor, "q d"],
    remaining: Float[Tensor, " m"],
    out: Float[Tensor, "n q"],
) -> None:
    """Make the powers of all samples first, as shares need their sum."""
    pairs, total, sums = kernels.at(queries), Sums.of_none(out), []
    buffer = tile_for(kernels, len(queries))
    parts = list(slices(len(out), len(buffer)))
    for rows in parts:
        sums.append(powers(pairs, rows, total.levels, buffer[: rows.stop - rows.start], out[rows]))
        total = total.plus(sums[-1])
    # ω / (1 − ω) and 1 / (1 − ω)
    odds, growth = (make(-remaining).to(out.dtype)[:, None] for make in (torch.expm1, torch.exp))
    owners, rest = torch.full((len(queries),), -1, device=out.device), torch.zeros_like(total.relative)
    logs = total.logs
    for rows, part in zip(parts, sums, strict=True):
        tile, scale = out[rows], (part.levels - logs).exp2()
        rest += _shares_of_others(tile, scale, part.relative, rows.start, owners)
        if len(growth) == len(out):
            tile *= growth[rows]
        else:
            scale = scale * growth[0]
        torch.addcmul(_of(odds, rows), tile, -scale.to(tile.dtype), out=tile)  # (ω − r) / (1 − ω)
        tile.log1p_().neg_()
    _score_owners(kernels, pairs, remaining, logs, rest, owners, out)


def _shares_of_others(
    tile: Float[Tensor, "r q"],
    scale: Float[Tensor, " q"],
    sums: Float[Tensor, " q"],
    start: int,
    owners: Int[Tensor, " q"],
) -> Float[Tensor, " q"]:
    """Sum the shares of a tile's samples but for owners, and note these.

    An owner can only be where all of the tile together have more than half.
    """
    shares = sums * scale
    crowded = (shares > 0.5).nonzero()[:, 0]
    if len(crowded):
        r = tile[:, crowded] * scale[crowded]
        highest, at = r.max(0)
        owned = highest > 0.5
        owners[crowded] = torch.where(owned, at + start, owners[crowded])
        r.scatter_(0, at[None], torch.where(owned, 0.0, highest)[None])
        shares[crowded] = r.sum(0)
    return shares


def _score_owners(
    kernels: Kernels,
    pairs: Pairs,
    remaining: Float[Tensor, " m"],
    logs: Float[Tensor, " q"],
    rest: Float[Tensor, " q"],
    owners: Int[Tensor, " q"],
    out: Float[Tensor, "n q"],
) -> None:
    """Write S of owners, by what others have."""
    owned = (owners >= 0).nonzero()[:, 0]
    losses = rest[owned].log()
    lost = owned[rest[owned] < _SMALL[out.dtype]]
    if len(lost):
        others = log_sums(Without(pairs.of(lost), owners[lost]), len(out), tile_for(kernels, len(lost)))
        losses[rest[owned] < _SMALL[out.dtype]] = log(2) * (others - logs[lost])
    scores = remaining.expand(len(out))[owners[owned]] - losses
    out[owners[owned], owned] = scores.where(losses > -torch.inf, torch.inf).to(out.dtype)


def _of(column: Float[Tensor, "m 1"], rows: slice) -> Float[Tensor, "r 1"]:
    """A few samples' numbers, or the one for all."""
    return column if len(column) == 1 else column[rows]
