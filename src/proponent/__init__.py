"""Which training samples made a generative model what it is, without labels."""

from proponent._version import __version__
from proponent.objectives import objective
from proponent.scores import Ranking, Scores

__all__ = ["Ranking", "Scores", "__version__", "objective"]
