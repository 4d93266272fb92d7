"""Self-influence from the highest to the lowest."""

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes

from proponent.report.figures._style import FAINT, PLANTED, PROPONENT
from proponent.scores import FloatArray


def draw_ranking(
    ax: Axes,
    values: FloatArray,
    foreign: npt.NDArray[np.bool_] | None = None,
    unit: str = "nats",
    planted_name: str = "planted",
) -> Axes:
    """Draw the self-influence of every sample against its rank, with the planted ones marked.

    Args:
        ax: Where to draw.
        values: Self-influence, ``[n]``.
        foreign: Which samples were planted, ``[n]``.
        unit: What a value of 1 means.
        planted_name: What the legend calls the planted.

    Returns:
        `ax`.
    """
    order = np.argsort(-values, kind="stable")
    rank = np.arange(1, len(values) + 1)
    ax.plot(rank, values[order], color=PROPONENT, linewidth=1.4, zorder=2, label="all samples")
    if foreign is not None:
        marked = foreign[order]
        ax.scatter(
            rank[marked], values[order][marked],
            s=16, color=PLANTED, edgecolor="white", linewidth=0.4, zorder=3, clip_on=False,
            label=planted_name,
        )  # fmt: skip
        ax.legend(loc="upper right", fontsize=8, handletextpad=0.4)
    if (values > 0).all() and values.max() > 30 * np.median(values):
        ax.set_yscale("log")
    elif values.max() > 30 * np.median(np.abs(values)) > 0:
        ax.set_yscale("symlog", linthresh=float(np.median(np.abs(values))))
    ax.grid(axis="y", color=FAINT, linewidth=0.6)
    ax.set_axisbelow(True)
    ax.set_xlim(0, len(values))
    ax.set_xlabel("rank by self-influence")
    ax.set_ylabel(f"self-influence ({unit})")
    return ax
