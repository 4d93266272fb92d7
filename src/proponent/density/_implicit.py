r"""Influence by implicit differentiation at an optimum, a chunk at a time.

$S(x_i, z) = \frac{1}{n} G(z)^\top H^{-1} G(x_i)$. One component has $H = I$, and the products of its Hermite
polynomials have a closed form, so that they are never made: in d dimensions there are $d (d + 3) / 2$.
"""

from collections.abc import Callable

from jaxtyping import Float
from torch import Tensor

from proponent.density._components import Mixture, chunks
from proponent.density._curvature import Curvature, numbers_per_point, scores
from proponent.density._place import Place


def fill_influences(
    mixture: Mixture,
    curvature: Curvature,
    samples: Float[Tensor, "n d"],
    queries: Float[Tensor, "q d"],
    out: Float[Tensor, "n q"],
    place: Place,
) -> None:
    """Write the influence of every sample on queries.

    Args:
        mixture: The optimum, in float64, as are the points.
        curvature: There.
        samples: What it is fitted to.
        queries: The queries.
        out: Where to write, in the numbers of the place.
        place: Has the budget, and the numbers for the products of samples and queries.

    Raises:
        ValueError: A query is too far for the square of its distance to be a number.
    """
    n, numbers, rounded = len(samples), _numbers(mixture, curvature), mixture.to(place)
    for columns in chunks(len(queries), 2 * numbers, place):
        right = _right(mixture, curvature, queries[columns], place)
        for rows in chunks(n, numbers + 2 * len(right), place):
            y = mixture.whitened(samples[rows]).to(place.dtype)
            if curvature.root is None:
                y = y.squeeze(0)
                out[rows, columns] = (y @ right.T + mixture.kind.products(y, right)) / n
            else:
                out[rows, columns] = scores(rounded, y) @ right.T / n


def self_influences(
    mixture: Mixture,
    curvature: Curvature,
    samples: Float[Tensor, "n d"],
    place: Place,
    report: Callable[[int], object],
) -> Float[Tensor, " n"]:
    """Compute the influence of every sample on itself.

    Args:
        mixture: The optimum.
        curvature: There.
        samples: What it is fitted to.
        place: Has the budget.
        report: Told how many are done.
    """
    values = samples.new_empty(len(samples))
    for rows in chunks(len(samples), 2 * _numbers(mixture, curvature), place):
        y = mixture.whitened(samples[rows])
        if curvature.root is None:
            y = y.squeeze(0)
            own = mixture.kind.products(y[:, None], y[:, None])
            values[rows] = y.square().sum(-1) + own.flatten()
        else:
            values[rows] = curvature.lengths(scores(mixture, y))
        report(rows.stop - rows.start)
    return values / len(samples)


def _right(mixture: Mixture, curvature: Curvature, queries: Tensor, place: Place) -> Tensor:
    """H⁻¹ G of queries, or what gives the same for one component."""
    y = mixture.whitened(queries)
    if not y.to(place.dtype).square().sum(-1).isfinite().all():
        raise ValueError(
            "`queries` must be so near to every component that the square of the distance can be held in "
            f"{str(place.dtype).removeprefix('torch.')}, but one is not."
        )
    right = y.squeeze(0) if curvature.root is None else curvature.solve(scores(mixture, y))
    return right.to(place.dtype)


def _numbers(mixture: Mixture, curvature: Curvature) -> int:
    """How many numbers a point needs."""
    return 4 * mixture.kind.dimension if curvature.root is None else numbers_per_point(mixture)
