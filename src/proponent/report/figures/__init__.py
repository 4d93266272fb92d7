"""Figures, as functions that take and return matplotlib's axes.

matplotlib comes with the extra ``proponent[figures]``.
"""

from proponent.report.figures._density_against import draw_against_distance, draw_against_log_likelihood
from proponent.report.figures._density_by_cluster import draw_by_cluster
from proponent.report.figures._density_clusters import draw_clusters
from proponent.report.figures._density_maps import draw_influence_map, draw_self_influence_map
from proponent.report.figures._density_scored import Scored
from proponent.report.figures._detection import draw_detection
from proponent.report.figures._gallery import draw_gallery
from proponent.report.figures._loss import draw_against_loss
from proponent.report.figures._overview import draw_overview
from proponent.report.figures._proponents import draw_proponents
from proponent.report.figures._ranking import draw_ranking
from proponent.report.figures._style import figure_style
from proponent.report.figures._tiles import Tile, draw_tiles

__all__ = [
    "Scored",
    "Tile",
    "draw_against_distance",
    "draw_against_log_likelihood",
    "draw_against_loss",
    "draw_by_cluster",
    "draw_clusters",
    "draw_detection",
    "draw_gallery",
    "draw_influence_map",
    "draw_overview",
    "draw_proponents",
    "draw_ranking",
    "draw_self_influence_map",
    "draw_tiles",
    "figure_style",
]
