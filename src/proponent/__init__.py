"""Which training samples made a generative model what it is, without labels."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from proponent._version import __version__

if TYPE_CHECKING:
    from proponent import attribution as attribution
    from proponent import data as data
    from proponent import density, evaluation, models
    from proponent import gradients as gradients
    from proponent import objectives as objectives
    from proponent import paper as paper
    from proponent import report as report
    from proponent import review as review
    from proponent import runs as runs
    from proponent import training as training
    from proponent.attribution import DrawPlan, TracIn
    from proponent.objectives import Elbo, Objective, objective
    from proponent.scores import Ranking, Scores
    from proponent.top_scores import TopScores
    from proponent.training import (
        DivergedError,
        Member,
        Optimizer,
        Run,
        Tactics,
        Trajectory,
        fit,
        fit_ensemble,
    )

__all__ = [
    "DivergedError",
    "DrawPlan",
    "Elbo",
    "Member",
    "Objective",
    "Optimizer",
    "Ranking",
    "Run",
    "Scores",
    "Tactics",
    "TopScores",
    "TracIn",
    "Trajectory",
    "__version__",
    "density",
    "evaluation",
    "fit",
    "fit_ensemble",
    "models",
    "objective",
]

# Where each name lives. They are loaded when first asked for, since torch takes seconds to import and
# `proponent --help` has no use for it.
_HOMES = {
    "proponent.attribution": ("DrawPlan", "TracIn"),
    "proponent.objectives": ("Elbo", "Objective", "objective"),
    "proponent.scores": ("Ranking", "Scores"),
    "proponent.training": (
        "DivergedError",
        "Member",
        "Optimizer",
        "Run",
        "Tactics",
        "Trajectory",
        "fit",
        "fit_ensemble",
    ),
    "proponent.top_scores": ("TopScores",),
}
_ROOMS = (
    "attribution",
    "data",
    "density",
    "evaluation",
    "gradients",
    "models",
    "objectives",
    "paper",
    "report",
    "review",
    "runs",
    "training",
)


def __getattr__(name: str) -> Any:
    if name in _ROOMS:
        return import_module(f"proponent.{name}")
    for home, names in _HOMES.items():
        if name in names:
            return getattr(import_module(home), name)
    raise AttributeError(f"module 'proponent' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
