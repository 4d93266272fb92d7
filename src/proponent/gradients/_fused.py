"""Where a fused kernel does the work: a GPU, with Triton."""

from jaxtyping import Float
from torch import Tensor


def serves(factors: Tensor) -> bool:
    """Whether the fused kernel serves factors of this device and dtype."""
    return False


def gram(
    left: Float[Tensor, "n t o"],
    right: Float[Tensor, "n t i"],
    query_left: Float[Tensor, "q s o"],
    query_right: Float[Tensor, "q s i"],
    bias: bool,
) -> Float[Tensor, "n q"]:
    """Sum the products of both Gram matrices."""
    raise NotImplementedError
