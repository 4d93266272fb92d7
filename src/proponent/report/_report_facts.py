"""How a run was made, and what to keep in mind when reading its scores."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from proponent.report._offline_record import Facts

if TYPE_CHECKING:
    from proponent.evaluation import Rankings
    from proponent.runs import OpenedRun
    from proponent.scores import Scores
    from proponent.top_scores import TopScores

_SMALL_ERROR = 0.1  # a share of the score that a ranking of thousands survives


def facts_of(
    run: "OpenedRun", rankings: "Rankings", own: "Scores | None", seconds: Mapping[str, float]
) -> Facts:
    """Gather how a run was made, by section.

    Args:
        run: The run.
        rankings: Of its samples.
        own: Their self-influence, where it was computed.
        seconds: How long each stage took.
    """
    from pathlib import Path

    data, tables, training = run.data, run.tables, run.tables["training"]
    copies = int((data.duplicates >= 0).sum())
    source = tables["data"].get("path")
    facts: dict[str, Mapping[str, Any]] = {
        "data": {
            "name": None if source is None else Path(source).name,
            "form": tables["data"].get("form"),
            "samples": len(data),
            "shape of each": list(data.values.shape[1:]),
            "left aside": len(data.left_aside),
            "exact copies": copies,
            "groups of copies": int(data.duplicates.max()) + 1 if copies else 0,
            "fingerprint": data.fingerprint,
        },
        "model": {
            **tables["model"],
            "parameters": sum(parameter.numel() for parameter in run.model.parameters()),
        },
        "loss": {"name": "negative ELBO", **tables["objective"]},
        "training": dict(training),
        "rankings": {name: rankings.facts.get(name) for name in ("draws", "seed", "pairs", "neighbours")},
    }
    if own is not None:
        facts["self-influence"] = scores_facts(own, run) | {
            "unbiased": not own.facts.get("biased", False),
            "standard errors": own.standard_errors is not None,
            "median standard error over median score": median_error(own),
            "samples under 0": int((np.asarray(own.values) < 0).sum()),
        }
    facts["made by"] = dict(tables.get("versions", {})) | {"date": tables.get("made", {}).get("date")}
    facts["seconds"] = dict(seconds)
    return facts


def scores_facts(scores: "Scores | TopScores", run: "OpenedRun") -> dict[str, Any]:
    """What influences rest on: method, draws, checkpoints, coverage.

    Args:
        scores: The influences.
        run: Their run.
    """
    facts, stages = scores.facts, scores.facts.get("stages", [])
    coverage = facts.get("coverage", {})
    return {
        "method": scores.method,
        "unit": scores.unit,
        "draws": facts.get("draws"),
        "seed": facts.get("seed"),
        "checkpoints": len(stages),
        "checkpoints of the run": len(run.trajectory),
        "steps": [stage["step"] for stage in stages],
        "weights": facts.get("weights"),
        "metric": ", ".join(sorted({stage["metric"] for stage in stages})) or facts.get("metric"),
        "precision": facts.get("precision"),
        "coverage": coverage.get("share"),
        "left out": sorted(coverage.get("left_out", {})),
    }


def median_error(own: "Scores") -> float | None:
    """The median standard error over the median size of a score; none where it wasn't asked for."""
    if own.standard_errors is None:
        return None
    size = float(np.median(np.abs(own.values)))
    return float(np.median(own.standard_errors)) / size if size else None


def limits_of(facts: Facts, run: "OpenedRun", shown: int) -> tuple[str, ...]:
    """Say what to keep in mind, a sentence or two each.

    Args:
        facts: What `facts_of` found.
        run: The run.
        shown: How many samples the page shows.
    """
    said = []
    n = len(run.data)
    if shown < n:
        said.append(
            f"The page shows {shown:,} of the {n:,} samples: the ends of every ranking, what influences the "
            "queries, and others drawn by chance. The ranking of all lies in scores/rankings.parquet."
        )
    data = facts["data"]
    if data["left aside"]:
        said.append(
            f"{_counted(data['left aside'], 'sample')} could not be read, and had no part in the training."
        )
    if data["exact copies"]:
        said.append(
            f"{data['exact copies']:,} samples are exact copies of each other, in "
            f"{_counted(data['groups of copies'], 'group')}. Copies explain each other, so each tends to "
            "stand lower than it would alone."
        )
    if not facts["rankings"]["pairs"]:
        said.append(
            "No models were trained on halves of the samples: there is no loss under models that never saw "
            "the sample, and no combined ranking."
        )
    said += _own_limits(facts.get("self-influence"))
    said.append(
        "This is one training with one seed. Numbers differ from seed to seed, those of self-influence "
        "above all."
    )
    return tuple(said)


def _own_limits(own: Mapping[str, Any] | None) -> list[str]:
    if own is None:
        return ["Self-influence wasn't computed."]
    said = [
        "Influences add up, over the checkpoints, how far the steps that a sample took part in moved a loss, "
        "to first order. They rank samples along the path that training took; they are not the change that "
        "retraining without the sample would bring."
    ]
    if own["checkpoints"] < own["checkpoints of the run"]:
        said.append(
            f"Self-influence rests on {own['checkpoints']} of the {own['checkpoints of the run']} "
            "checkpoints: what happened between the others is taken to be alike."
        )
    if own["coverage"] is not None and own["coverage"] < 1:
        out = f" Left out: {', '.join(own['left out'])}." if own["left out"] else ""
        said.append(f"Only {own['coverage']:.1%} of the parameters are in the scores.{out}")
    if own["draws"] is not None:
        said.append(_draws(own))
    if not own["unbiased"]:
        said.append(
            "Self-influence is the square of one gradient, which noise makes too large: it was asked for."
        )
    if own["samples under 0"]:
        said.append(
            f"{_counted(own['samples under 0'], 'self-influence')} under 0. A squared size can't be "
            "that: it is the noise of an estimate from few draws, left visible."
        )
    return said


def _draws(own: Mapping[str, Any]) -> str:
    draws = _counted(own["draws"], "draw")
    error = own["median standard error over median score"]
    if error is None:
        return (
            f"Each self-influence is a mean over {draws} of noise. How far these may have moved it was not "
            "estimated; `proponent self-influence RUN --standard-errors` does."
        )
    more = "" if error < _SMALL_ERROR else " More draws shrink it."
    return (
        f"Each self-influence is a mean over {draws} of noise, with a median standard error of {error:.0%} "
        f"of the median score.{more}"
    )


def _counted(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
