r"""Kinds of symmetric matrices, in the coordinates of quadratic Hermite polynomials.

For $y \sim \mathcal{N}(0, I)$ the polynomials $\psi_{aa}(y) = (y_a^2 - 1) / \sqrt 2$ and
$\psi_{ab}(y) = y_a y_b$ for $a < b$ have mean 0, variance 1 and no correlation; with $y$ itself and the
constants they span all polynomials of degree two. The coordinates $v$ of a symmetric matrix $M$ are those
with

$$\sum_j v_j \psi_j(y) = \tfrac{1}{2} \langle M, y y^\top - I \rangle.$$

A diagonal matrix has the $\psi_{aa}$ alone; where a number stands in several rows it has their sum over the
root of their count, such as $(|y|^2 - d) / \sqrt{2d}$ for a multiple of the identity.
"""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import final

import torch
from jaxtyping import Bool, Float
from torch import Tensor

# Arrays of numbers by which a kind holds its matrices: [d, d], or [1, c] for diagonal ones.
Matrices = Float[Tensor, "... r s"]


@dataclass(frozen=True)
class Symmetric(ABC):
    """A kind of symmetric matrices of ``dimension`` rows, and of their lower triangular roots."""

    dimension: int

    @property
    @abstractmethod
    def count(self) -> int:
        """How many coordinates a matrix has."""

    @abstractmethod
    def identity(self, like: Tensor) -> Float[Tensor, "r s"]:
        """The identity, with the type and the place of a tensor."""

    @abstractmethod
    def features(self, y: Float[Tensor, "*b d"]) -> Float[Tensor, "*b c"]:
        r"""The Hermite polynomials $\psi(y)$, which are the coordinates of $y y^\top - I$."""

    @abstractmethod
    def products(
        self, y: Float[Tensor, "*b m d"], z: Float[Tensor, "*b q d"], dtype: torch.dtype
    ) -> Float[Tensor, "*b m q"]:
        r"""Compute $\psi(y)^\top \psi(z)$ for all pairs, by products in a dtype."""

    @abstractmethod
    def matrices(self, coordinates: Float[Tensor, "*b c"]) -> Matrices:
        """The matrices that have these coordinates."""

    @abstractmethod
    def coordinates(self, matrices: Matrices) -> Float[Tensor, "*b c"]:
        """The coordinates of matrices."""

    @abstractmethod
    def squares(self, y: Float[Tensor, "*b d"]) -> Matrices:
        r"""The part of $y y^\top$ that is of this kind."""

    @abstractmethod
    def moments(self, weights: Float[Tensor, "*b m"], y: Float[Tensor, "*b m d"]) -> Matrices:
        r"""The part of $\sum_i w_i y_i y_i^\top$ that is of this kind."""

    @abstractmethod
    def roots(self, matrices: Matrices) -> tuple[Matrices, Bool[Tensor, "*b"]]:
        """The lower triangular L with M = L Lᵀ, and where there is one; the others are of no use."""

    @abstractmethod
    def inverse_roots(self, roots: Matrices) -> Matrices:
        """The inverses of lower triangular matrices."""

    @abstractmethod
    def product(self, left: Matrices, right: Matrices) -> Matrices:
        """The products of matrices."""

    @abstractmethod
    def transposed(self, matrices: Matrices) -> Matrices:
        """The transposes of matrices."""

    @abstractmethod
    def apply(self, matrices: Matrices, y: Float[Tensor, "... m d"]) -> Float[Tensor, "... m d"]:
        """The products of matrices with vectors, which are rows."""

    @abstractmethod
    def trace(self, matrices: Matrices) -> Float[Tensor, "*b"]:
        """The traces of matrices."""

    @abstractmethod
    def log_determinant(self, roots: Matrices) -> Float[Tensor, "*b"]:
        """The logarithms of the determinants of L."""


@final
class Dense(Symmetric):
    """All symmetric matrices."""

    @property
    def count(self) -> int:
        """All of the lower half."""
        return self.dimension * (self.dimension + 1) // 2

    def identity(self, like: Tensor) -> Float[Tensor, "r s"]:
        """A matrix."""
        return torch.eye(self.dimension, dtype=like.dtype, device=like.device)

    def features(self, y: Float[Tensor, "*b d"]) -> Float[Tensor, "*b c"]:
        """The squares, then the products in the order of rows."""
        a, b = self._pairs(y)
        return torch.cat([(y.square() - 1) / math.sqrt(2), y[..., a] * y[..., b]], -1)

    def products(
        self, y: Float[Tensor, "*b m d"], z: Float[Tensor, "*b q d"], dtype: torch.dtype
    ) -> Float[Tensor, "*b m q"]:
        """½ ⟨y yᵀ − I, z zᵀ − I⟩ = ½ ((yᵀz)² − |y|² − |z|² + d), without the outer products."""
        products = (y.to(dtype) @ z.to(dtype).mT).square_()
        products -= y.square().sum(-1)[..., :, None] - self.dimension
        products -= z.square().sum(-1)[..., None, :]
        return products.div_(2)

    def matrices(self, coordinates: Float[Tensor, "*b c"]) -> Matrices:
        """Fill both halves."""
        d = self.dimension
        a, b = self._pairs(coordinates)
        M = torch.diag_embed(coordinates[..., :d] * math.sqrt(2))
        M[..., a, b] = M[..., b, a] = coordinates[..., d:]
        return M

    def coordinates(self, matrices: Matrices) -> Float[Tensor, "*b c"]:
        """Read the diagonal and the upper half."""
        a, b = self._pairs(matrices)
        diagonal = matrices.diagonal(dim1=-2, dim2=-1)
        return torch.cat([diagonal / math.sqrt(2), matrices[..., a, b]], -1)

    def squares(self, y: Float[Tensor, "*b d"]) -> Matrices:
        """The outer products."""
        return y[..., :, None] * y[..., None, :]

    def moments(self, weights: Float[Tensor, "*b m"], y: Float[Tensor, "*b m d"]) -> Matrices:
        """One matrix product."""
        return (weights[..., None] * y).mT @ y

    def roots(self, matrices: Matrices) -> tuple[Matrices, Bool[Tensor, "*b"]]:
        """Cholesky's."""
        roots, failures = torch.linalg.cholesky_ex(matrices)
        return roots, (failures == 0) & roots.isfinite().all(-1).all(-1)

    def inverse_roots(self, roots: Matrices) -> Matrices:
        """By substitution."""
        inverses: Tensor = torch.linalg.solve_triangular(
            roots, self.identity(roots).expand_as(roots), upper=False
        )
        return inverses

    def product(self, left: Matrices, right: Matrices) -> Matrices:
        """As they are."""
        return left @ right

    def transposed(self, matrices: Matrices) -> Matrices:
        """A view."""
        return matrices.mT

    def apply(self, matrices: Matrices, y: Float[Tensor, "... m d"]) -> Float[Tensor, "... m d"]:
        """One matrix product."""
        return y @ matrices.mT

    def trace(self, matrices: Matrices) -> Float[Tensor, "*b"]:
        """The sum of the diagonal."""
        return matrices.diagonal(dim1=-2, dim2=-1).sum(-1)

    def log_determinant(self, roots: Matrices) -> Float[Tensor, "*b"]:
        """Off the diagonal of a root are zeros and no logarithms."""
        return roots.diagonal(dim1=-2, dim2=-1).log().sum(-1)

    def _pairs(self, like: Tensor) -> tuple[Tensor, Tensor]:
        a, b = torch.triu_indices(self.dimension, self.dimension, 1, device=like.device)
        return a, b


@final
@dataclass(frozen=True)
class Diagonal(Symmetric):
    """Diagonal matrices, held as ``[1, c]``; each of the c numbers stands in ``repeats`` rows."""

    repeats: int = 1

    @property
    def count(self) -> int:
        """The numbers that differ."""
        return self.dimension // self.repeats

    def identity(self, like: Tensor) -> Float[Tensor, "r s"]:
        """Ones."""
        return torch.ones(1, self.count, dtype=like.dtype, device=like.device)

    def features(self, y: Float[Tensor, "*b d"]) -> Float[Tensor, "*b c"]:
        """The squares, or the squared length."""
        return self.coordinates(self.squares(y) - 1)

    def products(
        self, y: Float[Tensor, "*b m d"], z: Float[Tensor, "*b q d"], dtype: torch.dtype
    ) -> Float[Tensor, "*b m q"]:
        """Rounded as features are: where they are small, points need not be."""
        return self.features(y).to(dtype) @ self.features(z).to(dtype).mT

    def matrices(self, coordinates: Float[Tensor, "*b c"]) -> Matrices:
        """Scale them."""
        return coordinates[..., None, :] * math.sqrt(2 / self.repeats)

    def coordinates(self, matrices: Matrices) -> Float[Tensor, "*b c"]:
        """Scale them back."""
        return matrices.squeeze(-2) * math.sqrt(self.repeats / 2)

    def squares(self, y: Float[Tensor, "*b d"]) -> Matrices:
        """The means over the rows of a number."""
        return y.square().reshape(*y.shape[:-1], self.count, self.repeats).mean(-1)[..., None, :]

    def moments(self, weights: Float[Tensor, "*b m"], y: Float[Tensor, "*b m d"]) -> Matrices:
        """One product with a vector."""
        return weights[..., None, :] @ self.squares(y).squeeze(-2)

    def roots(self, matrices: Matrices) -> tuple[Matrices, Bool[Tensor, "*b"]]:
        """Square roots; that of a number below 0 is not a number."""
        return matrices.sqrt(), ((matrices > 0) & matrices.isfinite()).all(-1).all(-1)

    def inverse_roots(self, roots: Matrices) -> Matrices:
        """Reciprocals."""
        return roots.reciprocal()

    def product(self, left: Matrices, right: Matrices) -> Matrices:
        """Number by number."""
        return left * right

    def transposed(self, matrices: Matrices) -> Matrices:
        """The same."""
        return matrices

    def apply(self, matrices: Matrices, y: Float[Tensor, "... m d"]) -> Float[Tensor, "... m d"]:
        """Number by number."""
        return matrices.repeat_interleave(self.repeats, -1) * y

    def trace(self, matrices: Matrices) -> Float[Tensor, "*b"]:
        """Each number as often as it stands there."""
        return self.repeats * matrices.sum((-2, -1))

    def log_determinant(self, roots: Matrices) -> Float[Tensor, "*b"]:
        """The trace of the logarithms."""
        return self.trace(roots.log())
