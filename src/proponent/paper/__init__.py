"""Every table and figure of the paper, one module each."""

from proponent.paper._density_figures import DensityFigures, Estimate, density_figures
from proponent.paper._density_pictures import (
    clusters_picture,
    forms_picture,
    influence_picture,
    overview_picture,
    self_influence_picture,
)
from proponent.paper._density_statements import density_statements
from proponent.paper._six_clusters import SixClusters, six_clusters
from proponent.paper._statement import Statement

__all__ = [
    "DensityFigures",
    "Estimate",
    "SixClusters",
    "Statement",
    "clusters_picture",
    "density_figures",
    "density_statements",
    "forms_picture",
    "influence_picture",
    "overview_picture",
    "self_influence_picture",
    "six_clusters",
]
