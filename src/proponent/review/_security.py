"""Who may speak to the review page: what every request must show, and what every response says.

The page lies on a person's own machine, where a browser also runs the pages of strangers, and where other
people may have accounts. So:

- A token, drawn anew for each start, stands in the address once and in a cookie from then on; without it
  nothing is answered.
- `Host` must name this machine, or a stranger's name that was made to point here could read along (DNS
  rebinding). The port is not looked at: it differs where the page is reached through a tunnel.
- `Origin`, which a browser sends with every request that changes something, must be the page's own, as
  must be what a browser says of the request in `Sec-Fetch-Site`: cookies are shared by all ports.
- The content security policy has no remote source, no inline script, and no frame.
"""

import hmac
import secrets
from collections.abc import Iterable
from ipaddress import ip_address
from threading import Lock
from urllib.parse import parse_qs, urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import cookie_parser
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

_LOOPBACK = ("127.0.0.1", "localhost", "::1")

PAGE_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; font-src 'self'; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
# A picture that is opened by itself is data, whatever it holds.
PICTURE_POLICY = "default-src 'none'; style-src 'unsafe-inline'; sandbox; frame-ancestors 'none'"

_HEADERS = {
    "Content-Security-Policy": PAGE_POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}


class Access:
    """The secrets of one start of the page, and the names it goes by.

    >>> access = Access(token="t")
    >>> access.admits("t"), access.admits("x")
    (True, False)
    >>> ticket = access.ticket()
    >>> access.admits(ticket), access.admits(ticket)
    (True, False)
    >>> access.is_here("localhost:8000"), access.is_here("evil.example:8000")
    (True, False)

    Attributes:
        token: The secret.
        cookie: The name of the cookie that holds it. Names differ, for several pages on one machine share
            their cookies.
    """

    def __init__(
        self, token: str | None = None, hosts: Iterable[str] = (), any_address: bool = False
    ) -> None:
        """Draw the secrets.

        Args:
            token: The secret, if it isn't to be drawn.
            hosts: Names by which the page may be asked for, beside those of loopback.
            any_address: Whether it may also be asked for by any numeric address, as where the page is bound
                to more than loopback; a name that was made to point here is no number.
        """
        self.token = token or secrets.token_urlsafe(32)
        self.cookie = f"proponent-{secrets.token_hex(4)}"
        self._hosts = {host.lower() for host in (*_LOOPBACK, *hosts)}
        self._any_address = any_address
        self._tickets: set[str] = set()
        self._lock = Lock()

    def ticket(self) -> str:
        """Draw a token that is good for one use: a browser's arguments can be read by everybody."""
        ticket = secrets.token_urlsafe(32)
        self._tickets.add(ticket)
        return ticket

    def admits(self, token: str) -> bool:
        """Whether this is the token, or a ticket that was not used yet."""
        if _same(token, self.token):
            return True
        with self._lock:
            for ticket in self._tickets:
                if _same(token, ticket):
                    self._tickets.remove(ticket)
                    return True
        return False

    def is_here(self, host: str) -> bool:
        """Whether a `Host` header names this machine."""
        try:
            name = urlsplit(f"//{host}").hostname or ""
        except ValueError:
            return False
        return name in self._hosts or (self._any_address and _is_address(name))


class Guard:
    """Answers for the app where a request may not go through, and puts the headers on every response."""

    def __init__(self, app: ASGIApp, access: Access) -> None:
        self._app = app
        self._access = access

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            if scope["type"] == "websocket":
                await send({"type": "websocket.close", "code": 1008})
            else:
                await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        entered = scope["path"] == "/" and self._has_token(scope)
        refusal = self._refusal(scope, headers, entered)

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                answer = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    answer.setdefault(name, value)
                if entered and refusal is None:
                    cookie = f"{self._access.cookie}={self._access.token}"
                    answer.append("Set-Cookie", f"{cookie}; Path=/; HttpOnly; SameSite=Strict")
            await send(message)

        await (refusal or self._app)(scope, receive, send_with_headers)

    def _refusal(self, scope: Scope, headers: Headers, entered: bool) -> PlainTextResponse | None:
        """What to answer instead of the app, or none where the request may go through."""
        host, origin = headers.getlist("host"), headers.getlist("origin")
        if len(host) != 1 or not self._access.is_here(host[0]):
            return PlainTextResponse("This page is not asked for by that name.", 421)
        changes = scope["method"] not in ("GET", "HEAD")
        if (origin or changes) and origin != [f"{scope['scheme']}://{host[0]}"]:
            return PlainTextResponse("Only the page itself may ask for this.", 403)
        # A link in a mail or a terminal leads here from elsewhere; nothing else may.
        is_visit = scope["path"] == "/" and not changes and headers.get("sec-fetch-mode") == "navigate"
        if headers.get("sec-fetch-site", "none") not in ("same-origin", "none") and not is_visit:
            return PlainTextResponse("Only the page itself may ask for this.", 403)
        if not entered and not self._has_cookie(headers):
            return PlainTextResponse(
                "This needs the token. Open the address that `proponent review` printed.", 401
            )
        return None

    def _has_token(self, scope: Scope) -> bool:
        try:
            tokens = parse_qs(scope["query_string"].decode("latin-1"), max_num_fields=100).get("token", [])
        except ValueError:  # a flood of fields
            return False
        return len(tokens) == 1 and self._access.admits(tokens[0])

    def _has_cookie(self, headers: Headers) -> bool:
        value = cookie_parser(headers.get("cookie", "")).get(self._access.cookie)
        return value is not None and _same(value, self._access.token)


def _same(one: str, other: str) -> bool:
    """Whether two secrets are the same, in a time that tells nothing of where they differ."""
    return hmac.compare_digest(one.encode("utf-8", "surrogatepass"), other.encode())


def _is_address(name: str) -> bool:
    try:
        ip_address(name)
    except ValueError:
        return False
    return True
