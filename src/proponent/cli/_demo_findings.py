"""What the demo asks of its run."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from proponent.cli._console import is_watched, say
from proponent.runs._opened import OpenedRun
from proponent.runs._scoring import Scoring

if TYPE_CHECKING:
    from proponent.data import PlantedDigits
    from proponent.report import Summary
    from proponent.scores import FloatArray, Scores

_NEIGHBOURS = 5


@dataclass(frozen=True, eq=False)
class Findings:
    """What the demo found out.

    Attributes:
        data: The digits, and which of them are patches.
        self_influence: Of every training sample.
        influence: Of every training sample on every held-out digit.
        rivals: The cheaper rankings, by name.
        facts: How it was made.
    """

    data: "PlantedDigits"
    self_influence: "Scores"
    influence: "Scores"
    rivals: Mapping[str, "FloatArray"]
    facts: Mapping[str, object]

    @property
    def rankings(self) -> Mapping[str, "FloatArray"]:
        """Every way to rank, self-influence first."""
        return {"self-influence": self.self_influence.values} | dict(self.rivals)


def ask(run: OpenedRun, data: "PlantedDigits", draws: int, seed: int) -> Findings:
    """Rank the training set, and score it on the held-out digits.

    Args:
        run: The trained run.
        data: Its data.
        draws: Draws of noise a score.
        seed: The seed of the draws.
    """
    from proponent.evaluation import neighbour_distances, sample_losses

    scoring = Scoring(draws, seed)
    tracin = scoring.method(run, device="cpu")
    say("Ranking the training set by self-influence.")
    own = tracin.self_influence(
        run.samples,
        ids=data.ids,
        directory=scoring.job(run, "self-influence"),
        progress=is_watched(),
    )
    say(f"Scoring it on {len(data.held_out)} held-out digits.")
    influence = tracin.influence(
        run.samples,
        data.held_out[:, None],  # one channel, as the run has them
        ids=data.ids,
        query_ids=data.held_out_ids,
        directory=scoring.job(run, "influence"),
        progress=is_watched(),
    )
    return Findings(
        data=data,
        self_influence=own,
        influence=influence,
        rivals={
            "loss": sample_losses(run.model, run.objective, run.samples, draws=draws, seed=seed),
            "distance to neighbours": neighbour_distances(run.samples, k=_NEIGHBOURS),
        },
        facts=_facts(run, own, draws),
    )


def summary_of(findings: Findings) -> "Summary":
    """Gather what the page says, with the first held-out digit of each kind: none is picked for its looks."""
    from proponent.report import summarise
    from proponent.scores import Scores

    data, influence = findings.data, findings.influence
    first = [int(np.flatnonzero(data.held_out_labels == digit)[0]) for digit in range(10)]
    assert influence.query_ids is not None
    return summarise(
        "Photo patches among handwritten digits",
        findings.self_influence,
        Scores(influence.values[:, first], influence.ids, influence.query_ids[first], influence.unit),
        foreign=data.foreign,
        rivals=findings.rivals,
        facts=findings.facts,
        neighbours=5,
    )


def _facts(run: OpenedRun, own: "Scores", draws: int) -> dict[str, object]:
    training = run.tables["training"]
    parameters = sum(parameter.numel() for parameter in run.model.parameters())
    return {
        "data": "scikit-learn's digits, 8x8; patches of its two photographs, in grey, reduced to 8x8",
        "model": f"beta-VAE, multilayer perceptron, {run.tables['model']['latent_dim']} latent dimensions, "
        f"{parameters:,} parameters",
        "loss": f"negative ELBO, beta = {run.tables['objective']['beta']:g}, Bernoulli likelihood",
        "training": f"{training['steps']:,} steps of Adam at {training['learning_rate']:g}, "
        f"batches of {training['batch_size']}, seed {training['seed']}",
        "scores": f"{own.method} over {len(run.trajectory)} checkpoints in Adam's metric, {draws} draws, "
        "unbiased",
        "distance to neighbours": f"mean Euclidean distance to the {_NEIGHBOURS} nearest, in pixels",
        "coverage": f"{own.facts['coverage']['share']:.1%} of the parameters are in the scores",
    }
