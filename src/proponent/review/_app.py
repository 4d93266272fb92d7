"""The addresses of the review page."""

import json
from collections.abc import Awaitable, Callable
from typing import Any

from starlette.applications import Starlette
from starlette.background import BackgroundTask
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from proponent.review._decisions import VERDICTS
from proponent.review._downloads import DOWNLOADS, make_download
from proponent.review._items import PICTURE_TYPES, Encoded
from proponent.review._requests import Refused, choice, integer, positions, read_body, text
from proponent.review._review import Review
from proponent.review._security import PICTURE_POLICY, Access, Guard
from proponent.review._static import PAGE, static_files

_MOST_SERVED = 500  # samples an answer holds
_MOST_SHOWN = 2_000
_SEQ = 2**53 - 1  # the largest number that a page can hold
_NAME, _NOTE = 64, 1_000  # characters


class Json(JSONResponse):
    """A record in ASCII: a text that UTF-8 can't write, as some file names are, does no harm."""

    def render(self, content: Any) -> bytes:
        """Write the record; it must hold no endless number."""
        return json.dumps(content, allow_nan=False, separators=(",", ":")).encode("ascii")


def create_app(review: Review, access: Access) -> ASGIApp:
    """Build the app that serves a review to who has access.

    Args:
        review: What is served.
        access: Who may ask.
    """
    app = _Addresses(review)
    routes = [
        Route("/", app.page),
        Route("/static/{name:path}", app.static),
        Route("/thumb/{i}", app.thumb),
        Route("/full/{i}", app.full),
        Route("/export/{name}", app.export),
        Route("/api/state", _answer(app.state)),
        Route("/api/queue", _answer(app.queue)),
        Route("/api/grid", _answer(app.grid)),
        Route("/api/sample/{i}", _answer(app.sample)),
        Route("/api/summary", _answer(app.summary)),
        Route("/api/decide", _post(app.decide), methods=["POST"]),
        Route("/api/undo", _post(app.undo), methods=["POST"]),
    ]
    handlers: dict[Any, Any] = {Refused: _refuse, OSError: _fail}
    # Outside of all, so that what goes wrong inside is answered with the same headers.
    return Guard(Starlette(routes=routes, exception_handlers=handlers), access)


class _Addresses:
    """What each address answers."""

    def __init__(self, review: Review) -> None:
        self._review = review
        self._n = len(review.items)
        self._static = static_files()

    def page(self, request: Request) -> Response:
        return self._file(PAGE)

    def static(self, request: Request) -> Response:
        return self._file(request.path_params["name"])

    def thumb(self, request: Request) -> Response:
        return _picture(self._review.items.thumbnail(self._place(request)))

    def full(self, request: Request) -> Response:
        return _picture(self._review.items.full(self._place(request)))

    def export(self, request: Request) -> Response:
        name = request.path_params["name"]
        if name not in DOWNLOADS:
            raise Refused(f"There is no such export; there are {', '.join(DOWNLOADS)}.", 404)
        try:
            made = make_download(name, self._review.items, self._review.verdicts())
        except ValueError as error:
            raise Refused(str(error)) from error
        return FileResponse(
            made.path,
            media_type=made.media_type,
            filename=made.file_name,
            background=BackgroundTask(made.forget),
        )

    def state(self, request: Request) -> Any:
        query = request.query_params
        return self._review.state(
            self._ranking(request) if "ranking" in query else None,
            self._learning(request) if "learn" in query else None,
            integer(query["seen_seq"], "seen_seq", 0, _SEQ) if "seen_seq" in query else None,
            text(query.get("session", ""), "session", _NAME),
        )

    def queue(self, request: Request) -> Any:
        query = request.query_params
        return self._review.queue(
            integer(query.get("count", "1"), "count", 1, _MOST_SERVED),
            self._ranking(request),
            self._learning(request),
            positions(query, "shown", self._n, _MOST_SHOWN),
        )

    def grid(self, request: Request) -> Any:
        query = request.query_params
        verdict = choice(query.get("verdict", "all"), "verdict", (*VERDICTS, "left", "all"))
        return self._review.grid(
            self._ranking(request),
            integer(query.get("offset", "0"), "offset", 0, _SEQ),
            integer(query.get("count", "100"), "count", 1, _MOST_SERVED),
            None if verdict == "all" else verdict,
            integer(query["seq"], "seq", 0, _SEQ) if "seq" in query else None,
        )

    def sample(self, request: Request) -> Any:
        return self._review.sample(self._place(request))

    def summary(self, request: Request) -> Any:
        return self._review.summary()

    def decide(self, body: dict[str, Any]) -> Any:
        ranking, position = body.get("ranking"), body.get("position")
        i = integer(body.get("i"), "i", 0, self._n - 1)
        if body.get("id") not in (None, str(self._review.items.ids[i])):
            raise Refused("The page is of other samples. Load it again.", 409)
        return self._review.decide(
            i,
            choice(body.get("verdict"), "verdict", VERDICTS),
            None if ranking is None else choice(ranking, "ranking", self._review.items.rankings),
            None if position is None else integer(position, "position", 0, _SEQ),
            integer(body.get("seen_seq") or 0, "seen_seq", 0, _SEQ),
            text(body.get("token") or "", "token", _NAME),
            session=text(body.get("session") or "", "session", _NAME),
            note=text(body.get("note") or "", "note", _NOTE),
            request=self._request(body),
        )

    def undo(self, body: dict[str, Any]) -> Any:
        return self._review.undo(
            integer(body.get("seen_seq") or 0, "seen_seq", 0, _SEQ),
            text(body.get("session") or "", "session", _NAME),
            self._request(body),
        )

    def _request(self, body: dict[str, Any]) -> str | None:
        request = body.get("request")
        return None if request is None else text(request, "request", _NAME)

    def _file(self, name: str) -> Response:
        file = self._static.get(name)
        if file is None:
            raise Refused("There is no such file.", 404)
        return Response(file.content, media_type=file.media_type)

    def _place(self, request: Request) -> int:
        return integer(request.path_params["i"], "i", 0, self._n - 1)

    def _ranking(self, request: Request) -> str:
        items = self._review.items
        return choice(request.query_params.get("ranking", items.default), "ranking", items.rankings)

    def _learning(self, request: Request) -> bool:
        return choice(request.query_params.get("learn", "0"), "learn", ("0", "1")) == "1"


def _answer(endpoint: Callable[[Request], Any]) -> Callable[[Request], Response]:
    """Answer with a record; Starlette runs it in a thread of its own."""

    def answer(request: Request) -> Response:
        return Json(endpoint(request))

    return answer


def _post(endpoint: Callable[[dict[str, Any]], Any]) -> Callable[[Request], Awaitable[Response]]:
    """Read a body, then answer with a record from a thread, since writing waits for the disk."""

    async def answer(request: Request) -> Response:
        return Json(await run_in_threadpool(endpoint, await read_body(request)))

    return answer


def _picture(picture: Encoded) -> Response:
    content, media_type = picture
    if media_type not in PICTURE_TYPES:
        raise ValueError(f"A picture must be one of {', '.join(PICTURE_TYPES)}, got {media_type!r}.")
    # The address has the run's version in it, so what was fetched once holds.
    headers = {
        "Cache-Control": "private, max-age=31536000, immutable",
        "Content-Security-Policy": PICTURE_POLICY,
    }
    return Response(content, media_type=media_type, headers=headers)


def _refuse(request: Request, error: Refused) -> Response:
    return Json({"error": error.message}, error.status)


def _fail(request: Request, error: OSError) -> Response:
    """The disk would not take a decision, or a picture can't be read; the page says so and goes on."""
    return Json({"error": str(error)}, 507 if request.method == "POST" else 404)
