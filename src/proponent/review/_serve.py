"""Serving the review page on this machine."""

import os
import socket
import sys
import threading
import webbrowser
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from ipaddress import ip_address
from pathlib import Path
from typing import TYPE_CHECKING

from proponent.review._decisions import Decisions
from proponent.review._items import ReviewItems

if TYPE_CHECKING:
    from proponent.review._security import Access


def serve(
    items: ReviewItems,
    path: str | Path,
    *,
    host: str = "127.0.0.1",
    port: int = 0,
    open_browser: bool = True,
    seed: int = 0,
    tell: Callable[[str], None] = print,
) -> None:
    """Serve the page until Ctrl-C.

    Args:
        items: The samples.
        path: The log of decisions; it is made where it is not there.
        host: The address to bind to. Whoever reaches one that is not loopback, and has the token, can look
            and decide.
        port: The port; a free one unless given.
        open_browser: Whether to open a browser, where there is a screen.
        seed: What the control arm follows from.
        tell: Takes what a person shall read: the address.

    Raises:
        ImportError: Starlette or uvicorn is not installed.
        OSError: The address can't be bound to, or the log can't be written.
    """
    check_installed()
    import uvicorn

    from proponent.review._app import create_app
    from proponent.review._review import Review
    from proponent.review._security import Access

    decisions = Decisions(path)
    try:
        with _bound(host, port) as listening:
            access = Access(hosts=_names(host), any_address=not _is_loopback(host))
            config = uvicorn.Config(
                create_app(Review(items, decisions, seed), access),
                log_level="warning",
                access_log=False,  # addresses hold the token
                server_header=False,
                lifespan="off",
                ws="none",
                timeout_graceful_shutdown=1,
            )
            _announce(access, host, listening.getsockname()[1], open_browser, tell)
            with suppress(KeyboardInterrupt):  # which comes once the server has ended
                uvicorn.Server(config).run(sockets=[listening])
    finally:
        decisions.close()


def check_installed() -> None:
    """See that the page can be served.

    Raises:
        ImportError: Starlette or uvicorn is not installed; it says what to install.
    """
    for name in ("starlette", "uvicorn"):
        try:
            import_module(name)
        except ModuleNotFoundError as error:
            raise ImportError(
                f"The review page needs {name}. Install it with `pip install 'proponent[review]'`."
            ) from error


def _bound(host: str, port: int) -> socket.socket:
    """A socket that listens: what connects before the server runs waits.

    Raises:
        OSError: It can't be had.
    """
    try:
        return socket.create_server((host, port), family=_family(host), backlog=128)
    except OSError as error:
        raise OSError(
            f"The page can't be served at {host}, port {port}: {error.strerror or error}. "
            "Name another by `--port`, or none for a free one."
        ) from error


def _announce(
    access: "Access", host: str, port: int, open_browser: bool, tell: Callable[[str], None]
) -> None:
    shown = socket.gethostname() if host in ("0.0.0.0", "::") else host
    address = f"http://[{shown}]:{port}/" if ":" in shown else f"http://{shown}:{port}/"
    tell(f"{address}?token={access.token}")
    if open_browser and _has_screen():
        # A browser's arguments can be read by everybody on the machine, so they hold a ticket for one use.
        ticket = f"{address}?token={access.ticket()}"
        threading.Thread(target=webbrowser.open, args=(ticket,), daemon=True).start()


def _has_screen() -> bool:
    """Whether a browser would have a window; in a terminal it would take the terminal over."""
    if sys.platform in ("win32", "darwin"):
        return "SSH_CONNECTION" not in os.environ
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


def _family(host: str) -> socket.AddressFamily:
    return socket.AF_INET6 if ":" in host else socket.AF_INET


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _names(host: str) -> tuple[str, ...]:
    """The names that a page bound to an address may be asked for by, beside those of loopback."""
    return (host,) if _is_loopback(host) else (host, socket.gethostname(), socket.getfqdn())
