"""`proponent demo`."""

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import numpy as np
import typer

from proponent.cli._console import output, say, say_where
from proponent.cli._demo_files import write_files
from proponent.cli._demo_findings import ask, summary_of
from proponent.cli._progress import progress
from proponent.runs._opened import OpenedRun, open_run
from proponent.runs._settings import Settings
from proponent.runs._training import train
from proponent.storage import whole_file

if TYPE_CHECKING:
    from proponent.data import PlantedDigits
    from proponent.report import DetectionTable


def demo(
    out: Annotated[Path, typer.Option("--out", "-o", help="Where to write everything.")] = Path("demo"),
    seed: Annotated[int, typer.Option(help="Of the patches, the training and the draws.")] = 0,
    steps: Annotated[int, typer.Option(min=1, help="Training steps.")] = 4000,
    draws: Annotated[int, typer.Option(min=4, help="Draws of noise a score; an even number.")] = 64,
) -> None:
    """Show on scikit-learn's digits what the library does, in under two minutes on two cores.

    Ninety patches of photographs are planted among the digits as foreign samples. A small beta-VAE is
    trained, and the training set is ranked by self-influence; beside it by loss and by the distance to
    neighbours. Then held-out digits get their proponents and opponents. Scores, figures and a page to read
    them on go to the folder. A demo that was stopped goes on where it was.
    """
    import proponent.report.figures  # noqa: F401 (a missing matplotlib is told before the work)
    from proponent.report import verdict

    data = _write_data(out, seed)
    run = _train(out, seed, steps, _command(out, seed, steps, draws))
    findings = ask(run, data, draws, seed)
    summary = summary_of(findings)
    write_files(out, findings, summary)
    assert summary.detection is not None
    _print_table(summary.detection)
    say(f"{verdict(summary.detection)}\n")
    for what, where in (("page", "index.html"), ("figures", "figures"), ("scores", "scores"), ("run", "run")):
        say_where(what, out / where)
    arguments = [str(out / "run"), "--queries", str(out / "held-out.npy")]
    say(f"Next: proponent influence {shlex.join(arguments)}")


def _write_data(out: Path, seed: int) -> "PlantedDigits":
    from proponent.data import digits_with_patches

    data = digits_with_patches(seed=seed)
    for name, array in (("digits", data.images), ("held-out", data.held_out)):
        with whole_file(out / f"{name}.npy") as temporary:
            np.save(temporary, array)
    planted, held_out = int(data.foreign.sum()), len(data.held_out)
    say(f"{len(data.images) - planted:,} digits with {planted} photo patches planted among them; ", end="")
    say(f"{held_out} digits held out.")
    return data


def _train(out: Path, seed: int, steps: int, command: str) -> OpenedRun:
    settings = Settings(
        model="mlp",
        latent_dim=8,
        beta=1.0,
        likelihood="bernoulli",
        steps=steps,
        checkpoints=min(20, steps),
        optimizer="adam",
        learning_rate=1e-3,
        batch_size=64,
        draws=1,
        seed=seed,
        precision="float32",
        device="cpu",  # so that everyone sees the same
    )
    folder = train(out / "digits.npy", out / "run", settings, command=command, tell=say, progress=progress)
    return open_run(folder)


def _print_table(detection: "DetectionTable") -> None:
    from rich.table import Table

    from proponent.report import count

    first = detection.rows[0].detection
    table = Table(
        title=f"\nPlanted samples among the first k, of {first.foreign_count}", title_justify="left", box=None
    )
    table.add_column("sorted by")
    for k in detection.first:
        table.add_column(f"k = {k}", justify="right")
    table.add_column("area", justify="right")
    table.add_column("ROC-AUC", justify="right")
    for row in detection.rows:
        areas = (f"{row.detection.curve_area:.3f}", f"{row.detection.roc_area:.3f}")
        table.add_row(row.name, *map(count, row.found), *areas)
    output().print(table)
    say(f"The area is that of the detection curve; it is {first.curve_area_maximum:.3f} at most.\n")


def _command(out: Path, seed: int, steps: int, draws: int) -> str:
    options = {"--out": out, "--seed": seed, "--steps": steps, "--draws": draws}
    return shlex.join(["proponent", "demo", *(str(word) for option in options.items() for word in option)])
