"""From a run to what a person reviews."""

from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from io import BytesIO
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np

from proponent.review._features import features_of
from proponent.review._items import Encoded, ReviewItems
from proponent.runs import OpenedRun, RunFolder, Settings, open_run

if TYPE_CHECKING:
    from PIL import Image

    from proponent.runs._telling import Progress, Tell

_LOSSLESS = 256 * 256  # pixels up to which a picture is small as PNG, too
_QUALITY = {"small": 85, "large": 95}


def ready_run(
    source: Path, out: Path | None, data: Path | None, tell: "Tell", progress: "Progress"
) -> OpenedRun:
    """Bring a run to where it can be reviewed: read, trained, ranked; what is done is taken as it is.

    Args:
        source: A run's folder, or data as `train` takes them.
        out: The folder of the run of such data; ``runs/`` and their name unless given.
        data: Where a run's data lie now, if they were moved.
        tell: Takes a sentence for a person to read.
        progress: Shows progress.

    Raises:
        FileNotFoundError: There is neither a run nor are there data.
        ValueError: They can't be used, or an option is for the other of the two.
    """
    from proponent.runs import rank, train

    folder = RunFolder(source)
    if folder.record.is_file():
        if out is not None:
            raise ValueError(f"`--out` is for data, but `{source}` is a run already. Leave it out.")
    else:
        if data is not None:
            raise ValueError(f"`--data` is for a run, but `{source}` is none. Name the data alone.")
        folder = train(source, out, Settings(), tell=tell, progress=progress)
    run = open_run(folder, data)
    if not _is_ranked(run):
        rank(run, tell=tell, progress=progress)
    return run


def items_of(run: OpenedRun) -> ReviewItems:
    """What a person reviews of a run: its samples, in the orders of its rankings.

    Args:
        run: The run, ranked.

    Raises:
        FileNotFoundError: It is not ranked.
        ValueError: The rankings are of other samples.
    """
    from proponent.evaluation import Rankings

    rankings, data = Rankings.load(run.folder.rankings), run.data
    if not np.array_equal(rankings.ids.astype(str), data.ids.astype(str)):
        raise ValueError(
            f"`{run.folder.rankings}` ranks other samples than the run has. "
            f"Rank them again with `proponent rank {run.folder.path}`."
        )
    # Many threads ask. Files of a folder are read independently, what lies in one table is not.
    one_by_one: AbstractContextManager[Any] = nullcontext() if data.source.get("form") == "folder" else Lock()

    def thumbnail(i: int) -> Encoded:
        with one_by_one:
            image = data.thumbnail(i)
        return encoded(image, "small")

    def full(i: int) -> Encoded:
        try:
            with one_by_one:
                image = data.picture(i)
        except ValueError as error:  # another picture lies there by now
            raise OSError(str(error)) from error
        return encoded(image, "large")

    def details(i: int) -> Mapping[str, str | float]:
        with one_by_one:
            told = data.describe(i)
        copies = int((data.duplicates == data.duplicates[i]).sum()) if data.duplicates[i] >= 0 else 0
        return {**told, **({"exact copies": copies} if copies else {})}

    return ReviewItems(
        ids=data.ids.astype(str),
        captions=data.captions.astype(str).tolist(),
        kind=data.kind,
        rankings={name: np.asarray(values, dtype=np.float64) for name, values in rankings.columns.items()},
        default=rankings.default,
        features=features_of(run),
        thumbnail=thumbnail,
        full=full,
        details=details,
        title=run.folder.path.resolve().name,
    )


def encoded(image: "Image.Image", use: str) -> Encoded:
    """A picture as bytes that a browser shows: PNG where it is small, else JPEG.

    Args:
        image: The picture.
        use: ``"small"`` or ``"large"``: how well it must look.
    """
    if image.mode not in ("L", "RGB"):
        image = image.convert("RGB")
    buffer = BytesIO()
    if image.width * image.height <= _LOSSLESS and (use == "large" or max(image.size) <= 64):
        image.save(buffer, "PNG")
        return buffer.getvalue(), "image/png"
    image.save(buffer, "JPEG", quality=_QUALITY[use])
    return buffer.getvalue(), "image/jpeg"


def _is_ranked(run: OpenedRun) -> bool:
    """Whether the rankings that are there are of this training."""
    from proponent.evaluation import Rankings

    try:
        facts = Rankings.load(run.folder.rankings).facts
    except (FileNotFoundError, ValueError):
        return False
    return facts.get("trajectory") == run.trajectory.fingerprint()
