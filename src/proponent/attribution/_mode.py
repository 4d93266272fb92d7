"""Whether the model is scored as it was trained, as far as Adam's second moments tell."""

from collections.abc import Mapping

from torch import Tensor

from proponent.gotchas import see
from proponent.gradients import Gradients

# A sample's gradient exceeds a batch's by the root of the batch, and more near an optimum; not by this.
_MOST = 1e4


def check_moments(gradients: Gradients, metric: Mapping[str, Tensor]) -> None:
    """Refuse parameters that got next to no gradient in training, and have one now.

    A bias before batch norm is one: while the norm trains, it takes the bias out again. In evaluation mode
    it does not, and Adam's metric would multiply a gradient that training never saw by a huge number.

    Args:
        gradients: Of a few samples.
        metric: Adam's, one over the roots of the second moments.

    Raises:
        ValueError: Names the parameters.
    """
    found = {}
    for name, values in gradients.by_parameter().items():
        root = float((1 / metric[name]).square().mean().sqrt())
        size = float(values.detach().square().mean().sqrt())
        if size > _MOST * root:
            found[name] = (size, root)
    if not found:
        return
    name, (size, root) = max(found.items(), key=lambda item: item[1][0] / item[1][1])
    others = f" and {len(found) - 1} more" if len(found) > 1 else ""
    raise ValueError(
        f"`{name}`{others} must have gradients in scoring like those in training, but they are of size "
        f"{size:.1e} where Adam's second moments know of {root:.1e}. The model may be scored in another mode "
        "than it was trained in, as with a bias before batch norm. Call `.requires_grad_(False)` on such "
        'parameters to leave them out, or use `metric="identity"`.' + see("adam")
    )
