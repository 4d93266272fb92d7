"""A summary as one HTML page that stands on its own: no script, no address, every image inside it."""

import base64
from collections.abc import Mapping
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy.typing as npt
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from proponent._version import __version__
from proponent.report._numbers import count, plain, signed
from proponent.report._png import data_uri
from proponent.report._records import Summary
from proponent.report._verdict import verdict
from proponent.storage import whole_file

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class Picture:
    """A figure of the page, as a file's bytes.

    Attributes:
        png: The file.
        alt: What it shows, for who can't see it.
        caption: What stands under it.
    """

    png: bytes
    alt: str
    caption: str = ""


def figure_png(figure: "Figure", dpi: int = 160) -> bytes:
    """Draw a figure into the bytes of a PNG file."""
    buffer = BytesIO()
    figure.savefig(buffer, format="png", dpi=dpi, metadata={"Software": None})
    return buffer.getvalue()


def render_html(
    summary: Summary,
    samples: Mapping[str, npt.NDArray[Any]] | None = None,
    queries: Mapping[str, npt.NDArray[Any]] | None = None,
    pictures: tuple[Picture, ...] = (),
    invert: bool = False,
) -> str:
    """Make the page. Whatever comes from the data is escaped.

    Args:
        summary: What it says.
        samples: Images of the training samples by id. Samples without one are shown by their id.
        queries: Images of the queries by id.
        pictures: Figures.
        invert: Whether grey images are shown dark on light, as ink on paper.
    """

    def thumbnails(images: Mapping[str, npt.NDArray[Any]] | None, wanted: set[str]) -> dict[str, str]:
        return {
            id_: data_uri(1 - image if invert and image.ndim == 2 else image)
            for id_, image in (images or {}).items()
            if id_ in wanted
        }

    entries = [*summary.highest, *summary.lowest]
    entries += [entry for row in summary.queries for entry in (*row.proponents, *row.opponents)]
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"signed": signed, "plain": plain, "count": count}
    return environment.get_template("summary.html.jinja").render(
        summary=summary,
        verdict=None if summary.detection is None else verdict(summary.detection),
        samples=thumbnails(samples, {entry.id for entry in entries}),
        queries=thumbnails(queries, {row.id for row in summary.queries}),
        pictures=[
            {"address": _png_address(picture.png), "alt": picture.alt, "caption": picture.caption}
            for picture in pictures
        ],
        version=__version__,
    )


def write_html(path: str | Path, page: str) -> Path:
    """Write a page, whole or not at all."""
    path = Path(path)
    with whole_file(path) as temporary:
        temporary.write_text(page, "utf-8")
    return path


def _png_address(content: bytes) -> str:
    return "data:image/png;base64," + base64.b64encode(content).decode()
