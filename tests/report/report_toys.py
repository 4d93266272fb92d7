"""A report that is made up, with samples that a person can tell apart, and a run that is small."""

from io import BytesIO

import numpy as np
from PIL import Image

from proponent.report._offline_record import Curve, DecisionCounts, RankingColumn, Report, SampleColumns
from proponent.report._records import Entry, QueryRow, compare_rankings
from proponent.runs import Scoring, Settings, influence, self_influence, train

SCRIPT = '<script>alert("1")</script><img src=x onerror=alert(2)>.png'


def make_report(n=40, kind="images", title="toys", show=6):
    """`n` samples; the later have the higher loss, the last two are foreign, and one has a hostile name."""
    ids = [SCRIPT, *(f"folder/{i:04d}.png" for i in range(1, n))]
    generator = np.random.default_rng(0)
    loss, own = np.arange(n, dtype=float), generator.gamma(2.0, 10.0, n)
    columns = {"loss": loss, "self-influence": own, "gradient norm": np.sqrt(own)}
    foreign = np.arange(n) >= n - 2
    first = {name: [ids[i] for i in np.argsort(-values, kind="stable")] for name, values in columns.items()}
    return Report(
        title=title,
        made="0",
        kind=kind,
        sample_count=n,
        facts={"data": {"samples": n, "name": title}, "training": {"steps": 10, "learning_rate": 0.001}},
        limits=("This is one training with one seed; use `proponent rank RUN`.",),
        left_aside=((f"broken {SCRIPT}", "an empty file"),),
        default="loss",
        rankings=tuple(
            RankingColumn(name, f"About {name}.", tuple(order[:show]), tuple(order[::-1][:show]))
            for name, order in first.items()
        ),
        correlations={one: {other: 1.0 if one == other else None for other in columns} for one in columns},
        line="It adds little. Begin with `loss`.",
        scatter={"x": "loss", "y": "self-influence"},
        samples=SampleColumns(
            tuple(ids),
            tuple(ids),
            {name: tuple(values.tolist()) for name, values in columns.items()},
            tuple(foreign.tolist()),
            (0, 0, *([-1] * (n - 2))),
            ("discard", *([""] * (n - 1))),
        ),
        influence={"unit": "nats"},
        queries=(QueryRow(SCRIPT, (Entry(ids[1], 2.0), Entry(ids[2], 1.0)), (Entry(SCRIPT, -3.0),)),),
        query_count=3,
        detection=compare_rankings({"self-influence": own, "loss": loss}, foreign),
        curves=(Curve("self-influence", (0, n), (0.0, 2.0)), Curve("loss", (0, 2, n), (0.0, 2.0, 2.0))),
        decisions=DecisionCounts(0, 1, 0, n - 1, (SCRIPT,)),
        missing=(("Nothing", "proponent rank RUN"),),
    )


def noise(i, side):
    """A picture that compresses as badly as any."""
    return Image.fromarray(np.random.default_rng(i).integers(0, 256, (side, side, 3), dtype=np.uint8))


def make_photos(folder, n=24):
    """Pictures of 16 x 16, the first two of them the same, the last two foreign; one broken, one hostile."""
    folder.mkdir()
    generator = np.random.default_rng(0)
    for i in range(n):
        pixels = generator.integers(0, 60, (16, 16, 3)) + (150 if i >= n - 2 else 20)
        buffer = BytesIO()
        Image.fromarray(pixels.astype(np.uint8)).save(buffer, "PNG")
        (folder / f"{i:02d}.png").write_bytes(buffer.getvalue())
    (folder / "01.png").write_bytes((folder / "00.png").read_bytes())
    (folder / "broken.png").write_bytes(b"")
    (folder / SCRIPT.replace("/", "|")).write_bytes((folder / "02.png").read_bytes() + b"\0")
    return folder


def make_run(data, out, queries=None):
    """A small run; with queries, scored too."""
    run = train(
        data, out, Settings(model="mlp", latent_dim=2, steps=10, checkpoints=2, batch_size=8, device="cpu")
    )
    if queries is not None:
        self_influence(run, Scoring(draws=4), standard_errors=True, device="cpu")
        influence(run, queries, Scoring(draws=2), device="cpu")
    return run
