"""Per-sample losses of stochastic models."""

from proponent.objectives._objective import Objective, objective

__all__ = ["Objective", "objective"]
