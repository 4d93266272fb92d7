"""Gradients of a table that was looked up: a few of its rows, the rest zero."""

from dataclasses import dataclass

from jaxtyping import Float, Int
from torch import Tensor

from proponent.gradients._block import Block


@dataclass(frozen=True, eq=False)
class Rows(Block):
    """The gradients of an embedding's table.

    Attributes:
        names: The table's name.
        left: ``[n, t, e]``, the gradients at what was looked up.
        index: ``[n, t]``, the rows that were looked up.
        count: How many rows the table has.
    """

    left: Float[Tensor, "n t e"]
    index: Int[Tensor, "n t"]
    count: int

    @property
    def samples(self) -> int:
        """How many samples it holds."""
        return self.left.shape[0]

    @property
    def terms(self) -> int:
        """How many rows one sample looked up, with repeats."""
        return self.left.shape[1]

    @property
    def size(self) -> int:
        """How many numbers one sample's gradient has."""
        return self.count * self.left.shape[2]

    def gradients(self) -> tuple[Float[Tensor, "n p"]]:
        """The table's gradients."""
        n, _, e = self.left.shape
        G = self.left.new_zeros(n, self.count, e)
        return (G.scatter_add_(1, self.index[..., None].expand_as(self.left), self.left).flatten(1),)

    def select(self, start: int, stop: int) -> "Rows":
        """The samples from `start` to `stop`."""
        return Rows(self.names, self.left[start:stop], self.index[start:stop], self.count)
