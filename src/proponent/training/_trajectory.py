r"""Trajectories: the ordered checkpoints of one training, each with its weight."""

import hashlib
import itertools
import json
import operator
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from proponent.training._checkpoint import Checkpoint
from proponent.training._fitting import check_moments_fit, check_shapes_fit
from proponent.training._optimizer import Optimizer


@dataclass(frozen=True, eq=False, repr=False)
class Trajectory:
    """The checkpoints of one training and what is known of how it went.

    >>> net = nn.Linear(2, 1)
    >>> trajectory = Trajectory.from_state_dicts(
    ...     [net.state_dict()], steps=[100], learning_rates=[0.5], sample_count=20
    ... )
    >>> trajectory.weights("physical"), trajectory.weights("unit")
    ((2.5,), (1.0,))

    Attributes:
        checkpoints: In the order of training.
        optimizer: What made the steps.
        sample_count: How many samples it was trained on, where that is known.
        training: What else identifies the training and fits in JSON; empty for a user's own checkpoints.
    """

    checkpoints: tuple[Checkpoint, ...]
    optimizer: Optimizer = Optimizer()  # noqa: RUF009 (frozen)
    sample_count: int | None = None
    training: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.checkpoints:
            raise ValueError("A trajectory must hold at least one checkpoint, got none.")
        steps = [checkpoint.step for checkpoint in self.checkpoints]
        if any(later <= earlier for earlier, later in itertools.pairwise(steps)):
            raise ValueError(f"The steps of a trajectory must increase, got {steps}.")
        if self.sample_count is not None and self.sample_count < 1:
            raise ValueError(f"`sample_count` must be at least 1, got {self.sample_count}.")

    def __len__(self) -> int:
        return len(self.checkpoints)

    def __getitem__(self, index: int) -> Checkpoint:
        return self.checkpoints[index]

    def __iter__(self) -> Iterator[Checkpoint]:
        return iter(self.checkpoints)

    def __repr__(self) -> str:
        n = len(self)
        steps = f"step {self[0].step}" if n == 1 else f"steps {self[0].step} to {self[-1].step}"
        return f"Trajectory of {n} checkpoint{'s' * (n > 1)}, {steps}, trained by {self.optimizer.name}"

    @property
    def batch_size(self) -> int | None:
        """How many samples a step saw, where that is known."""
        return self.training.get("batch_size")

    @property
    def seed(self) -> int | None:
        """The seed of batches and noise, where that is known."""
        return self.training.get("seed")

    @property
    def objective(self) -> Mapping[str, Any]:
        """What describes the objective it was trained on; empty where that is not known."""
        facts: Mapping[str, Any] = self.training.get("objective", {})
        return facts

    def select(self, indices: Iterable[int]) -> "Trajectory":
        """Keep some checkpoints, by position; each keeps the steps it stands for.

        Raises:
            IndexError: There is no such checkpoint.
        """
        chosen = [operator.index(index) for index in indices]
        wrong = [index for index in chosen if not -len(self) <= index < len(self)]
        if wrong:
            raise IndexError(
                f"`checkpoints` must be positions among the {len(self)} of the trajectory, got {wrong[0]}."
            )
        positions = sorted({index % len(self) for index in chosen})
        return replace(self, checkpoints=tuple(self.checkpoints[index] for index in positions))

    def weights(self, kind: str) -> tuple[float, ...]:
        r"""The weight of each checkpoint in a sum over the trajectory.

        Physical weights turn products of gradients into a predicted change of loss: a checkpoint stands
        for $T_c$ steps of rate $\eta_c$ on a loss averaged over the batch, in which each of the N samples
        is felt $T_c / N$ times: $w_c = \eta_c T_c / N$ (paper, Section 4; its runs multiplied by the
        batch size as well, which a mean over the batch takes out). Momentum $\mu$ lets each gradient act
        $1 / (1 - \mu)$ times. Unit weights are 1, as in the paper's Definition 2.

        Args:
            kind: ``"physical"`` or ``"unit"``.

        Raises:
            ValueError: A physical weight needs what is not known of this training.
        """
        if kind == "unit":
            return (1.0,) * len(self)
        if kind != "physical":
            raise ValueError(f'`weights` must be "physical" or "unit", got {kind!r}.')
        return tuple(self._physical_weight(checkpoint) for checkpoint in self.checkpoints)

    def metric(self, index: int, name: str) -> dict[str, Tensor] | None:
        r"""The diagonal metric in which an optimiser's step descends, by parameter.

        For Adam $1 / (\sqrt{v_t / (1 - \beta_2^t)} + \epsilon)$, with $v_t$ the second moments at step t.

        Args:
            index: The checkpoint's position.
            name: ``"identity"`` or ``"adam"``.

        Returns:
            A tensor for each parameter that was trained, or none for the identity.

        Raises:
            ValueError: The checkpoint keeps no second moments, or Adam had made no step yet.
        """
        if name == "identity":
            return None
        if name != "adam":
            raise ValueError(f'`metric` must be "identity" or "adam", got {name!r}.')
        checkpoint = self.checkpoints[index]
        moments = checkpoint.second_moments()
        if moments is None:
            raise ValueError(
                f'The metric "adam" needs second moments, but the checkpoint at step {checkpoint.step} keeps '
                'none. Use `metric="identity"`, or give the optimiser\'s state: `optimizer_key` in '
                "`Trajectory.from_files`, `second_moments` in `Trajectory.from_state_dicts`."
            )
        if checkpoint.step == 0 or not any(bool(v.any()) for v in moments.values()):
            raise ValueError(
                'The metric "adam" is defined after Adam\'s first step, but at the checkpoint at step '
                f"{checkpoint.step} no gradient has been seen: its second moments are zero. Leave it out, "
                'such as by `checkpoints=` with the positions of the others, or use `metric="identity"`.'
            )
        correction = 1 - self.optimizer.betas[1] ** checkpoint.step
        return {key: _adam_diagonal(v, correction, self.optimizer.eps) for key, v in moments.items()}

    def fingerprint(self) -> str:
        """A sha256 of the checkpoints' contents and of all that weights and metrics are made of."""
        record = {
            "optimizer": self.optimizer.describe(),
            "sample_count": self.sample_count,
            "checkpoints": [
                [checkpoint.step, checkpoint.learning_rate, checkpoint.steps, *checkpoint.digest()]
                for checkpoint in self.checkpoints
            ],
        }
        return hashlib.sha256(json.dumps(record).encode()).hexdigest()

    def check_fits(self, model: nn.Module) -> None:
        """Refuse a model that can't load the checkpoints.

        Raises:
            ValueError: Names the checkpoint, and the missing, extra and mis-shaped keys, among parameters
                and buffers or among Adam's moments.
        """
        for checkpoint in self.checkpoints:
            name = f"The checkpoint at step {checkpoint.step}"
            check_shapes_fit(checkpoint.tensors.shapes(), model, name)
            if checkpoint.moments is not None:
                check_moments_fit(checkpoint.moments.shapes(), model, name)

    def save(self, directory: str | Path) -> "Trajectory":
        """Write the trajectory into a folder that holds none, and give the one that reads from there.

        Raises:
            FileExistsError: The folder has a trajectory already.
        """
        from proponent.training._manifest import save_trajectory

        return save_trajectory(self, Path(directory))

    @classmethod
    def load(cls, directory: str | Path) -> "Trajectory":
        """Open a folder that `fit` or `save` wrote; tensors are read later, when they are asked for.

        Raises:
            FileNotFoundError: There is no trajectory in the folder, or none of its checkpoints is made yet.
            ValueError: Its manifest can't be read.
        """
        from proponent.training._manifest import load_trajectory

        return load_trajectory(Path(directory))

    @classmethod
    def from_state_dicts(
        cls,
        states: Sequence[Mapping[str, Any]],
        steps: Sequence[int] | None = None,
        learning_rates: Sequence[float] | float | None = None,
        sample_count: int | None = None,
        second_moments: Sequence[Mapping[str, Tensor]] | None = None,
        optimizer: str | Optimizer = "unknown",
    ) -> "Trajectory":
        """Make a trajectory of state dicts in memory; it takes copies.

        Args:
            states: What `model.state_dict()` gave, in the order of training.
            steps: The step of each. The first is taken to stand for the steps from 0.
            learning_rates: The rate before each, or one for all.
            sample_count: How many samples the training saw.
            second_moments: Adam's ``exp_avg_sq`` for each, by the names of the parameters.
            optimizer: Its name, or a record with its constants.

        Raises:
            TypeError: A state dict holds something else than tensors.
            ValueError: The lists don't agree in length, or second moments come without steps.
        """
        from proponent.training._foreign import from_state_dicts

        return from_state_dicts(states, steps, learning_rates, sample_count, second_moments, optimizer)

    @classmethod
    def from_files(
        cls,
        paths: Sequence[str | Path],
        steps: Sequence[int] | None = None,
        learning_rates: Sequence[float] | float | None = None,
        key: str | None = None,
        prefix: str = "",
        sample_count: int | None = None,
        optimizer: str | Optimizer | None = None,
        optimizer_key: str | None = None,
        optimizer_files: Sequence[str | Path] | None = None,
        parameter_names: Sequence[str] | nn.Module | None = None,
    ) -> "Trajectory":
        """Make a trajectory of checkpoint files; they are read when asked, and nothing in them is executed.

        Args:
            paths: ``.pt``, ``.pth``, ``.ckpt`` or ``.safetensors`` files, in the order of training.
            steps: The step of each; taken from the optimiser's state where that is given.
            learning_rates: The rate before each, or one for all.
            key: Where the state dict lies inside a file, such as ``"model.state"``; nowhere special
                unless given.
            prefix: What the model's keys begin with, such as ``"module."``; other keys are left out.
            sample_count: How many samples the training saw.
            optimizer: Its name, or a record with its constants. Where Adam's state is given, the constants
                are read from there, unless a record is given.
            optimizer_key: Where Adam's state dict lies inside a file, such as ``"optimizer_states.0"``.
            optimizer_files: The files with Adam's state, one for each of `paths`, where it has files of its
                own; their state dict lies at the top, unless there is an `optimizer_key`.
            parameter_names: The names of the parameters in the order in which the optimiser got them, or
                the model whose parameters it got.

        Raises:
            FileNotFoundError: A file is not there.
            ValueError: A file can't be read, or has nothing at the key; says what is there instead.
        """
        from proponent.training._foreign import from_files

        return from_files(
            [Path(path) for path in paths], steps, learning_rates, key, prefix, sample_count, optimizer,
            optimizer_key, None if optimizer_files is None else [Path(path) for path in optimizer_files],
            parameter_names,
        )  # fmt: skip

    def _physical_weight(self, checkpoint: Checkpoint) -> float:
        rate, steps, count = checkpoint.learning_rate, checkpoint.steps, self.sample_count
        if rate is None or steps is None or count is None:
            known = {"learning_rates": rate, "steps": steps, "sample_count": count}
            unknown = ", ".join(f"`{name}`" for name, value in known.items() if value is None)
            raise ValueError(
                "Physical weights must be made of a learning rate, a number of steps and a number of "
                f"samples, but {unknown} of the checkpoint at step {checkpoint.step} is not known. Give it "
                'where the trajectory is made, or use `weights="unit"`.'
            )
        # w_c = η_c T_c / ((1 - μ) N)
        return rate * steps / ((1 - self.optimizer.momentum) * count)


def _adam_diagonal(v: Tensor, correction: float, eps: float) -> Tensor:
    diagonal = 1 / ((v.to(torch.float64) / correction).sqrt() + eps)
    return diagonal.to(v.dtype)
