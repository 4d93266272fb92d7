"""Steps in a row, captured once in a CUDA graph and replayed."""

from dataclasses import dataclass

import torch
from torch import Tensor

from proponent.training._runner import run_steps, seed_torch
from proponent.training._samples import Samples
from proponent.training._step import Step

_WARM_UP = 3


@dataclass
class _Captured:
    """A graph and the buffers at fixed addresses from which it reads and to which it writes."""

    graph: torch.cuda.CUDAGraph
    positions: Tensor
    noise: Tensor | None
    losses: Tensor


class Graphed:
    """Replays graphs of several steps, and of one for what is left over.

    A step on a GPU is a hundred small kernels; started from Python each costs more than it computes.
    Everything that a step changes stays at its address: parameters, buffers, the rule's state.

    Args:
        step: One step.
        data: All samples, on the device.
        seed: The key's first part for layers that draw; they are keyed by replay.
        length: How many steps a graph holds.
    """

    def __init__(self, step: Step, data: Samples, seed: int, length: int) -> None:
        self.step, self.data, self.seed, self.length = step, data, seed, length
        self.graphs: dict[int, _Captured] = {}
        self.pool = torch.cuda.graph_pool_handle()
        self.side = torch.cuda.Stream(step.device)  # type: ignore[no-untyped-call]

    def __call__(self, first: int, positions: Tensor, noise: Tensor | None) -> Tensor:
        """Make the steps from `first` on."""
        losses, done = [], 0
        while done < len(positions):
            length = self.length if len(positions) - done >= self.length else 1
            rows = slice(done, done + length)
            captured = self._captured(positions[rows], None if noise is None else noise[rows])
            seed_torch(self.seed, first + done, self.step.device)
            captured.graph.replay()
            losses.append(captured.losses.clone())
            done += length
        return torch.cat(losses)

    def _captured(self, positions: Tensor, noise: Tensor | None) -> _Captured:
        """The graph of as many steps, its buffers filled."""
        captured = self.graphs.get(len(positions)) or self._capture(positions, noise)
        captured.positions.copy_(positions)
        if captured.noise is not None and noise is not None:
            captured.noise.copy_(noise)
        return captured

    def _capture(self, positions: Tensor, noise: Tensor | None) -> _Captured:
        positions, noise = positions.clone(), None if noise is None else noise.clone()
        self._warm_up(positions[:1], None if noise is None else noise[:1])
        graph = torch.cuda.CUDAGraph()
        try:
            with torch.cuda.graph(graph, pool=self.pool, stream=self.side):
                losses = run_steps(self.step, self.data, positions, noise)
        except RuntimeError as error:
            raise RuntimeError(
                f"The step can't be captured in a CUDA graph: {error} The loss or the model may read a "
                "number back to Python (`.item()`, `if tensor`), or make tensors on the CPU. Change that, or "
                "pass `tactics=Tactics(cuda_graph=False)` to make the steps one by one."
            ) from error
        captured = _Captured(graph, positions, noise, losses)
        self.graphs[len(positions)] = captured
        return captured

    def _warm_up(self, positions: Tensor, noise: Tensor | None) -> None:
        """Let libraries choose their kernels and allocate, then put everything back as it was."""
        changed = self.step.changed()
        before = [tensor.clone() for tensor in changed]
        self.side.wait_stream(torch.cuda.current_stream(self.step.device))
        with torch.cuda.stream(self.side):
            for _ in range(_WARM_UP):
                run_steps(self.step, self.data, positions, noise)
        torch.cuda.current_stream(self.step.device).wait_stream(self.side)
        with torch.no_grad():
            for tensor, value in zip(changed, before, strict=True):
                tensor.copy_(value)
