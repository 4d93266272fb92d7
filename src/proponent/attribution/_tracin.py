"""TracIn: what each training step on a sample did to the loss of a query."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, final, overload

import numpy as np
import torch
from torch import Tensor, nn

from proponent.attribution._batches import Batches
from proponent.attribution._crossed import group_count
from proponent.attribution._draws import DrawPlan, plan_for_pairs
from proponent.attribution._inputs import (
    as_ids,
    as_samples,
    as_trajectories,
    check_computes,
    check_mean_over_draws,
    check_objective,
)
from proponent.attribution._job import Job, architecture
from proponent.attribution._mode import check_moments
from proponent.attribution._run import Tasks, reduce_extremes, reduce_scores
from proponent.attribution._scorers import (
    OwnScorer,
    PairScorer,
    Scorer,
    mean_alone,
    mean_with_components,
    mean_with_variance,
    squared_mean_with_variance,
)
from proponent.attribution._shards import part_of, shards_of
from proponent.attribution._source import Source
from proponent.attribution._stages import stages_of
from proponent.data import Batch, batch_size, fingerprint, take
from proponent.gradients import GradientCapture
from proponent.objectives import Objective, check_identified
from proponent.scores import FloatArray, IdArray, Scores
from proponent.top_scores import TopScores, ranking_of


@final
class TracIn:
    r"""TracIn scores of any model with a per-sample loss; for a VAE, the paper's VAE-TracIn.

    The score of a sample $x_i$ on a query z is

    $$S(x_i, z) = \sum_c w_c \, \bar g_c(x_i)^\top M_c \, \bar g_c(z),$$

    summed over checkpoints. $\bar g_c(x) = \frac1m \sum_j \nabla \ell(x; \theta_c, \zeta_j)$ is the mean
    gradient over m draws; samples and queries have independent draws, so the score is unbiased. All
    samples share theirs. They belong to (seed, trajectory, step, role): scores don't depend on the batch
    size, the order of the samples, the number of machines, or restarts. Positive means proponent.

    Two things differ from the paper's equation for VAE-TracIn, and both by default. The *weights* are
    physical: $w_c$ is the learning rate times the number of steps that the checkpoint stands for over
    the number of samples, so that the score predicts a change of the query's loss, in its unit;
    Definition 2 has $w_c = 1$ (``weights="unit"``). And the *metric* $M_c$ is that of the optimiser: the
    identity for SGD, $1 / (\sqrt{\hat v_c} + \epsilon)$ for Adam, whose steps it describes.

    >>> import proponent as pp
    >>> squares = pp.objective(lambda model, x, noise: model(x).square().sum(1) / 2)
    >>> layer = nn.Linear(2, 1, bias=False)
    >>> state = {"weight": torch.tensor([[1.0, 2.0]])}  # the gradient of a sample is (w · x) x
    >>> tracin = TracIn(layer, squares, [state], weights="unit", device="cpu")
    >>> tracin.influence(torch.tensor([[1.0, 0.0], [0.0, 1.0]]), torch.tensor([[1.0, 1.0]])).values
    array([[3.],
           [6.]], dtype=float32)

    Args:
        model: The architecture. It is copied, and its parameters come from the trajectory; those with
            ``requires_grad=False`` count as not trained. Put it in the mode to score in, usually
            ``eval()``.
        objective: The per-sample loss. It may be another than the one trained on: then the scores say
            what would have happened to this loss, had the model been trained on it from each checkpoint.
        trajectory: The checkpoints of one training, a `Trajectory`; or a list of several, such as other
            seeds of the same training, whose scores are averaged; or a list of plain state dicts, which
            need ``weights="unit"``.
        draws: How many draws make one mean gradient, m. Not used by an objective without noise.
        seed: The seed of the draws.
        weights: ``physical`` or ``unit``.
        metric: ``trained``, or by name ``identity`` or ``adam``. An optimiser that isn't known counts as
            SGD, and the scores' facts say so.
        checkpoints: Positions in each trajectory to restrict the sum to; all without it.
        layers: Names of modules or parameters to restrict the gradients to.
        precision: ``float32``, ``float64``, ``tf32`` or ``bfloat16``. Samples are brought to its dtype.
        memory_budget: What the work may take on the device, such as ``"2GiB"``; it sets the batch. The
            samples, the model and the result come on top. Without it, a share of what is free.
        batch_size: The batch, where it is to be set by hand.
        device: Where to compute; a GPU where there is one.

    Raises:
        ValueError: An argument is out of its range, or the trajectory doesn't have what it needs.
        TypeError: `trajectory` is none of these, or `objective` no objective.
    """

    def __init__(
        self,
        model: nn.Module,
        objective: Objective | Any,  # anything, so that our own message speaks first
        trajectory: Any,
        *,
        draws: int = 16,
        seed: int = 0,
        weights: str = "physical",
        metric: str = "trained",
        checkpoints: Sequence[int] | None = None,
        layers: Sequence[str] | None = None,
        precision: str = "float32",
        memory_budget: int | str | None = None,
        batch_size: int | None = None,
        device: torch.device | str | None = None,
    ) -> None:
        if draws < 1:
            raise ValueError(f"`draws` must be at least 1, got {draws}.")
        check_objective(objective)
        self._trajectories = as_trajectories(trajectory)
        for one in self._trajectories:
            one.check_fits(model)
        self._stages = stages_of(self._trajectories, weights, metric, checkpoints)
        device = device or ("cuda" if torch.cuda.is_available() else "cpu")
        self._capture = GradientCapture(model, objective, layers, precision, device)
        self._batches = Batches(memory_budget, batch_size, self._capture.device)
        shape = objective.noise_shape(model)
        self._source = Source(self._capture, self._trajectories, shape, draws, seed)
        self._objective, self._draws, self._seed = objective, draws, seed
        self._weights, self._metric, self._layers = weights, metric, layers
        self._model = architecture(model)

    @overload
    def influence(
        self,
        samples: Any,
        queries: Any,
        *,
        ids: Any = ...,
        query_ids: Any = ...,
        top: None = ...,
        standard_errors: bool = ...,
        directory: str | Path | None = ...,
        part: tuple[int, int] = ...,
        shard_size: int | None = ...,
        progress: bool = ...,
    ) -> Scores: ...

    @overload
    def influence(
        self,
        samples: Any,
        queries: Any,
        *,
        ids: Any = ...,
        query_ids: Any = ...,
        top: int,
        standard_errors: bool = ...,
        directory: str | Path | None = ...,
        part: tuple[int, int] = ...,
        shard_size: int | None = ...,
        progress: bool = ...,
    ) -> TopScores: ...

    def influence(
        self,
        samples: Any,
        queries: Any,
        *,
        ids: Any = None,
        query_ids: Any = None,
        top: int | None = None,
        standard_errors: bool = False,
        directory: str | Path | None = None,
        part: tuple[int, int] = (0, 1),
        shard_size: int | None = None,
        progress: bool = True,
    ) -> Scores | TopScores:
        r"""Score every sample on every query.

        A standard error is that of one score over the choice of the draws: they are divided into B
        groups, up to 8, all B² pairs of groups are scored, and the jackknife that leaves out a group on
        either side gives the variance; those of checkpoints add up with squared weights. The scores are
        the same as without. Since samples share their draws, the errors of neighbours in a ranking go
        together, and a difference of two scores is better known than they tell.

        Args:
            samples: n training samples.
            queries: q points that are asked about.
            ids: An id for each sample; positions without them.
            query_ids: An id for each query.
            top: Keep only so many proponents and opponents of each query. Then n x q scores are never
                held, neither in memory nor on disk.
            standard_errors: Whether to estimate them. It takes about B times the memory.
            directory: A folder for finished tasks. A job that was stopped goes on from there, to the same
                bits on the same machine; a finished one is read.
            part: ``(k, of)`` restricts the work and the result to part k, from 0, of the samples. Several
                processes, or machines with a common disk, can so share one folder; a last call without
                `part` puts their results together.
            shard_size: The samples of one task; chosen by their number alone without it.
            progress: Whether to show progress when it takes longer than two seconds.

        Returns:
            `Scores` ``[n, q]``, or `TopScores` with `top`.

        Raises:
            ValueError: The samples, the ids or the options can't be used, `memory_budget` is too small
                for a single sample, a score is not finite, or the folder holds another job.
        """
        samples, queries = self._checked(samples, "samples"), self._checked(queries, "queries")
        n, q = batch_size(samples), batch_size(queries)
        ids, query_ids = as_ids(ids, n, "ids", "samples"), as_ids(query_ids, q, "query_ids", "queries")
        if top is not None and not 1 <= top <= n:
            raise ValueError(f"`top` must be between 1 and the {n} samples, got {top}.")
        if top is not None and standard_errors:
            raise ValueError("`standard_errors` must be left out with `top`, which keeps scores alone.")
        scorer = PairScorer(self._source, queries, 1, mean_alone)
        if standard_errors:
            groups = group_count(self._draws)
            self._check_groups(samples, groups, "`standard_errors`")
            scorer = PairScorer(self._source, queries, groups, mean_with_variance)
        asked = {"scores": "influence", "queries": fingerprint(queries) if directory else "", "top": top}
        asked["standard_errors"] = standard_errors
        tasks = self._tasks(samples, scorer, asked, directory, part, shard_size)
        kept = tasks.samples
        if top is not None:
            high, low = reduce_extremes(tasks, top, progress)
            return TopScores(
                ranking_of(high, 1, ids, query_ids),
                ranking_of(low, -1, ids, query_ids),
                count=kept.stop - kept.start,
                unit=self._unit(),
                method="TracIn",
                facts=self._facts(),
            )
        return self._result(reduce_scores(tasks, progress), ids[kept], query_ids)

    def self_influence(
        self,
        samples: Any,
        *,
        ids: Any = None,
        biased: bool = False,
        standard_errors: bool = False,
        directory: str | Path | None = None,
        part: tuple[int, int] = (0, 1),
        shard_size: int | None = None,
        progress: bool = True,
    ) -> Scores:
        r"""Score every sample on itself.

        The paper's text takes both gradients from independent draws. Here each comes from one half of
        the sample's draws,

        $$S(x_i) = \sum_c w_c \, \bar g_c^{(1)}(x_i)^\top M_c \, \bar g_c^{(2)}(x_i),$$

        which is unbiased. A score near 0 can so come out negative.

        Args:
            samples: n training samples.
            ids: An id for each sample; positions without them.
            biased: Whether to square one gradient from all draws, as the paper's published experiments
                did. That adds $w_c \operatorname{tr}(M_c \operatorname{Cov} g_c) / m$, 4 to 9% in the
                median on the paper's models, and up to 35%.
            standard_errors: Whether to estimate them, as `influence` does; for the biased form by the
                jackknife over groups of all draws.
            directory: A folder for finished tasks, as in `influence`.
            part: A part of the samples, as in `influence`.
            shard_size: The samples of one task; chosen by their number alone without it.
            progress: Whether to show progress when it takes longer than two seconds.

        Returns:
            `Scores` ``[n]``.

        Raises:
            ValueError: `draws` is odd and `biased` is false; and all that `influence` raises.
        """
        samples = self._checked(samples, "samples")
        ids = as_ids(ids, batch_size(samples), "ids", "samples")
        biased = biased or not self._source.is_stochastic
        if not biased and self._draws % 2:
            least = "at least 2" if self._draws == 1 else "even"
            raise ValueError(
                f"`draws` must be {least} for an unbiased self-influence, got {self._draws}. "
                "Use `biased=True` to accept the bias."
            )
        scorer = OwnScorer(self._source, 1, mean_alone, biased)
        if standard_errors:
            groups = group_count(self._draws) if biased else group_count(self._draws // 2, "half of `draws`")
            self._check_groups(samples, groups, "`standard_errors`")
            summary = squared_mean_with_variance if biased else mean_with_variance
            scorer = OwnScorer(self._source, groups, summary, biased)
        asked = {"scores": "self-influence", "biased": biased, "standard_errors": standard_errors}
        tasks = self._tasks(samples, scorer, asked, directory, part, shard_size)
        return self._result(reduce_scores(tasks, progress), ids[tasks.samples], None, biased=biased)

    def noise(self, checkpoint: int = 0, role: str = "train", trajectory: int = 0) -> Tensor | None:
        """The draws of a role at a checkpoint, ``[m, *shape]``; none for an objective without noise.

        Self-influence takes its two halves from the draws of the role ``train``.

        Args:
            checkpoint: Its position in the trajectory.
            role: ``train`` or ``query``.
            trajectory: Which of several trajectories.

        Raises:
            ValueError: There is no such role.
            IndexError: There is no such trajectory or checkpoint.
        """
        if role not in ("train", "query"):
            raise ValueError(f'`role` must be "train" or "query", got {role!r}.')
        if not 0 <= trajectory < len(self._trajectories):
            raise IndexError(
                f"`trajectory` must be a position among the {len(self._trajectories)}, got {trajectory}."
            )
        chosen = self._trajectories[trajectory].select([checkpoint])
        return self._source.noise(trajectory, chosen[0].step, role)

    def plan_draws(self, samples: Any, queries: Any, epsilon: float, delta: float) -> DrawPlan:
        r"""Find how many draws keep a score within epsilon of its expectation, with probability 1 - delta.

        By the paper's theorem on the number of draws, $m \ge 8 V / (\epsilon^2 \delta)$, with the constant
        of its proof and the variance V measured on a pilot: these samples and queries, with the `draws` of
        this method. The number holds for every single score among the pilot's; see `DrawPlan`.

        Args:
            samples: A few samples like those to be scored.
            queries: A few queries.
            epsilon: The error allowed, in the unit of the scores.
            delta: The probability with which it may be exceeded.

        Raises:
            ValueError: `epsilon` or `delta` is out of its range, the objective has no noise, or `draws`
                can't be divided into groups.
        """
        samples, queries = self._checked(samples, "samples"), self._checked(queries, "queries")
        groups = group_count(self._draws)
        self._check_groups(samples, groups, "`plan_draws`")
        scorer = PairScorer(self._source, queries, groups, mean_with_components)
        tasks = self._tasks(samples, scorer, {}, None, (0, 1), None)
        variances = reduce_scores(tasks, progress=False)[1:].reshape(3, -1)
        return plan_for_pairs(epsilon, delta, variances, self._draws // groups, self._draws)

    def _checked(self, data: Any, name: str) -> Batch:
        """Samples that are fit to be scored, after a look at how the model takes them."""
        batch = as_samples(data, self._objective, name)
        self._source.load(self._stages[0])
        (noise,) = self._source.groups(self._stages[0], "train", 1)
        few = self._source.place(take(batch, slice(0, 3)))
        check_computes(self._capture.model, self._objective, few, noise, name)
        if name == "samples":
            self._capture.prepare(few, noise)
            if self._source.metric is not None:
                check_moments(self._capture(few, noise), self._source.metric)
        return batch

    def _check_groups(self, samples: Batch, count: int, what: str) -> None:
        """Refuse to divide draws into groups where that makes no sense."""
        few = self._source.place(take(samples, slice(0, 3)))
        groups = self._source.groups(self._stages[0], "train", count)
        check_mean_over_draws(self._capture.model, self._objective, few, groups, what)

    def _tasks(
        self,
        samples: Batch,
        scorer: Scorer,
        asked: Mapping[str, Any],
        directory: str | Path | None,
        part: tuple[int, int],
        shard_size: int | None,
    ) -> Tasks:
        shards = shards_of(batch_size(samples), shard_size)
        configuration: dict[str, Any] = {}
        if directory is not None:
            check_identified(self._objective)
            configuration = {
                "method": "TracIn",
                **asked,
                "samples": fingerprint(samples),
                "shard_size": shards[0].stop,
                "model": self._model,
                **self._settings(),
            }
        job = Job(directory, configuration)
        return Tasks(job, scorer, samples, self._stages, shards, part_of(shards, part), self._batches)

    def _result(self, total: FloatArray, ids: IdArray, query_ids: IdArray | None, **facts: Any) -> Scores:
        return Scores(
            total[0],
            ids,
            query_ids,
            unit=self._unit(),
            method="TracIn",
            standard_errors=np.sqrt(total[1]) if len(total) > 1 else None,
            facts={**self._facts(), **facts},
        )

    def _unit(self) -> str:
        if self._weights == "physical":
            return self._objective.unit
        metrics = {stage.metric for stage in self._stages}
        norm = "squared gradient norm" + (" in Adam's metric" if "adam" in metrics else "")
        return f"{norm}, unit weights (Definition 2)"

    def _facts(self) -> dict[str, Any]:
        trained = [dict(trajectory.objective) or None for trajectory in self._trajectories]
        return {**self._settings(), "trained_objective": trained, **self._capture.facts}

    def _settings(self) -> dict[str, Any]:
        """All that scores depend on beside the samples and the model, fit for JSON."""
        return {
            "objective": dict(self._objective.describe()),
            "draws": self._draws if self._source.is_stochastic else None,
            "seed": self._seed,
            "weights": self._weights,
            "metric": self._metric,
            "optimizer": [trajectory.optimizer.describe() for trajectory in self._trajectories],
            "stages": [asdict(stage) for stage in self._stages],
            "layers": None if self._layers is None else list(self._layers),
            "precision": self._capture.precision,
            "trajectories": [trajectory.fingerprint() for trajectory in self._trajectories],
        }
