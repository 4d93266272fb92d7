"""The planted sets as a review sees them: rankings, features, and who is foreign.

They are read from a folder with the images of `_planted_sets.py` and the features of `_planted_features.py`:
`runs/planted`, or the one that the environment variable `PROPONENT_PLANTED` names.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from _planted_sets import SETS, planted_set
from proponent.evaluation import default_ranking, neighbour_distances, principal_components
from proponent.review._edges import edge_strengths

SHAPES = {784: (28, 28, 1), 3072: (32, 32, 3), 64: (8, 8, 1)}
HOW = """There are no planted sets in `{folder}`. Make them, or set PROPONENT_PLANTED to where they are:
    python benchmarks/_planted_sets.py IMAGES {folder}
    python benchmarks/_planted_features.py {folder}"""


@dataclass(frozen=True, eq=False)
class Cell:
    """One model of one repeat of a set.

    Attributes:
        name: The set.
        repeat: Which draw of it.
        beta: Of the model.
        rankings: Numbers ``[n]`` by name, `default` among them; high comes first.
        features: Blocks ``[n, f]`` by name.
        foreign: Which samples are foreign, ``[n]``.
        kind: What each is, as `_planted_sets` has it.
        default: The ranking to begin with.
    """

    name: str
    repeat: int
    beta: float
    rankings: Mapping[str, npt.NDArray[np.floating[Any]]]
    features: Mapping[str, npt.NDArray[np.floating[Any]]]
    foreign: npt.NDArray[np.bool_]
    kind: npt.NDArray[np.int8]
    default: str = "combined"


def planted_folder() -> Path:
    """Where the planted sets are.

    Raises:
        FileNotFoundError: They are not there.
    """
    folder = Path(os.environ.get("PROPONENT_PLANTED", "runs/planted"))
    if not all((folder / f"features-{name}.npz").exists() for name in SETS):
        raise FileNotFoundError(HOW.format(folder=folder))
    return folder


def planted_cells(folder: Path, names: Sequence[str] = SETS) -> Iterator[Cell]:
    """Every model of every repeat, with what needs no model computed here.

    Args:
        folder: Where the planted sets are.
        names: Which sets.

    Raises:
        ValueError: The features are of other samples.
    """
    for name in names:
        with np.load(folder / f"features-{name}.npz") as file:
            arrays = {key: file[key] for key in file.files}
        for r, repeat in enumerate(arrays["repeats"].tolist()):
            planted = planted_set(name, repeat, folder)
            if planted.checksum != arrays["checksum"][r]:
                raise ValueError(f"The features of `{name}`, repeat {repeat}, are of other samples.")
            x = planted.pixels.astype(np.float32) / 255
            pictures = x.reshape(-1, *SHAPES[x.shape[1]]).transpose(0, 3, 1, 2)
            pixels, edges = principal_components(x), principal_components(edge_strengths(pictures))
            neighbours = neighbour_distances(x)
            for b, beta in enumerate(arrays["betas"].tolist()):
                own = {
                    key: np.float64(values[r, b]) for key, values in arrays.items() if values.ndim in (3, 4)
                }
                latents, residuals = own.pop("latents"), own.pop("residuals")
                unseen, seen = own.pop("unseen"), own.pop("seen")
                rankings = {
                    "combined": default_ranking(own["loss"], pixels, unseen, seen, repeat),
                    **own,
                    "unseen loss": unseen,
                    "loss gap": unseen - seen,
                    "distance to neighbours": neighbours,
                    "distance to latent neighbours": neighbour_distances(latents),
                }
                features = {"pixels": pixels, "edges": edges, "latents": latents, "residuals": residuals}
                yield Cell(name, repeat, beta, rankings, features, planted.foreign, planted.kind)
