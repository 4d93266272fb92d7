"""Scores are the same whatever the batch, the order, the number of processes, or a kill on the way.

In float32 a ReLU whose input lies within rounding of 0 may open in one batch and close in another: a few
samples in a thousand then differ by 1e-4, for any implementation. The claim is therefore made of all scores
in float64, and of the median sample in float32, beside the share of the others.
"""

import multiprocessing
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from _harness import Benchmark, Outcome, Settings, at_most
from _workload import Workload, mlp_workload
from proponent.attribution import TracIn
from proponent.models import MLPVAE
from proponent.objectives import Elbo
from proponent.training import Trajectory

Array = npt.NDArray[Any]
BETA, SHARDS = 4.0, 8


def measure(settings: Settings) -> Outcome:
    """Score the same samples on the same queries in several ways."""
    n, q = (40, 3) if settings.smoke else (512, 32)
    work = mlp_workload(settings, n, q)
    measured: dict[str, Any] = {}
    for precision in ("float64", "float32"):
        job = Job(work, n // SHARDS, settings.device, precision, settings.smoke)
        expected = job.scores()
        ways = {f"batch {size}": job.scores(batch_size=size) for size in (1, 7)}
        ways["shuffled"] = job.shuffled(settings.seed)
        with tempfile.TemporaryDirectory() as folder:
            ways["four processes"] = job.in_processes(Path(folder), 4)
        with tempfile.TemporaryDirectory() as folder:
            tasks, resumed = job.killed_and_resumed(Path(folder))
        measured[f"{precision}: values that differ after kill and resume"] = int((resumed != expected).sum())
        measured[f"{precision}: tasks finished before the kill"] = tasks
        for way, found in ways.items():
            rows = differences(found, expected)
            if precision == "float64":
                measured[f"float64: {way}"] = float(rows.max())
            else:
                measured[f"float32: {way}, the median sample"] = float(np.median(rows))
                measured[f"float32: {way}, share of samples beyond 1e-6"] = float((rows > 1e-6).mean())
    return Outcome(measured)


class Job:
    """One question, asked in several ways; a smoke run does in its own process what others do in theirs."""

    def __init__(
        self, work: Workload, shard_size: int, device: torch.device, precision: str, inline: bool
    ) -> None:
        self.state = {name: tensor.cpu().numpy() for name, tensor in work.vae.state_dict().items()}
        self.samples, self.queries = work.samples.cpu().numpy(), work.queries.cpu().numpy()
        self.options = {"shard_size": shard_size, "progress": False}
        self.inline = inline
        self.device, self.precision, self.threads = str(device), precision, torch.get_num_threads()

    def method(self, batch_size: int) -> TracIn:
        """TracIn over two checkpoints, so that there is something to sum."""
        latent = self.state["decoder.0.weight"].shape[1]
        state = {name: torch.from_numpy(array) for name, array in self.state.items()}
        later = {name: tensor * 0.99 for name, tensor in state.items()}
        path = Trajectory.from_state_dicts(
            [state, later], steps=[100, 200], learning_rates=1e-4, sample_count=len(self.samples)
        )
        return TracIn(
            MLPVAE(784, latent),
            Elbo(beta=BETA),
            path,
            batch_size=batch_size,
            device=self.device,
            precision=self.precision,
        )

    def scores(self, batch_size: int = 64, **options: Any) -> Array:
        """The scores ``[n, q]``."""
        method = self.method(batch_size)
        return np.asarray(method.influence(self.samples, self.queries, **self.options, **options).values)

    def shuffled(self, seed: int) -> Array:
        """The same from samples in another order, put back."""
        order = np.random.default_rng(seed).permutation(len(self.samples))
        scores = self.method(64).influence(self.samples[order], self.queries, **self.options).values
        back = np.empty_like(scores)
        back[order] = scores
        return back

    def killed_and_resumed(self, folder: Path) -> tuple[int, Array]:
        """Kill a process once some tasks are finished; a new one does the rest."""
        if self.inline:
            run_part(vars(self), str(folder), (0, 4))
        else:
            process = self.start(folder, (0, 1))
            while process.is_alive() and len(done(folder)) < 3:
                time.sleep(0.005)
            process.kill()
            process.join()
        return len(done(folder)), self.scores(directory=folder)

    def in_processes(self, folder: Path, count: int) -> Array:
        """Let several processes share the work, and put their results together."""
        if self.inline:
            for k in range(count):
                run_part(vars(self), str(folder), (k, count))
        else:
            processes = [self.start(folder, (k, count)) for k in range(count)]
            for process in processes:
                process.join()
                assert process.exitcode == 0
        assert len(done(folder)) == 2 * SHARDS
        return self.scores(directory=folder)

    def start(self, folder: Path, part: tuple[int, int]) -> Any:
        """Begin a part in a process of its own."""
        context = multiprocessing.get_context("spawn")
        process = context.Process(target=run_part, args=(vars(self), str(folder), part), daemon=True)
        process.start()
        return process


def run_part(job: Mapping[str, Any], folder: str, part: tuple[int, int]) -> None:
    """What a process does."""
    own = Job.__new__(Job)
    vars(own).update(job)
    torch.set_num_threads(own.threads)  # sums are divided among threads, so bits depend on their number
    own.scores(directory=folder, part=part)


def done(folder: Path) -> list[Path]:
    """The tasks that are finished."""
    return list(folder.glob("tasks/*.npz"))


def differences(found: Array, expected: Array) -> Array:
    """For each sample, the norm of the difference over the norm of its scores."""
    return np.asarray(np.linalg.norm(found - expected, axis=1) / np.linalg.norm(expected, axis=1))


WAYS = ("batch 1", "batch 7", "shuffled", "four processes")

BENCHMARK = Benchmark(
    name="reproducibility",
    claim="Batch sizes, order, processes, and a kill with a restart leave the scores as they are.",
    goal={
        **{f"float64: {way}": at_most(1e-6) for way in WAYS},
        **{f"float32: {way}, the median sample": at_most(1e-6) for way in WAYS},
        **{f"float32: {way}, share of samples beyond 1e-6": at_most(0.02) for way in WAYS},
        "float64: values that differ after kill and resume": at_most(0),
        "float32: values that differ after kill and resume": at_most(0),
    },
    measure=measure,
)

if __name__ == "__main__":
    sys.exit(BENCHMARK.main())
