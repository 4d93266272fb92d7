"""The review page in a browser: samples to look at, a server, and headless Chromium."""

import colorsys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import uvicorn
from PIL import Image, ImageDraw

from proponent.review import Decisions, ReviewItems
from proponent.review._app import create_app
from proponent.review._review import Review
from proponent.review._security import Access

if TYPE_CHECKING:
    from playwright.sync_api import Browser

CHROMIUM = Path("/usr/bin/chromium")


def colored_items(n: int, kind: str = "images", title: str = "colours", seed: int = 0) -> ReviewItems:
    """Samples that a person can tell apart: each a colour of its own, every tenth with a cross."""
    generator = np.random.default_rng(seed)
    odd = generator.random(n) < 0.1
    loss = generator.gamma(4.0, 20.0, n) + 30 * odd
    influence = loss**2 * generator.lognormal(0.0, 1.0, n) / 1000
    features = np.column_stack([loss, generator.normal(size=(n, 6)), odd + generator.normal(0, 0.3, n)])
    ids = np.array([f"{'odd' if odd[i] else 'plain'}/{i // 100:03d}/sample-{i:05d}.png" for i in range(n)])

    @cache
    def picture(i: int, size: int) -> tuple[bytes, str]:
        return _png(i, n, bool(odd[i]), size), "image/png"

    def details(i: int) -> dict[str, str | float]:
        if kind == "rows":
            return {f"column {k}": round(float(value), 4) for k, value in enumerate(features[i])}
        return {"size": "256 x 256", "folder": str(ids[i]).rsplit("/", 1)[0]}

    return ReviewItems(
        ids=ids,
        captions=ids.tolist(),
        kind=kind,
        rankings={
            "unseen loss": loss + generator.normal(0, 5, n),
            "loss": loss,
            "self-influence": influence,
            "gradient norm": np.sqrt(influence),
        },
        default="unseen loss",
        features=features,
        thumbnail=lambda i: picture(i, 96),
        full=lambda i: picture(i, 256),
        details=details,
        title=title,
    )


def _png(i: int, n: int, odd: bool, size: int) -> bytes:
    red, green, blue = (int(255 * part) for part in colorsys.hsv_to_rgb(i / n, 0.55, 0.85))
    image = Image.new("RGB", (size, size), (red, green, blue))
    pen, edge = ImageDraw.Draw(image), size // 5
    shade = (red // 2, green // 2, blue // 2)
    if odd:
        pen.line((edge, edge, size - edge, size - edge), shade, size // 10)
        pen.line((edge, size - edge, size - edge, edge), shade, size // 10)
    else:
        pen.ellipse((edge, edge, size - edge, size - edge), shade)
    buffer = BytesIO()
    image.save(buffer, "PNG")
    return buffer.getvalue()


@dataclass
class Page:
    """A page that is served.

    Attributes:
        address: Where, with the token.
        port: The port.
        decisions: The log.
        stop: Ends the server.
    """

    address: str
    port: int
    decisions: Decisions
    stop: Callable[[], None]


@contextmanager
def served(items: ReviewItems, path: Path, *, port: int = 0, token: str | None = None) -> Iterator[Page]:
    """Serve the page from a thread."""
    with closing(Decisions(path)) as decisions:
        access = Access(token)
        config = uvicorn.Config(
            create_app(Review(items, decisions), access),
            port=port,
            log_level="warning",
            access_log=False,
            lifespan="off",
            ws="none",
            timeout_graceful_shutdown=1,
        )
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, daemon=True)
        thread.start()
        while not server.started:
            if not thread.is_alive():
                raise OSError("The server did not start.")
            time.sleep(0.01)
        found = server.servers[0].sockets[0].getsockname()[1]

        def stop() -> None:
            server.should_exit = True
            thread.join(10)

        try:
            yield Page(f"http://127.0.0.1:{found}/?token={access.token}", found, decisions, stop)
        finally:
            stop()


@contextmanager
def chromium() -> Iterator["Browser"]:
    """Headless Chromium; the sandbox needs rights that a container does not give."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=str(CHROMIUM), args=["--no-sandbox"])
        try:
            yield browser
        finally:
            with suppress(Exception):
                browser.close()
