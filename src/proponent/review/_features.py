"""What a queue learns from beside rankings: how samples look, and what the model made of them."""

import hashlib
import json
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from proponent.runs import OpenedRun

if TYPE_CHECKING:
    from torch import Tensor

Floats = npt.NDArray[np.float32]

_PIXELS, _RESIDUALS = 60, 16  # components
_AT_ONCE, _MOST_FITTED = 1024, 4096  # samples


def features_of(run: OpenedRun) -> dict[str, Floats]:
    """Compute the features of a run's samples once, and keep them in its folder.

    Args:
        run: The run.

    Returns:
        Blocks ``[n, f]``: the leading components of the samples (``"pixels"``), the means of their codes
        (``"latents"``) and the leading components of what decoding those leaves (``"residuals"``).
    """
    from proponent.attribution._job import Job
    from proponent.evaluation import latent_means

    asked = {
        "scores": "features",
        "components": [_PIXELS, _RESIDUALS],
        "data": run.tables["data"]["fingerprint"],
        "scaling": run.scaling.to_table(),
        "trajectory": run.trajectory.fingerprint(),
    }
    digest = hashlib.sha256(json.dumps(asked, sort_keys=True).encode()).hexdigest()[:12]
    job = Job(run.folder.job(f"features-{digest}"), asked)
    kept = job.load("features")
    if kept is None:
        n = len(run.samples)
        codes = latent_means(run.model, run.samples)
        kept = {
            "pixels": leading_components(lambda which: run.samples[which], n, _PIXELS),
            "latents": codes.astype(np.float32),
            "residuals": leading_components(lambda which: _residuals(run, codes, which), n, _RESIDUALS),
        }
        job.save("features", kept)
    return kept


def leading_components(
    numbers: Callable[[npt.NDArray[np.intp]], npt.NDArray[np.floating]], n: int, count: int
) -> Floats:
    """Project samples on the directions in which they vary most, a part of them in memory at a time.

    The directions are found from a few thousand samples, evenly spaced.

    >>> corners = np.array([[0.0, 1.0], [0.0, -1.0]])
    >>> np.abs(leading_components(lambda which: corners[which], 2, 1))
    array([[1.],
           [1.]], dtype=float32)

    Args:
        numbers: Gives some samples, ``[m, ...]``, by their positions.
        n: How many samples there are.
        count: How many components; fewer where there are fewer samples or numbers.
    """
    from proponent.evaluation import principal_components

    few = numbers(np.unique(np.linspace(0, n - 1, min(n, _MOST_FITTED)).astype(np.intp)))
    few = few.reshape(len(few), -1).astype(np.float64)
    mean = few.mean(0)
    weighted = (few - mean).T @ principal_components(few, count)  # Xᵀ X V = V Λ
    sizes = np.linalg.norm(weighted, axis=0)
    directions = weighted[:, sizes > 1e-9 * max(sizes.max(initial=0), 1e-300)]
    directions = directions / np.linalg.norm(directions, axis=0)
    projected = np.empty((n, directions.shape[1]), np.float32)
    for start in range(0, n, _AT_ONCE):
        part = numbers(np.arange(start, min(start + _AT_ONCE, n)))
        projected[start : start + len(part)] = (part.reshape(len(part), -1) - mean) @ directions
    return projected


def _residuals(run: OpenedRun, codes: npt.NDArray[np.floating], which: npt.NDArray[np.intp]) -> Floats:
    """What decoding the codes of some samples leaves of them."""
    import torch

    parameter = next(run.model.parameters())
    with torch.no_grad():
        outputs = run.model.decode(torch.as_tensor(codes[which]).to(parameter))  # type: ignore[operator]
        mean = _mean(outputs, run.objective.likelihood)
    return np.asarray(run.samples[which] - mean.cpu().numpy().reshape(run.samples[which].shape))


def _mean(outputs: "Tensor", likelihood: str) -> "Tensor":
    """The sample that a decoder's outputs expect."""
    if likelihood == "gaussian-learned":
        return outputs.chunk(2, 1)[0]
    return outputs if likelihood == "gaussian" else outputs.sigmoid()
