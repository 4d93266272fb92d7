"""Works through the tasks of a job, and reduces what they leave in a fixed order."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from proponent.attribution._batches import Batches
from proponent.attribution._job import Job
from proponent.attribution._scorers import Scorer
from proponent.attribution._source import Stage
from proponent.data import Batch, take
from proponent.progress import progress_bar
from proponent.scores import FloatArray
from proponent.top_scores import Extremes, extremes_of, merged

if TYPE_CHECKING:
    from tqdm import tqdm


def reduce_scores(tasks: "Tasks", progress: bool) -> FloatArray:
    """Compute the scores of the chosen shards ``[r, n, ...]``, summed over the stages in their order.

    Stages come first: what belongs to one, such as the queries' gradients, is made once.

    Args:
        tasks: The tasks.
        progress: Whether to show it.
    """
    total: FloatArray | None = None
    first = tasks.samples.start
    with tasks.bar(progress) as bar:
        for stage in tasks.stages:
            for shard in tasks.chosen:
                scores = tasks.finished(stage, shard)
                if total is None:
                    total = np.zeros(
                        (len(scores), tasks.samples.stop - first, *scores.shape[2:]), scores.dtype
                    )
                part = tasks.part(shard)
                _accumulate(total[:, part.start - first : part.stop - first], scores, stage)
                bar.update(part.stop - part.start)
    assert total is not None
    return total


def reduce_extremes(tasks: "Tasks", k: int, progress: bool) -> tuple[Extremes, Extremes]:
    """Find the k highest and the k lowest scores of each query, holding one shard's scores at a time.

    Shards come first, since only a sum over all stages can be ranked; a task is a shard.

    Args:
        tasks: The tasks.
        k: How many to keep.
        progress: Whether to show it.
    """
    highest: Extremes | None = None
    lowest: Extremes | None = None
    with tasks.bar(progress) as bar:
        for shard in tasks.chosen:
            high, low = tasks.finished_extremes(shard, k, bar.update)
            highest = merged(highest, high, k) if highest else high
            lowest = merged(lowest, low, k) if lowest else low
    assert highest is not None
    assert lowest is not None
    return highest, lowest


class Tasks:
    """The tasks (stage, shard) of a job: read where they are finished, computed and kept where not.

    Args:
        job: Keeps finished tasks.
        scorer: Computes a task.
        samples: All n samples.
        stages: The stages.
        shards: How the samples are divided.
        chosen: Which of the shards are to be worked through.
        batches: Finds the batches, once something must be computed.
    """

    def __init__(
        self,
        job: Job,
        scorer: Scorer,
        samples: Batch,
        stages: Sequence[Stage],
        shards: Sequence[slice],
        chosen: range,
        batches: Batches,
    ) -> None:
        self.stages, self.chosen = stages, chosen
        self._job, self._scorer, self._samples, self._shards = job, scorer, samples, shards
        self._batches = batches
        self._settled: Mapping[str, int] | None = None

    @property
    def samples(self) -> slice:
        """The samples of all chosen shards."""
        return slice(self.part(self.chosen[0]).start, self.part(self.chosen[-1]).stop)

    def part(self, shard: int) -> slice:
        """The samples of a shard."""
        return self._shards[shard]

    def bar(self, progress: bool) -> "tqdm[Any]":
        """A progress bar over samples at stages."""
        count = sum(self._shards[shard].stop - self._shards[shard].start for shard in self.chosen)
        return progress_bar(count * len(self.stages), " samples at checkpoints", progress)

    def finished(self, stage: Stage, shard: int) -> FloatArray:
        """The scores of a task, ``[r, n, ...]``."""
        name = f"trajectory-{stage.trajectory}-step-{stage.step:08d}-shard-{shard:05d}"
        kept = self._job.load(name)
        if kept is not None:
            return kept["scores"]
        scores = self._compute(stage, shard)
        self._job.save(name, {"scores": scores})
        return scores

    def finished_extremes(
        self, shard: int, k: int, report: Callable[[int], object]
    ) -> tuple[Extremes, Extremes]:
        """The highest and lowest scores of a shard, over all stages."""
        name = f"shard-{shard:05d}"
        kept = self._job.load(name)
        part = self._shards[shard]
        if kept is not None:
            report((part.stop - part.start) * len(self.stages))
        else:
            total: FloatArray | None = None
            for stage in self.stages:
                scores = self._compute(stage, shard)
                total = np.zeros_like(scores) if total is None else total
                _accumulate(total, scores, stage)
                report(part.stop - part.start)
            assert total is not None
            high, low = (extremes_of(sign * total[0], part.start, k) for sign in (1, -1))
            kept = {
                "highest": high.positions,
                "high": high.keys,
                "lowest": low.positions,
                "low": low.keys,
            }
            self._job.save(name, kept)
        return Extremes(kept["highest"], kept["high"]), Extremes(kept["lowest"], kept["low"])

    def _compute(self, stage: Stage, shard: int) -> FloatArray:
        part = self._shards[shard]
        if self._settled is None:
            shard_size = self._shards[0].stop
            self._settled = self._batches.of_job(self._job, self._scorer, self._samples, stage, shard_size)
        scores = self._scorer(take(self._samples, part), stage, self._settled).cpu().numpy()
        bad = ~np.isfinite(scores).all(axis=(0, *range(2, scores.ndim)))
        if bad.any():
            raise ValueError(
                f"Scores must be finite, but {int(bad.sum())} of the samples from {part.start} to "
                f"{part.stop - 1} have NaN or infinite ones at step {stage.step}, the first at position "
                f"{part.start + int(bad.argmax())}. The model may have diverged by then: leave the "
                "checkpoint out with `checkpoints`, or look at the loss of that sample."
            )
        return np.asarray(scores)


def _accumulate(total: FloatArray, scores: FloatArray, stage: Stage) -> None:
    """S += w Z; variances, behind the scores, with w²."""
    for row, values in enumerate(scores):
        total[row] += values * values.dtype.type(stage.weight if row == 0 else stage.weight**2)
