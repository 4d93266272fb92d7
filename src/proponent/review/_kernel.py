"""The kernel: how much a decision on one sample says about another."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from proponent.review._blocks import Blocks, FloatArray

Float32Array = npt.NDArray[np.float32]


@dataclass(frozen=True)
class Bump:
    r"""A part of the kernel that falls with the distance: $v \exp(-\gamma |x - x'|^2)$.

    Attributes:
        sharpness: $\gamma$, for blocks of mean square norm 1.
        variance: $v$, in squared log odds.
    """

    sharpness: float
    variance: float


# Chosen on two repeats of five planted sets; factors of two in any of them change little.
BUMPS = {
    "pixels": Bump(2.0, 4.0),
    "whitened": Bump(1.0, 3.0),
    "edges": Bump(0.7, 16.0),
    "scores": Bump(0.3, 2.0),
    "latents": Bump(0.7, 2.0),
    "residuals": Bump(0.7, 2.0),
}
_OTHERS = Bump(0.7, 2.0)
_LINEAR = 2.0  # variance of the plane through the scores: a person may care for one ranking more
_CONSTANT = 4.0  # variance of how many there are at all
_SLOPE = 0.5  # variance of how much the order to begin with says


class Kernel:
    r"""The covariance of log odds between samples, a sum over blocks.

    $$k(i, j) = c + s\, r_i r_j + l \langle a_i, a_j \rangle
        + \sum_b v_b \exp(-\gamma_b |b_i - b_j|^2)$$

    with $r$ the ranking to begin with, $a$ the block of scores and $b$ all blocks.

    >>> kernel = Kernel({"pixels": np.array([[1.0], [-1.0]], np.float32)}, np.zeros(2))
    >>> kernel.columns(np.array([0])).ravel().round(4)  # 4 + 4, and 4 + 4 exp(-2 * 2²)
    array([8.    , 4.0013], dtype=float32)
    """

    def __init__(self, blocks: Blocks, start: FloatArray) -> None:
        """Remember what is compared.

        Args:
            blocks: The blocks, ``[n, f]`` each, of mean square norm 1.
            start: The ranking to begin with as normal quantiles, ``[n]``.
        """
        self._blocks = blocks
        self._squares = {name: np.einsum("nf,nf->n", block, block) for name, block in blocks.items()}
        self._start = start.astype(np.float32)

    def __len__(self) -> int:
        return len(self._start)

    def columns(self, samples: npt.NDArray[np.intp]) -> Float32Array:
        """The covariances of all samples with some, ``[n, m]``.

        Args:
            samples: Which, ``[m]``.
        """
        total: Float32Array = _CONSTANT + _SLOPE * np.outer(self._start, self._start[samples])
        for name, block in self._blocks.items():
            products = block @ block[samples].T
            if name == "scores":
                total += np.float32(_LINEAR) * products
            bump = BUMPS.get(name, _OTHERS)
            products *= 2 * bump.sharpness
            products -= bump.sharpness * self._squares[name][:, None]
            products -= bump.sharpness * self._squares[name][samples]
            np.minimum(products, 0, out=products)
            np.exp(products, out=products)
            products *= bump.variance
            total += products
        return total
