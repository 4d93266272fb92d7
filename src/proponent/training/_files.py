"""Other people's checkpoint files: where in them the state dict and Adam's second moments lie."""

import pickle
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from proponent.training._optimizer import Optimizer
from proponent.training._source import Source, TensorFile, file_digest, own_copy

PICKLED = (".pt", ".pth", ".ckpt", ".bin")


@dataclass(frozen=True)
class ForeignFile(Source):
    """The state dict at a key of a file.

    Attributes:
        path: The file.
        key: Where in it the state dict lies, such as ``"model.state"``.
        prefix: What its keys begin with; the others are left out.
    """

    path: Path
    key: str | None
    prefix: str

    def read(self) -> dict[str, Tensor]:
        """Read the state dict.

        Raises:
            ValueError: There is none at the key; says what is there.
        """
        state = self._record()
        if not isinstance(state, Mapping) or not all(isinstance(value, Tensor) for value in state.values()):
            raise ValueError(
                f"`{self.path}` must hold a state dict, names and tensors, {_place(self.key)}, but there is "
                f"{_summary(state)}. Say where it lies, such as `key={_suggestion(state, self.key)!r}`."
            )
        kept = {
            name.removeprefix(self.prefix): tensor
            for name, tensor in state.items()
            if name.startswith(self.prefix)
        }
        if not kept:
            raise ValueError(
                f"`{self.path}` must hold keys that begin with `{self.prefix}`, but there is "
                f"{_summary(state)}."
            )
        return own_copy(kept)

    def digest(self) -> str:
        """The hash of the file and of the place inside it."""
        return f"{file_digest(self.path)}:{self.key}:{self.prefix}"

    def _record(self) -> Any:
        if self.key is not None and self.path.suffix == ".safetensors":
            raise ValueError(
                f"`{self.path}` must be read without a `key`, got {self.key!r}: a safetensors file is flat. "
                f"If its names begin with `{self.key}.`, use `prefix={self.key + '.'!r}`."
            )
        return _lookup(_load(self.path), self.key, self.path)


@dataclass(frozen=True)
class AdamMoments(Source):
    """Adam's second moments at a key of a file, by the names of the parameters.

    Attributes:
        path: The file.
        key: Where in it the optimiser's state dict lies; at its top without a key.
        names: The parameters in the order in which the optimiser got them.
        prefix: What to take from the beginning of names that the file itself gives.
    """

    path: Path
    key: str | None
    names: tuple[str, ...] | None
    prefix: str

    def read(self) -> dict[str, Tensor]:
        """Read ``exp_avg_sq`` of each parameter that has one; those without a gradient have none."""
        moments = {
            name: slots["exp_avg_sq"] for name, slots in self._slots().items() if "exp_avg_sq" in slots
        }
        if not moments:
            raise ValueError(
                f"`{self.path}` must hold Adam's state {_place(self.key)}, but no parameter there has an "
                "`exp_avg_sq`. Leave the optimiser's state out if another one trained it."
            )
        return own_copy(moments)

    def digest(self) -> str:
        """The hash of the file and of the place inside it."""
        return f"{file_digest(self.path)}:{self.key}:{self.names}"

    def step(self) -> int:
        """How many steps Adam had made."""
        steps = {int(slots["step"]) for slots in self._slots().values() if "step" in slots}
        if len(steps) != 1:
            raise ValueError(
                f"`{self.path}` must hold one step count for all parameters, got {sorted(steps)}. "
                "Give `steps`."
            )
        return steps.pop()

    def optimizer(self) -> Optimizer:
        """Adam's constants as its parameter groups have them."""
        constants = {
            (tuple(group["betas"]), group["eps"])
            for group in self._record()["param_groups"]
            if "betas" in group
        }
        if len(constants) != 1:
            raise ValueError(
                f"`{self.path}` must hold one set of Adam's constants {_place(self.key)}, got "
                f"{len(constants)}. Give `optimizer`, such as `Optimizer('adam', betas=(0.9, 0.999))`."
            )
        betas, eps = constants.pop()
        return Optimizer("adam", betas=betas, eps=eps)

    def _slots(self) -> dict[str, Mapping[str, Any]]:
        record = self._record()
        groups: Sequence[Mapping[str, Any]] = record["param_groups"]
        order = [number for group in groups for number in group["params"]]
        names = self.names or [name for group in groups for name in group.get("param_names", [])]
        names = [name.removeprefix(self.prefix) for name in names]
        if len(names) != len(order):
            raise ValueError(
                f"`parameter_names` must name the {len(order)} parameters of the optimiser in `{self.path}`, "
                f"got {len(names)} names. Give the model, or the names in the order in which it got them."
            )
        state = record["state"]
        return {name: state[number] for name, number in zip(names, order, strict=True) if number in state}

    def _record(self) -> Mapping[str, Any]:
        record = _lookup(_load(self.path), self.key, self.path)
        if not isinstance(record, Mapping) or not {"state", "param_groups"} <= set(record):
            raise ValueError(
                f"`{self.path}` must hold an optimiser's state dict {_place(self.key)}, with `state` and "
                f"`param_groups`, but there is {_summary(record)}."
            )
        return record


def _load(path: Path) -> Any:
    if path.suffix == ".safetensors":
        return TensorFile(path).read()
    if path.suffix not in PICKLED:
        raise ValueError(
            f"Checkpoint files must end in .safetensors, {', '.join(PICKLED)}, got `{path.name}`."
        )
    try:
        return torch.load(path, map_location="cpu", weights_only=True)
    except pickle.UnpicklingError as error:
        raise ValueError(
            f"`{path}` must hold tensors and plain containers, so that reading it runs no code, but it holds "
            "something else or is no file of torch's. Save `model.state_dict()` and its like alone."
        ) from error
    except (RuntimeError, EOFError, OSError) as error:
        raise ValueError(f"`{path}` was cut short or is not a checkpoint of torch: {error}.") from error


def _lookup(record: Any, key: str | None, path: Path) -> Any:
    rest = key
    while rest:
        if isinstance(record, Mapping) and rest in record:
            return record[rest]  # a key may itself have dots
        head, _, rest = rest.partition(".")
        if isinstance(record, Mapping) and head in record:
            record = record[head]
        elif isinstance(record, Sequence) and head.isdigit() and int(head) < len(record):
            record = record[int(head)]
        else:
            raise ValueError(
                f"`{path}` has nothing at `{key}`: where `{head}` should be, {_summary(record)}."
            )
    return record


def _place(key: str | None) -> str:
    return f"at `{key}`" if key else "at its top"


def _suggestion(record: Any, key: str | None) -> str:
    nested = (
        [name for name, value in record.items() if isinstance(value, Mapping)]
        if isinstance(record, Mapping)
        else []
    )
    known = [name for name in ("state_dict", "model_state_dict", "model", "model_state") if name in nested]
    chosen = next(iter([*known, *nested]), "state_dict")
    return f"{key}.{chosen}" if key else str(chosen)


def _summary(record: Any) -> str:
    if not isinstance(record, Mapping):
        return f"a {type(record).__name__}"
    keys = [str(key) for key in record]
    more = f" and {len(keys) - 8} more" if len(keys) > 8 else ""
    return f"a dict of {', '.join(keys[:8])}{more}"
