"""The paper's statements on density estimators, in its order."""

from proponent.paper._density_figures import DensityFigures
from proponent.paper._kde_statements import kde_statements
from proponent.paper._knn_statements import knn_statements
from proponent.paper._mixture_query_statements import mixture_query_statements
from proponent.paper._mixture_self_statements import mixture_self_statements
from proponent.paper._shared_statements import shared_statements
from proponent.paper._statement import Statement


def density_statements(figures: DensityFigures) -> tuple[Statement, ...]:
    """Measure every statement that the paper makes about its figures on density estimators.

    Args:
        figures: The numbers of the figures.
    """
    return (
        *knn_statements(figures),
        *kde_statements(figures),
        *mixture_self_statements(figures),
        *mixture_query_statements(figures),
        *shared_statements(figures),
    )
