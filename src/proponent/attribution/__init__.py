"""Which samples moved the loss of which queries: one method a file."""

from proponent.attribution._draws import DrawPlan, draws_by_chebyshev, draws_by_theorem
from proponent.attribution._tracin import TracIn

__all__ = ["DrawPlan", "TracIn", "draws_by_chebyshev", "draws_by_theorem"]
