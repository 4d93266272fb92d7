"""The four covariance types by scikit-learn's names, and its shapes of them."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from jaxtyping import Float
from torch import Tensor

from proponent.density._symmetric import Dense, Diagonal, Symmetric
from proponent.scores import FloatArray


@dataclass(frozen=True)
class CovarianceType:
    """How the components of a mixture are spread.

    Attributes:
        name: As scikit-learn has it.
        kind: Of the matrices in so many dimensions.
        shape: Of the array for K components in d dimensions.
        is_shared: Whether all components have the same covariance.
    """

    name: str
    kind: Callable[[int], Symmetric]
    shape: Callable[[int, int], tuple[int, ...]]
    is_shared: bool = False

    @property
    def is_dense(self) -> bool:
        """Whether the features may be correlated."""
        return self.name in ("full", "tied")

    def held(self, array: npt.ArrayLike, components: int, dimension: int, name: str) -> FloatArray:
        """Bring an array of matrices to the shape in which their kind holds them, ``[L, r, s]``.

        Raises:
            ValueError: It has another shape than it must.
        """
        found, shape = np.array(array, dtype=np.float64, order="C"), self.shape(components, dimension)
        if found.shape != shape:
            raise ValueError(
                f'`{name}` must have the shape {shape} for `covariance_type="{self.name}"`, '
                f"got {found.shape}."
            )
        leading = 1 if self.is_shared else components
        return found.reshape(leading, *((dimension, dimension) if self.is_dense else (1, -1)))

    def shown(self, matrices: Float[Tensor, "L r s"], components: int, dimension: int) -> FloatArray:
        """Bring matrices to scikit-learn's shape."""
        return matrices.cpu().numpy().reshape(self.shape(components, dimension))


_ALL = (
    CovarianceType("full", Dense, lambda k, d: (k, d, d)),
    CovarianceType("tied", Dense, lambda k, d: (d, d), is_shared=True),
    CovarianceType("diag", Diagonal, lambda k, d: (k, d)),
    CovarianceType("spherical", lambda d: Diagonal(d, repeats=d), lambda k, d: (k,)),
)


def covariance_type_named(name: str) -> CovarianceType:
    """Find a type.

    Raises:
        ValueError: There is none of this name.
    """
    for each in _ALL:
        if each.name == name:
            return each
    names = ", ".join(each.name for each in _ALL)
    raise ValueError(f"`covariance_type` must be one of {names}, got {name!r}.")
