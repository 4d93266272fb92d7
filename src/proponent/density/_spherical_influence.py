r"""The influence of a sample on queries of its own cluster, in three forms.

Symbols: N samples, $N_0$ of them in the cluster, d features; $a = (x_i - \mu_0) / \sigma_0$ and
$b = (z - \mu_0) / \sigma_0$ are the sample and the query as the cluster sees them. All three forms are

$$S(x_i, z) = f(|a|^2) + g(|a|^2) \, |b|^2 + h(|a|^2) \; a \cdot b,$$

so that a cluster takes one matrix product, and nothing else a pair.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor


@dataclass(frozen=True)
class Sizes:
    r"""What is the same for all samples of a cluster.

    Attributes:
        count: How many samples it has, $N_0$.
        total: How many there are in all, N.
        features: d.
        deviation: $\sigma_0$, in the unit of the data.
    """

    count: int
    total: int
    features: int
    deviation: float


@dataclass(frozen=True, eq=False)
class Terms:
    r"""The factors of each sample.

    Attributes:
        constant: f, what is the same for all queries.
        square: g, the factor of $|b|^2$.
        product: h, the factor of $a \cdot b$.
    """

    constant: Float[Tensor, " m"]
    square: Float[Tensor, " m"]
    product: Float[Tensor, " m"]

    def on_itself(self, squares: Float[Tensor, " m"]) -> Float[Tensor, " m"]:
        """The influence of each sample on itself, b = a."""
        return self.constant + (self.square + self.product) * squares

    def rows(self, offsets: Float[Tensor, "m d"]) -> Float[Tensor, "m e"]:
        """The left factor of the matrix of influences."""
        return torch.cat([self.product[:, None] * offsets, self.square[:, None], self.constant[:, None]], 1)


def columns(offsets: Float[Tensor, "q d"]) -> Float[Tensor, "e q"]:
    """The right factor: [b; |b|²; 1]."""
    squares = offsets.square().sum(1, keepdim=True)
    return torch.cat([offsets, squares, torch.ones_like(squares)], 1).T


def share_of_variance(squares: Float[Tensor, " m"], sizes: Sizes) -> Float[Tensor, " m"]:
    r"""Compute $t = |a|^2 / ((N_0 - 1) d)$, the share of the cluster's variance that a sample takes with it.

    It is 1 where the others all lie at one point, and sums to $N_0 / (N_0 - 1)$ over the cluster.
    """
    return squares / ((sizes.count - 1) * sizes.features)


def exact(squares: Float[Tensor, " m"], sizes: Sizes) -> Terms:
    r"""The difference of the two log densities, with nothing left out.

    Without $x_i$ the mean moves by $-\sigma_0 a / (N_0 - 1)$, and the variance becomes $\rho \sigma_0^2$ with
    $\rho = \frac{N_0}{N_0 - 1} (1 - t)$ and $t = |a|^2 / ((N_0 - 1) d)$. So

    $$S = \log\frac{N - 1}{N} - \log\frac{N_0 - 1}{N_0} + \frac d2 \log\rho
        + \frac{1}{2 \rho} \Big( (1 - \rho) |b|^2 + \frac{2 \, a \cdot b}{N_0 - 1}
        + \frac{|a|^2}{(N_0 - 1)^2} \Big), \qquad 1 - \rho = \frac{N_0 t - 1}{N_0 - 1}.$$

    As t nears 1, $\rho$ is lost to rounding: such samples are to be left out of the cluster indeed.
    """
    N0, N, d = sizes.count, sizes.total, sizes.features
    t = share_of_variance(squares, sizes)
    ρ = N0 / (N0 - 1) * (1 - t)
    logρ = torch.log1p(-t) - math.log1p(-1 / N0)
    weights = math.log1p(-1 / N) - math.log1p(-1 / N0)
    return Terms(
        constant=weights + d / 2 * logρ + squares / (2 * ρ * (N0 - 1) ** 2),
        square=(N0 * t - 1) / (N0 - 1) / (2 * ρ),
        product=1 / (ρ * (N0 - 1)),
    )


def expansion(squares: Float[Tensor, " m"], sizes: Sizes) -> Terms:
    r"""The first order in $1 / N_0$, as it should be.

    $$S = \frac{1}{N_0} \Big( \frac{d + 2}{2} + \frac{|a|^2 |b|^2}{2 d} - \frac{|b - a|^2}{2} \Big) - \frac1N
        = \frac{1}{N_0} \Big( 1 + a \cdot b + \frac{(|a|^2 - d)(|b|^2 - d)}{2 d} \Big) - \frac1N.$$
    """
    N0, N, d = sizes.count, sizes.total, sizes.features
    return _first_order((d + 2) / (2 * N0) - 1 / N, squares / d, squares, N0)


def printed(squares: Float[Tensor, " m"], sizes: Sizes) -> Terms:
    r"""The first order as the paper prints it, where the second term lacks a factor of $|x_i - \mu_0|^2 / d$.

    $$S = \frac{1}{N_0} \Big( \frac{d + 2}{2} + \frac{|b|^2}{2 \sigma_0^2} - \frac{|b - a|^2}{2} \Big)
        - \frac1N.$$

    $\sigma_0$ has a unit and stands alone: the values change with the unit of the data.
    """
    N0, N, d = sizes.count, sizes.total, sizes.features
    factor = torch.full_like(squares, sizes.deviation**-2)
    return _first_order((d + 2) / (2 * N0) - 1 / N, factor, squares, N0)


def _first_order(
    constant: float, factor: Float[Tensor, " m"], squares: Float[Tensor, " m"], count: int
) -> Terms:
    """Add (factor |b|² - |b - a|²) / 2N₀ to a constant."""
    return Terms(
        constant=constant - squares / (2 * count),
        square=(factor - 1) / (2 * count),
        product=torch.full_like(squares, 1 / count),
    )


def exact_elsewhere(total: int) -> float:
    """The influence on queries of other clusters, log((N - 1) / N): their weight changes alone."""
    return math.log1p(-1 / total)


def printed_elsewhere(total: int) -> float:
    """The same as the paper's text has it, -1/N."""
    return -1 / total


@dataclass(frozen=True)
class Form:
    """A way to compute influences.

    Attributes:
        inside: On queries of the sample's own cluster.
        elsewhere: On all others.
    """

    inside: Callable[[Float[Tensor, " m"], Sizes], Terms]
    elsewhere: Callable[[int], float]


FORMS = {
    "exact": Form(exact, exact_elsewhere),
    "expansion": Form(expansion, exact_elsewhere),
    "paper": Form(printed, printed_elsewhere),
}


def form_called(name: str) -> Form:
    """Find a form.

    Raises:
        ValueError: There is none of this name.
    """
    if name not in FORMS:
        raise ValueError(f"`form` must be one of {', '.join(FORMS)}, got {name!r}.")
    return FORMS[name]
