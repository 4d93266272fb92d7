"""Self-influence against loss: where the two rankings agree and where they don't."""

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes

from proponent.report.figures._style import FAINT, PLANTED, PROPONENT
from proponent.scores import FloatArray


def draw_against_loss(
    ax: Axes,
    losses: FloatArray,
    values: FloatArray,
    foreign: npt.NDArray[np.bool_] | None = None,
    unit: str = "nats",
    loss_unit: str = "nats",
) -> Axes:
    """Draw a dot for each sample at its loss and its self-influence.

    Args:
        ax: Where to draw.
        losses: The loss of each sample, ``[n]``.
        values: Self-influence, ``[n]``.
        foreign: Which samples were planted, ``[n]``.
        unit: The unit of self-influence.
        loss_unit: The unit of the loss.

    Returns:
        `ax`.
    """
    marked = np.zeros(len(values), bool) if foreign is None else foreign
    ax.scatter(
        losses[~marked], values[~marked], s=7, color=PROPONENT, alpha=0.35, linewidth=0, label="the others"
    )
    if foreign is not None:
        ax.scatter(
            losses[marked], values[marked],
            s=16, color=PLANTED, edgecolor="white", linewidth=0.4, label="planted",
        )  # fmt: skip
        ax.legend(loc="upper left", fontsize=8, handletextpad=0.2)
    typical = float(np.median(np.abs(values)))
    if typical > 0 and values.max() > 30 * typical:
        ax.set_yscale("symlog", linthresh=typical)
    ax.grid(color=FAINT, linewidth=0.6)
    ax.set_axisbelow(True)
    ax.set_xlabel(f"loss ({loss_unit})")
    ax.set_ylabel(f"self-influence ({unit})")
    return ax
