"""What the demo writes: scores, figures, a page."""

from pathlib import Path
from typing import TYPE_CHECKING

from proponent.cli._demo_findings import Findings
from proponent.storage import whole_file, write_json

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from proponent.report import Summary


def write_files(out: Path, findings: Findings, summary: "Summary") -> None:
    """Write everything beside each other.

    Args:
        out: The folder.
        findings: The numbers.
        summary: What the page says.
    """
    import pandas as pd

    from proponent.report import Picture, figure_png, render_html, write_html

    findings.self_influence.save(out / "scores" / "self-influence.parquet")
    findings.influence.save(out / "scores" / "influence.npy")
    frame = pd.DataFrame(
        {"id": findings.data.ids, "planted": findings.data.foreign} | dict(findings.rankings)
    )
    with whole_file(out / "scores" / "rankings.parquet") as temporary:
        frame.to_parquet(temporary, index=False)
    write_json(out / "summary.json", summary.to_dict())
    images = dict(zip(findings.data.ids.tolist(), findings.data.images, strict=True))
    queries = dict(zip(findings.data.held_out_ids.tolist(), findings.data.held_out, strict=True))
    figures = {
        "overview": overview(findings, summary),
        "detection": detection(findings),
    }
    for name, figure in figures.items():
        with whole_file(out / "figures" / f"{name}.png") as temporary:
            temporary.write_bytes(figure_png(figure, dpi=200))
    picture = Picture(
        figure_png(figures["detection"]),
        alt="Detection curves of three rankings, and self-influence against loss",
        caption="Left: how many planted samples are found among the first k, for every k; dashed, the best "
        "possible, dotted, chance. Right: every sample's self-influence against its loss.",
    )
    write_html(out / "index.html", render_html(summary, images, queries, (picture,), invert=True))


def overview(findings: Findings, summary: "Summary") -> "Figure":
    """The picture of the README: some held-out digits, and the ranking."""
    from proponent.report.figures import draw_overview

    data = findings.data
    return draw_overview(
        summary,
        findings.self_influence.values,
        dict(zip(data.ids.tolist(), data.images, strict=True)),
        dict(zip(data.held_out_ids.tolist(), data.held_out, strict=True)),
        data.foreign,
        query_name="held-out digit",
        query_heading="held out",
        planted_name="photo patches",
    )


def detection(findings: Findings) -> "Figure":
    """What the rankings find, and where they differ."""
    from matplotlib.figure import Figure

    from proponent.report.figures import draw_against_loss, draw_detection, figure_style

    with figure_style():
        figure = Figure(figsize=(9.5, 3.8), layout="constrained")
        left, right = figure.subplots(1, 2)
        draw_detection(left, findings.rankings, findings.data.foreign)
        draw_against_loss(
            right,
            findings.rivals["loss"],
            findings.self_influence.values,
            findings.data.foreign,
            findings.self_influence.unit,
        )
    return figure
