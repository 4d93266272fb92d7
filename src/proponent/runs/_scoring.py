"""How a run is scored: the settings that every scoring command has, the method, and the job's folder."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from proponent.runs._opened import OpenedRun
from proponent.runs._settings import default_device

if TYPE_CHECKING:
    from proponent.attribution import TracIn

# The C library gives larger pieces of memory back to the system each time, and then most of the time goes
# into having them cleared again: a fourth to an eighth of the time is left in pieces of this size.
_KEPT_BY_MALLOC = 16 << 20


@dataclass(frozen=True)
class Scoring:
    """The settings that scores depend on; each is an argument of `TracIn`."""

    draws: int = 16
    seed: int = 0
    precision: str = "float32"
    weights: str = "physical"
    metric: str = "trained"
    checkpoints: Sequence[int] | None = None
    layers: Sequence[str] | None = None

    def method(self, run: OpenedRun, memory_budget: str | None = None, device: str | None = None) -> "TracIn":
        """Build the method for a run.

        Raises:
            ValueError: A setting can't be used.
        """
        from proponent.attribution import TracIn

        return TracIn(
            run.model,
            run.objective,
            run.trajectory,
            draws=self.draws,
            seed=self.seed,
            precision=self.precision,
            memory_budget=memory_budget,
            batch_size=self._batch(run, memory_budget, default_device(device)),
            checkpoints=self.checkpoints or None,
            weights=str(self.weights),
            metric=str(self.metric),
            layers=self.layers or None,
            device=default_device(device),
        )

    def _batch(self, run: OpenedRun, memory_budget: str | None, device: str) -> int | None:
        """The batch on a CPU, where a sample's gradient is laid out; elsewhere the method finds it best."""
        identity = self.metric == "identity" or run.tables["training"]["optimizer"] != "adam"
        if memory_budget is not None or device != "cpu" or (identity and self.metric != "adam"):
            return None
        size = sum(parameter.numel() for parameter in run.model.parameters())
        return max(1, _KEPT_BY_MALLOC // (4 * size))

    def tasks(self, run: OpenedRun, shards_alone: bool = False) -> int:
        """How many tasks a job has: one for each checkpoint and each shard of the samples.

        Args:
            run: The run.
            shards_alone: Whether a task takes all checkpoints, as where only the strongest are kept.
        """
        from proponent.attribution._shards import shards_of

        shards = len(shards_of(len(run.samples)))
        return shards if shards_alone else shards * len(self.checkpoints or run.trajectory)

    def job(self, run: OpenedRun, kind: str, **asked: Any) -> Path:
        """A folder for a job: the kind and a hash of what was asked, so that other questions have others."""
        settings = asdict(self) | asked
        settings |= {"data": run.tables["data"]["fingerprint"], "trajectory": run.trajectory.fingerprint()}
        digest = hashlib.sha256(json.dumps(settings, sort_keys=True).encode()).hexdigest()
        return run.folder.job(f"{kind}-{digest[:12]}")
