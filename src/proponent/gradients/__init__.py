"""The numerical core: exact per-sample gradients as factors, and what is computed from them."""

from proponent.gradients._block import Block
from proponent.gradients._capture import GradientCapture
from proponent.gradients._correlation import Correlation
from proponent.gradients._dense import Dense
from proponent.gradients._gradients import Gradients
from proponent.gradients._inner import inner_products, paired_products, prepare_queries, squared_norms
from proponent.gradients._outer_products import OuterProducts
from proponent.gradients._projection import project
from proponent.gradients._rows import Rows
from proponent.precision import PRECISIONS

__all__ = [
    "PRECISIONS",
    "Block",
    "Correlation",
    "Dense",
    "GradientCapture",
    "Gradients",
    "OuterProducts",
    "Rows",
    "inner_products",
    "paired_products",
    "prepare_queries",
    "project",
    "squared_norms",
]
