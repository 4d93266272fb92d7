"""The batches of a job: set by hand, found for a memory budget, or taken up from an earlier run."""

from collections.abc import Mapping

import torch

from proponent.attribution._job import Job
from proponent.attribution._scorers import Scorer
from proponent.attribution._source import Stage
from proponent.data import Batch
from proponent.memory import default_budget, for_tensors, parse_bytes


class Batches:
    """Finds how many samples and queries are taken at a time.

    Args:
        memory_budget: Bytes, or a text such as ``"2GiB"``; without it, a share of what is free.
        batch_size: The batch where it is set by hand.
        device: Where the work is done.

    Raises:
        ValueError: `memory_budget` isn't a size, or `batch_size` is under 1.
    """

    def __init__(self, memory_budget: int | str | None, batch_size: int | None, device: torch.device) -> None:
        if batch_size is not None and batch_size < 1:
            raise ValueError(f"`batch_size` must be at least 1, got {batch_size}.")
        self._budget = None if memory_budget is None else parse_bytes(memory_budget)
        self._batch_size, self._device = batch_size, device

    def of_job(self, job: Job, scorer: Scorer, samples: Batch, stage: Stage, limit: int) -> Mapping[str, int]:
        """Give the batches, as `Scorer.plan` names them.

        They are kept with the job, and hold for its next run unless something else is asked for then: with
        other batches, sums are rounded in another way.

        Args:
            job: The job.
            scorer: What is to be computed.
            samples: Samples to try with.
            stage: A stage to try at.
            limit: The largest batch that is of use.
        """
        asked = {"memory_budget": self._budget, "batch_size": self._batch_size, "device": str(self._device)}
        settled = job.settled(asked)
        if settled is None:
            if self._batch_size is not None:
                settled = scorer.with_batch(self._batch_size)
            else:
                budget = self._budget or default_budget(self._device)
                settled = scorer.plan(samples, stage, for_tensors(budget, self._device), limit)
            job.settle(asked, settled)
        return settled
