"""What a task computes: the scores of a shard of samples at one checkpoint."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise

import torch
from jaxtyping import Float
from torch import Tensor

from proponent.attribution._budget import largest_batch
from proponent.attribution._crossed import crossed_variance, squared_mean_variance, variance_components
from proponent.attribution._source import Source, Stage
from proponent.data import Batch, batch_size, take
from proponent.gradients import Gradients, inner_products, paired_products, prepare_queries
from proponent.memory import Memory, measure_memory

# [b, b, ...] scores of groups of draws -> [r, ...] what is kept of them
Summary = Callable[[Tensor], Tensor]


def mean_alone(S: Float[Tensor, "b b ..."]) -> Float[Tensor, "1 ..."]:
    """The score."""
    return S.mean((0, 1))[None]


def mean_with_variance(S: Float[Tensor, "b b ..."]) -> Float[Tensor, "2 ..."]:
    """The score and its variance, where samples and queries have draws of their own."""
    return torch.stack([S.mean((0, 1)), crossed_variance(S)])


def squared_mean_with_variance(S: Float[Tensor, "b b ..."]) -> Float[Tensor, "2 ..."]:
    """The score and its variance, where both gradients come from the same draws."""
    return torch.stack([S.mean((0, 1)), squared_mean_variance(S)])


def mean_with_components(S: Float[Tensor, "b b ..."]) -> Float[Tensor, "4 ..."]:
    """The score, and the variances that the sample's draws, the query's, and both together add."""
    parts = variance_components(S)
    return torch.stack([S.mean((0, 1)), parts.rows, parts.columns, parts.both])


class Scorer(ABC):
    """Computes shards at stages, within a budget."""

    @abstractmethod
    def plan(self, samples: Batch, stage: Stage, budget: int, limit: int) -> dict[str, int]:
        """Find the batches that keep to a budget.

        Args:
            samples: Samples to try with.
            stage: The stage to try at.
            budget: Bytes.
            limit: The largest batch of samples that is of use.

        Raises:
            ValueError: The budget is too small for a single sample or query.
        """

    @abstractmethod
    def with_batch(self, batch: int) -> dict[str, int]:
        """The batches where their size is set by hand."""

    @abstractmethod
    def __call__(self, shard: Batch, stage: Stage, batches: Mapping[str, int]) -> Float[Tensor, "r n ..."]:
        """Compute a shard.

        Args:
            shard: n samples.
            stage: The checkpoint.
            batches: What `plan` found.

        Returns:
            The scores ``[0]``, and behind them what else was asked for.
        """


class PairScorer(Scorer):
    """Scores every sample on every query.

    Args:
        source: Gives the gradients.
        queries: The q queries.
        groups: Into how many groups the draws of either side are divided.
        summary: What is kept of the scores of the groups.
    """

    def __init__(self, source: Source, queries: Batch, groups: int, summary: Summary) -> None:
        self._source, self._queries, self._groups, self._summary = source, queries, groups, summary
        self._kept: tuple[Stage, list[list[Gradients]]] | None = None

    def plan(self, samples: Batch, stage: Stage, budget: int, limit: int) -> dict[str, int]:
        """Give half of the budget to the queries' gradients, and the rest to the batch of samples."""
        q = batch_size(self._queries)
        # A shard's scores, and once more while they are added to those of other stages.
        rows = self._summary(torch.zeros(2, 2, 1)).shape[0]
        budget -= 2 * rows * limit * q * self._source.capture.dtype.itemsize
        half = budget // 2

        def capture_queries(count: int) -> list[Gradients]:
            return self._capture_queries(stage, slice(0, count))

        def query_memory(count: int) -> Memory:
            return measure_memory(lambda: capture_queries(count))

        query_batch = largest_batch(lambda count: query_memory(count).peak, half, q, "query")
        if query_batch < q:  # small pieces fill the half better
            quarter = max(half // 4, query_memory(1).peak)
            query_batch = largest_batch(lambda count: query_memory(count).peak, quarter, q, "query")
        kept = query_memory(query_batch).kept
        held = min(-(-q // query_batch), max(1, half // max(kept, 1)))
        piece = capture_queries(query_batch)
        train = self._source.groups(stage, "train", self._groups)

        def score(count: int) -> Tensor:
            return self._scores(take(samples, slice(0, count)), train, [piece])

        left = budget - held * kept
        batch = largest_batch(lambda count: measure_memory(lambda: score(count)).peak, left, limit, "sample")
        return {"batch": batch, "query_batch": query_batch, "query_batches_held": held}

    def with_batch(self, batch: int) -> dict[str, int]:
        """The batch holds for queries too, whose gradients are all held."""
        q = batch_size(self._queries)
        return {"batch": batch, "query_batch": min(batch, q), "query_batches_held": q}

    def __call__(self, shard: Batch, stage: Stage, batches: Mapping[str, int]) -> Float[Tensor, "r n q"]:
        """Compute the scores ``[n, q]`` of a shard."""
        self._source.load(stage)
        train = self._source.groups(stage, "train", self._groups)
        pieces = even_slices(batch_size(self._queries), batches["query_batch"])
        held = batches["query_batches_held"]
        scores: Tensor | None = None
        for start in range(0, len(pieces), held):
            chunk = pieces[start : start + held]
            queries = self._queries_at(stage, chunk, len(pieces) <= held)
            for part in even_slices(batch_size(shard), batches["batch"]):
                found = self._scores(take(shard, part), train, queries)
                if scores is None:
                    scores = found.new_empty(len(found), batch_size(shard), batch_size(self._queries))
                scores[:, part, chunk[0].start : chunk[-1].stop] = found
        assert scores is not None
        return scores

    def _scores(
        self, batch: Batch, train: Sequence[Tensor | None], queries: Sequence[Sequence[Gradients]]
    ) -> Float[Tensor, "r n q"]:
        samples = self._source.gradients(batch, train)
        if len(samples) > 1:  # what is formed at all is formed once, not for every pair
            samples = [prepare_queries(group) for group in samples]
        return torch.cat([self._summary(_every_pair(inner_products, samples, piece)) for piece in queries], 2)

    def _queries_at(self, stage: Stage, pieces: Sequence[slice], keep: bool) -> list[list[Gradients]]:
        """The queries' gradients, captured once for all shards of a stage where all of them are held."""
        if self._kept is not None and self._kept[0] == stage:
            return self._kept[1]
        self._kept = None  # before new ones are made
        queries = [self._capture_queries(stage, piece) for piece in pieces]
        if keep:
            self._kept = (stage, queries)
        return queries

    def _capture_queries(self, stage: Stage, piece: slice) -> list[Gradients]:
        self._source.load(stage)
        noise = self._source.groups(stage, "query", self._groups)
        gradients = self._source.gradients(take(self._queries, piece), noise)
        return [prepare_queries(group, self._source.metric) for group in gradients]


class OwnScorer(Scorer):
    """Scores every sample on itself.

    Args:
        source: Gives the gradients.
        groups: Into how many groups each half of the draws is divided, or all of them if `biased`.
        summary: What is kept of the scores of the groups.
        biased: Whether both gradients come from all draws, rather than each from a half of its own.
    """

    def __init__(self, source: Source, groups: int, summary: Summary, biased: bool) -> None:
        self._source, self._groups, self._summary, self._biased = source, groups, summary, biased

    def plan(self, samples: Batch, stage: Stage, budget: int, limit: int) -> dict[str, int]:
        """Give all of the budget to the batch."""
        self._source.load(stage)
        batch = largest_batch(
            lambda count: measure_memory(lambda: self._scores(take(samples, slice(0, count)), stage)).peak,
            budget,
            limit,
            "sample",
        )
        return {"batch": batch}

    def with_batch(self, batch: int) -> dict[str, int]:
        """The batch."""
        return {"batch": batch}

    def __call__(self, shard: Batch, stage: Stage, batches: Mapping[str, int]) -> Float[Tensor, "r n"]:
        """Compute the scores ``[n]`` of a shard."""
        self._source.load(stage)
        parts = even_slices(batch_size(shard), batches["batch"])
        return torch.cat([self._scores(take(shard, part), stage) for part in parts], 1)

    def _scores(self, batch: Batch, stage: Stage) -> Float[Tensor, "r n"]:
        metric = self._source.metric
        halves = 1 if self._biased else 2
        groups = self._source.gradients(batch, self._source.groups(stage, "train", halves * self._groups))
        first, second = groups[: self._groups], groups[-self._groups :]  # the same where there are no halves
        if self._groups > 1 and metric is not None:  # formed once, not for every pair
            second = [group.densify(metric) for group in second]
            first, metric = [group.densify() for group in first], None
        return self._summary(_every_pair(paired_products, first, second, metric))


def even_slices(count: int, most: int) -> list[slice]:
    """Divide 0 to count-1 into as few slices as `most` allows, of nearly equal lengths.

    >>> even_slices(10, 4)
    [slice(0, 4, None), slice(4, 7, None), slice(7, 10, None)]
    """
    parts = -(-count // most)
    long = count % parts
    ends = [0]
    for part in range(parts):
        ends.append(ends[-1] + count // parts + (part < long))
    return [slice(start, stop) for start, stop in pairwise(ends)]


def _every_pair(
    product: Callable[..., Tensor],
    left: Sequence[Gradients],
    right: Sequence[Gradients],
    metric: Mapping[str, Tensor] | None = None,
) -> Float[Tensor, "b b ..."]:
    """S_ab = ⟨g_i^(a), M g_z^(b)⟩ for all pairs of groups."""
    with torch.no_grad():
        return torch.stack([torch.stack([product(a, b, metric) for b in right]) for a in left])
