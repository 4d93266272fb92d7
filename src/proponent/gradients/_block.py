"""A block: the gradients of n samples with respect to a few parameters that belong together."""

from abc import ABC, abstractmethod
from dataclasses import dataclass

from jaxtyping import Float
from torch import Tensor


@dataclass(frozen=True, eq=False)
class Block(ABC):
    """The gradients of n samples for the parameters called `names`.

    A block is an interface: how the gradients are held, as factors or as numbers, is up to the class.
    """

    names: tuple[str, ...]

    @property
    @abstractmethod
    def samples(self) -> int:
        """How many samples it holds, n."""

    @property
    @abstractmethod
    def size(self) -> int:
        """How many numbers one sample's gradient has, p."""

    @abstractmethod
    def gradients(self) -> tuple[Float[Tensor, "n _"], ...]:
        """The gradients as numbers, one matrix for each of `names`, in the parameter's own order."""

    @abstractmethod
    def select(self, start: int, stop: int) -> "Block":
        """The samples from `start` to `stop`, without a copy."""
