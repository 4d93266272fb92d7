"""Figures, as functions that take and return matplotlib's axes.

matplotlib comes with the extra ``proponent[figures]``.
"""

from proponent.report.figures._detection import draw_detection
from proponent.report.figures._gallery import draw_gallery
from proponent.report.figures._loss import draw_against_loss
from proponent.report.figures._overview import draw_overview
from proponent.report.figures._proponents import draw_proponents
from proponent.report.figures._ranking import draw_ranking
from proponent.report.figures._style import figure_style
from proponent.report.figures._tiles import Tile, draw_tiles

__all__ = [
    "Tile",
    "draw_against_loss",
    "draw_detection",
    "draw_gallery",
    "draw_overview",
    "draw_proponents",
    "draw_ranking",
    "draw_tiles",
    "figure_style",
]
