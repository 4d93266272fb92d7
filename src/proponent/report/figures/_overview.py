"""A run in one picture: what moved some queries, and which samples the model leans on."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from proponent.report._records import Entry, Summary
from proponent.report.figures._gallery import draw_gallery
from proponent.report.figures._proponents import draw_proponents
from proponent.report.figures._ranking import draw_ranking
from proponent.report.figures._style import MUTED, figure_style
from proponent.scores import FloatArray


def draw_overview(
    summary: Summary,
    self_influence: FloatArray,
    samples: Mapping[str, npt.NDArray[Any]],
    queries: Mapping[str, npt.NDArray[Any]],
    foreign: npt.NDArray[np.bool_] | None = None,
    rows: int = 5,
    neighbours: int = 4,
    query_name: str = "query",
    query_heading: str = "query",
    planted_name: str = "planted",
) -> Figure:
    """Draw queries with their proponents and opponents beside the ranking by self-influence.

    Args:
        summary: The run.
        self_influence: The score of every sample, ``[n]``.
        samples: The training samples' images by id.
        queries: The queries' images by id.
        foreign: Which samples were planted, ``[n]``.
        rows: How many queries to show.
        neighbours: How many proponents and opponents of each.
        query_name: What a query is called.
        query_heading: What stands over the column of queries, which is narrow.
        planted_name: What the planted samples are called.
    """
    queried = tuple(
        replace(row, proponents=row.proponents[:neighbours], opponents=row.opponents[:neighbours])
        for row in summary.queries[:rows]
    )
    rows = len(queried)
    with figure_style():
        # In inches, so that the text keeps its size whatever is shown.
        left_width = 0.56 * (2 * neighbours + 2)
        body = max(0.72 * rows, 3.2)
        width, height = left_width + 4.55, body + 1.2
        figure = Figure(figsize=(width, height))

        def place(left: float, bottom: float, w: float, h: float) -> Axes:
            return figure.add_axes((left / width, bottom / height, w / width, h / height))

        def write(left: float, bottom: float, text: str, **how: Any) -> None:
            figure.text(left / width, bottom / height, text, **how)

        right, grid_height = left_width + 0.75, 3 * 3.6 / 8
        tiles = draw_proponents(place(0.15, 0.36, left_width, body), queried, queries, samples, query_heading)
        tiles.set_anchor("NW")
        gallery = draw_gallery(place(right, 0.36, 3.6, grid_height), summary.highest[:24], samples, columns=8)
        gallery.set_anchor("SW")
        curve_bottom = 0.36 + grid_height + 0.85
        curve = place(right, curve_bottom, 3.6, 0.36 + body - curve_bottom)
        draw_ranking(curve, self_influence, foreign, summary.unit, planted_name)
        bold = {"weight": "bold"}
        write(0.15, height - 0.4, "Which training samples shaped the loss of these?", fontsize=11.5, **bold)
        write(right - 0.45, height - 0.4, "On which does the model lean?", fontsize=11.5, **bold)
        write(
            right,
            0.36 + grid_height + 0.1,
            _gallery_title(summary.highest[:24], foreign is not None, planted_name),
            fontsize=9,
        )
        explanation = f"lowered (+) or raised (−) the loss of the {query_name}, in {summary.unit}"
        write(
            0.15, 0.12, f"Under each sample: how far training on it {explanation}.", fontsize=8, color=MUTED
        )
    return figure


def _gallery_title(entries: tuple[Entry, ...], known: bool, planted_name: str) -> str:
    title = f"the {len(entries)} with the highest self-influence"
    return f"{title}: {sum(bool(e.foreign) for e in entries)} {planted_name}" if known else title
