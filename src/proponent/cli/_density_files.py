"""What `proponent density` writes: data, scores, figures, a record."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from proponent.storage import whole_file, write_json

if TYPE_CHECKING:
    from proponent.paper import DensityFigures, Estimate, Statement

_NAMES = {"k-NN": "knn", "KDE": "kde", "spherical mixture": "mixture"}


def write_files(out: Path, figures: "DensityFigures", statements: "Sequence[Statement]") -> None:
    """Write everything beside each other; the record comes last, so that it speaks of what is there.

    Args:
        out: The folder.
        figures: The numbers of the figures.
        statements: What the paper says of them.
    """
    record = out / "density.json"
    record.unlink(missing_ok=True)
    _write_data(out / "data", figures)
    _write_scores(out / "scores", figures)
    _write_pictures(out / "figures", figures)
    write_json(record, figures.settings() | {"statements": [each.to_dict() for each in statements]})


def _write_data(folder: Path, figures: "DensityFigures") -> None:
    import pandas as pd

    data = figures.clusters
    for name, array in (("points", data.points), ("labels", data.labels), ("query", figures.query[None])):
        with whole_file(folder / f"{name}.npy") as temporary:
            np.save(temporary, array)
    columns = {
        "id": figures.estimates["KDE"].self_influence.ids,
        "x": data.points[:, 0],
        "y": data.points[:, 1],
        "cluster": data.labels,
        "distance to z": figures.distances,
    }
    for name, estimate in _estimates(figures).items():
        columns |= {
            f"{name} log-likelihood": estimate.log_likelihoods,
            f"{name} self-influence": estimate.self_influence.values,
            f"{name} influence on z": estimate.influence.values[:, 0],
        }
    with whole_file(folder / "samples.csv") as temporary:
        pd.DataFrame(columns).to_csv(temporary, index=False)


def _write_scores(folder: Path, figures: "DensityFigures") -> None:
    for name, estimate in _estimates(figures).items():
        estimate.self_influence.save(folder / f"{name}-self-influence.parquet")
        estimate.influence.save(folder / f"{name}-influence-on-z.npy")
        estimate.among.save(folder / f"{name}-influence-among-samples.npy")


def _write_pictures(folder: Path, figures: "DensityFigures") -> None:
    from proponent.paper import (
        clusters_picture,
        forms_picture,
        influence_picture,
        overview_picture,
        self_influence_picture,
    )
    from proponent.report import figure_png

    for name, draw in (
        ("clusters", clusters_picture),
        ("self-influence", self_influence_picture),
        ("influence", influence_picture),
        ("mixture-forms", forms_picture),
        ("overview", overview_picture),
    ):
        with whole_file(folder / f"{name}.png") as temporary:
            temporary.write_bytes(figure_png(draw(figures), dpi=200))


def _estimates(figures: "DensityFigures") -> "dict[str, Estimate]":
    """By the name of their files; the mixture in its inexact forms too."""
    named = {_NAMES[name]: estimate for name, estimate in figures.estimates.items()}
    return named | {f"mixture-{form}": figures.forms[form] for form in ("expansion", "paper")}
