r"""Did it help to leave samples out? Models are trained with and without them, and asked about others.

Three kinds of training sets, the *arms*: all samples; all but the discarded; all but as many at random.
Samples that no arm sees are held out, and the arms are compared by their mean loss on these.
"""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch
from scipy.stats import t as student
from torch import nn

from proponent.data import as_batch, batch_size, take
from proponent.evaluation._loss import sample_losses
from proponent.objectives import Objective
from proponent.randomness import keyed_generator, keyed_seed
from proponent.scores import FloatArray
from proponent.training import Member, fit_ensemble

_FEWEST_HELD_OUT = 10


@dataclass(frozen=True)
class Change:
    """A change of the mean held-out loss; negative is better.

    Attributes:
        mean: Over the repeats.
        low: The lower end of its confidence interval.
        high: The upper end.
    """

    mean: float
    low: float
    high: float

    @property
    def is_told(self) -> bool:
        """Whether the interval leaves 0 out."""
        return self.low > 0 or self.high < 0


@dataclass(frozen=True, eq=False)
class Comparison:
    """What leaving the discarded samples out did, and what leaving out as many at random did.

    Attributes:
        discarded: Of the held-out loss, without the discarded samples, against all.
        at_random: Without as many at random, against all; the mean over the random choices.
        difference: The first less the second: what was gained by choosing.
        losses: The mean held-out loss by arm and seed: columns arm, seed, loss.
        facts: How it was done, fit for JSON.
    """

    discarded: Change
    at_random: Change
    difference: Change
    losses: pd.DataFrame
    facts: dict[str, Any]

    def verdict(self) -> str:
        """One sentence on what can be told."""
        count = self.facts["discarded"]
        if not self.difference.is_told:
            return (
                f"Leaving out these {count:,} samples and leaving out {count:,} at random can't be told "
                f"apart with {self.facts['seeds']} seeds: the difference in held-out loss is "
                f"{_shown(self.difference)}."
            )
        helped = "better" if self.difference.high < 0 else "worse"
        return (
            f"Without these {count:,} samples models explain held-out samples {helped} than without "
            f"{count:,} at random: by {_shown(self.difference)}."
        )

    def to_dict(self) -> dict[str, Any]:
        """A record fit for JSON."""
        changes = {name: asdict(getattr(self, name)) for name in ("discarded", "at_random", "difference")}
        return changes | {
            "verdict": self.verdict(),
            "losses": self.losses.to_dict(orient="list"),
            "facts": self.facts,
        }


def compare_without(
    build: Callable[[torch.Generator], nn.Module],
    objective: Objective,
    samples: Any,
    discarded: Sequence[int],
    *,
    steps: int,
    seeds: int = 5,
    random_choices: int = 3,
    held_out: float = 0.1,
    confidence: float = 0.95,
    seed: int = 0,
    draws: int = 16,
    directory: str | Path | None = None,
    **training: Any,
) -> Comparison:
    r"""Train with all samples, without the discarded, and without as many at random, several times each.

    All arms share their seeds, so that differences are paired. The interval of the change without the
    discarded covers other seeds; that of the difference other seeds and other random choices too, by the
    crossed design $\sigma^2 = (MS_{\text{choices}} + MS_{\text{seeds}} - MS_{\text{both}}) / RS$. Neither
    covers other held-out samples: these are the same for all.

    Args:
        build: Makes a model from a generator.
        objective: The loss.
        samples: All samples.
        discarded: The positions of those that a person discarded.
        steps: How many steps each model makes.
        seeds: How many models an arm has.
        random_choices: How many times as many samples are chosen at random.
        held_out: The share of the samples that were not discarded to hold out from all arms.
        confidence: Of the intervals.
        seed: What the choices, first parameters, batches, noise and draws belong to.
        draws: How many draws of noise a loss is the mean of.
        directory: Where the models are kept; a comparison that was stopped is taken up from there.
        **training: What `fit_ensemble` takes beside.

    Raises:
        ValueError: Nothing or too much was discarded, a position is not there, a number of repeats is under
            2, a share is not between 0 and 1, or as `fit_ensemble`.
    """
    batch = as_batch(samples)
    n = batch_size(batch)
    gone = _checked(discarded, n)
    for name, value in (("seeds", seeds), ("random_choices", random_choices)):
        if value < 2:
            raise ValueError(f"`{name}` must be at least 2 for an interval, got {value}.")
    for name, share in (("held_out", held_out), ("confidence", confidence)):
        if not 0 < share < 1:
            raise ValueError(f"`{name}` must be between 0 and 1, got {share}.")
    kept = np.setdiff1d(np.arange(n), gone)
    count = max(_FEWEST_HELD_OUT, round(held_out * len(kept)))
    if len(kept) - count <= len(gone) or len(kept) <= count:
        raise ValueError(
            f"`discarded` must be fewer than what is left to train on, but {len(gone)} of {n} samples are "
            f"discarded and {count} held out. Discard fewer, or hold out a smaller share."
        )
    out = kept[_order(len(kept), seed, "held out")[:count]]
    pool = np.setdiff1d(np.arange(n), out)
    arms = {"all": pool, "discarded": np.setdiff1d(pool, gone)}
    for choice in range(random_choices):
        at_random = pool[_order(len(pool), seed, "at random", choice)[: len(gone)]]
        arms[f"at random {choice}"] = np.setdiff1d(pool, at_random)
    smallest = min(len(subset) for subset in arms.values())
    training["batch_size"] = min(training.get("batch_size", 64), smallest)
    places = [(arm, repeat) for arm in arms for repeat in range(seeds)]
    members = [
        Member(seed=keyed_seed(seed, "comparison", repeat), subset=torch.as_tensor(arms[arm]))
        for arm, repeat in places
    ]
    runs = fit_ensemble(
        build, objective, batch, members, steps=steps, checkpoints=1, directory=directory, **training
    )
    asked = take(batch, torch.as_tensor(out))
    means = [float(sample_losses(run.model, objective, asked, draws, seed).mean()) for run in runs]
    table = pd.DataFrame(
        {"arm": [arm for arm, _ in places], "seed": [repeat for _, repeat in places], "loss": means}
    )
    L = np.reshape(means, (len(arms), seeds))  # [arm, seed]
    return Comparison(
        discarded=_paired(L[1] - L[0], confidence),
        at_random=_crossed(L[2:] - L[0], confidence),
        difference=_crossed(L[1] - L[2:], confidence),
        losses=table,
        facts={
            "samples": n,
            "discarded": len(gone),
            "held_out": count,
            "seeds": seeds,
            "random_choices": random_choices,
            "confidence": confidence,
            "steps": steps,
            "seed": seed,
            "draws": draws,
        },
    )


def _checked(discarded: Sequence[int], n: int) -> Any:
    gone = np.unique(np.asarray(discarded, dtype=np.intp))
    if len(gone) == 0:
        raise ValueError("`discarded` must name at least one sample, got none: there is nothing to compare.")
    if gone[0] < 0 or gone[-1] >= n:
        raise ValueError(
            f"`discarded` must be positions from 0 to {n - 1}, got {gone[0] if gone[0] < 0 else gone[-1]}."
        )
    return gone


def _order(count: int, *key: int | str) -> Any:
    return torch.randperm(count, generator=keyed_generator(*key)).numpy()


def _paired(differences: FloatArray, confidence: float) -> Change:
    """The mean over seeds, with Student's interval."""
    error = float(differences.std(ddof=1) / len(differences) ** 0.5)
    return _change(float(differences.mean()), error, len(differences) - 1, confidence)


def _crossed(D: FloatArray, confidence: float) -> Change:
    """The mean over random choices (rows) and seeds (columns), both of which could have been others."""
    R, S = D.shape
    rows, columns, mean = D.mean(1), D.mean(0), D.mean()
    MS_rows, MS_columns = S * rows.var(ddof=1), R * columns.var(ddof=1)
    residual = D - rows[:, None] - columns + mean
    MS_both = (residual**2).sum() / ((R - 1) * (S - 1))
    variance = max(MS_rows + MS_columns - MS_both, MS_rows, MS_columns) / (R * S)
    return _change(float(mean), float(variance**0.5), min(R, S) - 1, confidence)


def _change(mean: float, error: float, freedom: int, confidence: float) -> Change:
    reach = float(student.ppf((1 + confidence) / 2, freedom)) * error
    return Change(mean, mean - reach, mean + reach)


def _shown(change: Change) -> str:
    return f"{change.mean:+.3g} ({change.low:+.3g} to {change.high:+.3g})"
