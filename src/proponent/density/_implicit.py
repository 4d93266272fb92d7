r"""Influence by implicit differentiation at an optimum, a chunk at a time.

$S(x_i, z) = \frac{1}{n} G(z)^\top H^{-1} G(x_i)$. One component has $H = I$, and the products of its Hermite
polynomials have a closed form, so that they are never made: in d dimensions there are $d (d + 3) / 2$.
"""

from collections.abc import Callable

from jaxtyping import Float
from torch import Tensor

from proponent.density._components import Mixture
from proponent.density._curvature import Curvature, bytes_of_scores, scores
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
    n, half = len(samples), place.share(1 / 2)
    for columns in half.parts(len(queries), _bytes_of_solution(mixture, curvature)):
        right = _right(mixture, curvature, queries[columns], place)
        numbers = 2 * len(right) * place.itemsize
        for rows in half.cached.parts(n, _bytes_of_point(mixture, curvature) + numbers):
            y = mixture.whitened(samples[rows])
            if curvature.root is None:
                y, z = y.squeeze(0), right
                products = mixture.kind.products(y, z, place.dtype)
                products.addmm_(y.to(place.dtype), z.to(place.dtype).T)
            else:
                products = scores(mixture, y).to(place.dtype) @ right.T
            out[rows, columns] = products.div_(n)


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
    for rows in place.cached.parts(len(samples), _bytes_of_solution(mixture, curvature)):
        y = mixture.whitened(samples[rows])
        if curvature.root is None:
            y = y.squeeze(0)
            own = mixture.kind.products(y[:, None], y[:, None], y.dtype)
            values[rows] = y.square().sum(-1) + own.flatten()
        else:
            values[rows] = curvature.lengths(scores(mixture, y))
        report(rows.stop - rows.start)
    return values.div_(len(samples))


def _right(mixture: Mixture, curvature: Curvature, queries: Tensor, place: Place) -> Tensor:
    """H⁻¹ G of queries, rounded; for one component the whitened queries, as they are."""
    y = mixture.whitened(queries)
    if not y.to(place.dtype).square().sum(-1).isfinite().all():
        raise ValueError(
            "`queries` must be so near to every component that the square of the distance can be held in "
            f"{str(place.dtype).removeprefix('torch.')}, but one is not."
        )
    return y.squeeze(0) if curvature.root is None else curvature.solve(scores(mixture, y)).to(place.dtype)


def _bytes_of_point(mixture: Mixture, curvature: Curvature) -> int:
    """What is held of a point in float64, until its products."""
    if curvature.root is None:
        return 8 * 10 * mixture.kind.dimension
    return bytes_of_scores(mixture)


def _bytes_of_solution(mixture: Mixture, curvature: Curvature) -> int:
    """What is held of a point in float64, with the copies on the way to H⁻¹ G."""
    solved = 0 if curvature.root is None else 3 * 8 * len(curvature.root)
    return _bytes_of_point(mixture, curvature) + solved
