"""Per-sample losses of stochastic models."""

from proponent.objectives._elbo import Elbo
from proponent.objectives._loss_module import LossModule
from proponent.objectives._objective import Objective, check_identified, objective

__all__ = ["Elbo", "LossModule", "Objective", "check_identified", "objective"]
