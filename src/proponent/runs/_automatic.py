"""The settings of a training that nobody named: sensible ones for the data and the machine."""

import math
from collections.abc import Mapping
from dataclasses import asdict
from types import MappingProxyType
from typing import Any

import numpy as np

from proponent.runs._prepare import Prepared
from proponent.runs._settings import Likelihood, Model, Settings, default_device

_LATENT_DIM, _BATCH = 16, 64
_EPOCHS, _LEAST_STEPS = 100, 2000
# A minute or two on two cores: steps of a perceptron on pictures of 32 x 32, and of convolutions.
_CPU_STEPS, _CPU_FEATURES, _CPU_CONV_STEPS = 10_000, 3072, 1500
_GPU_STEPS = 20_000
_CPU_CHECKPOINTS, _GPU_CHECKPOINTS = 10, 30
_CONV_SIDE, _CONV_LEAST = 16, 32

Tables = dict[str, dict[str, Any]]


def complete(
    settings: Settings, prepared: Prepared, there: Mapping[str, Any] = MappingProxyType({})
) -> Tables:
    """Spell out every setting: as asked for, else as the run that is there has it, else a sensible one.

    Args:
        settings: What is asked for.
        prepared: The samples.
        there: The record of the run that is there, where it was begun.

    Returns:
        The tables `model`, `objective` and `training` of a record.
    """
    known = {"model": there.get("model", {}).get("name")}
    for table in ("model", "objective", "training"):
        known |= {key: value for key, value in there.get(table, {}).items() if key != "name"}
    known |= {key: value for key, value in asdict(settings).items() if value is not None}

    def chosen(name: str, otherwise: Any) -> Any:
        value = known.get(name)
        return otherwise if value is None else value

    shape, n = prepared.values.shape[1:], len(prepared.values)
    device = default_device(settings.device)
    model = str(chosen("model", _model(shape, device)))
    batch = chosen("batch_size", _BATCH)
    steps = chosen("steps", _steps(n, math.prod(shape), batch, model, device))
    likelihood = str(chosen("likelihood", prepared.likelihood))
    return {
        "model": {
            "name": model,
            "latent_dim": chosen("latent_dim", min(_LATENT_DIM, max(1, math.prod(shape) // 2))),
        },
        "objective": {
            "beta": chosen("beta", 1.0),
            "likelihood": likelihood,
            "scale": chosen("scale", _scale(prepared, likelihood)),
        },
        "training": {
            "steps": steps,
            "checkpoints": chosen(
                "checkpoints", min(_CPU_CHECKPOINTS if device == "cpu" else _GPU_CHECKPOINTS, steps)
            ),
            "optimizer": str(chosen("optimizer", "adam")),
            "learning_rate": chosen("learning_rate", 1e-3),
            "batch_size": batch,
            "draws": chosen("draws", 1),
            "seed": chosen("seed", 0),
            "precision": str(chosen("precision", "float32")),
            "device": device,
        },
    }


def _model(shape: tuple[int, ...], device: str) -> str:
    """Convolutions for pictures that they can take, where there is a GPU."""
    takes = len(shape) == 3 and all(side % _CONV_SIDE == 0 and side >= _CONV_LEAST for side in shape[1:])
    return Model.CONV if takes and device != "cpu" else Model.MLP


def _steps(n: int, features: int, batch: int, model: str, device: str) -> int:
    """A hundred passes over the data, but no more than a person would wait for."""
    most = _GPU_STEPS
    if device == "cpu":
        most = _CPU_STEPS * _CPU_FEATURES // max(features, _CPU_FEATURES)
        most = _CPU_CONV_STEPS if model == Model.CONV else most
    return max(min(_EPOCHS * n // batch, most), min(_LEAST_STEPS, most))


def _scale(prepared: Prepared, likelihood: str) -> float:
    """Half of how far the numbers are spread: with the whole of it, a model learns little beside the mean."""
    if likelihood != Likelihood.GAUSSIAN:
        return 1.0
    return float(f"{np.std(prepared.values, dtype=np.float64) / 2:.3g}") or 1.0
