"""The rule for embeddings."""

from functools import partial

from torch import Tensor

from proponent.gradients._rows import Rows
from proponent.gradients._rules._use import Use


def embedding(
    input: Tensor,
    weight: Tensor,
    padding_idx: int | None = None,
    max_norm: float | None = None,
    norm_type: float = 2.0,
    scale_grad_by_freq: bool = False,
    sparse: bool = False,
) -> Use:
    """Describe a call of `torch.nn.functional.embedding`."""
    refusal = None
    if scale_grad_by_freq:
        refusal = "scales gradients by how often a row occurs in the batch (`scale_grad_by_freq=True`)"
    if max_norm is not None:
        refusal = "changes its weight in every call (`max_norm`), so the loss is no function of it"
    if padding_idx is not None and padding_idx < 0:
        padding_idx += weight.shape[0]
    block = partial(_rows, padding_idx=padding_idx, count=weight.shape[0])
    return Use(input, weight, None, input.ndim, block, _no_bias, refusal=refusal)


def _rows(
    names: tuple[str, ...], input: Tensor, gradient: Tensor, padding_idx: int | None, count: int
) -> Rows:
    index, left = input.flatten(1), gradient.flatten(1, -2)
    if padding_idx is not None:  # torch gives the padding's row no gradient
        left = left * (index != padding_idx)[..., None]
    return Rows(names, left, index, count)


def _no_bias(gradient: Tensor) -> Tensor:
    raise NotImplementedError("An embedding has no bias.")
