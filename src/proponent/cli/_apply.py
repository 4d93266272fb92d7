"""`proponent apply`."""

from pathlib import Path
from typing import Annotated

import typer

from proponent.cli._console import say, say_where
from proponent.cli._options import Data, Run


def apply(
    run: Run,
    out: Annotated[
        Path, typer.Option("--out", "-o", help="The manifest: a `.parquet`, `.csv` or `.txt` file.")
    ],
    data: Data = None,
) -> None:
    """Write which samples stay after a review.

    A `.parquet` or `.csv` manifest has a row for each sample with `id`, `verdict` and `keep`; a `.txt` file
    lists the ids that stay. Only what was discarded goes. The data themselves are never touched, and no file
    is overwritten but an earlier manifest.

    Example: `proponent apply runs/photos --out clean.parquet`
    """
    from proponent import review

    counts = review.apply(run, out, data)
    stay = sum(counts.values()) - counts["discard"]
    say(
        f"{stay:,} stay and {counts['discard']:,} go. Of those that stay, {counts['keep']:,} were kept, "
        f"{counts['unsure']:,} left somebody unsure, and {counts['left']:,} were not looked at."
    )
    say_where("manifest", out)
