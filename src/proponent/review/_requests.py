"""Reading what a page asks: numbers in their range, names from a list, small JSON objects; no more."""

import json
from collections.abc import Collection, Mapping
from typing import Any

from starlette.requests import Request

_LARGEST = 16 * 1024  # bytes of a body; a decision takes a hundred


class Refused(Exception):
    """A request that can't be answered.

    Attributes:
        message: Why.
        status: The HTTP status that says so.
    """

    def __init__(self, message: str, status: int = 400) -> None:
        super().__init__(message)
        self.message = message
        self.status = status


async def read_body(request: Request) -> dict[str, Any]:
    """Read a JSON object.

    Raises:
        Refused: It is too large, of another type, or none.
    """
    if request.headers.get("content-type", "").split(";")[0].strip().lower() != "application/json":
        raise Refused("The body must be `application/json`.", 415)
    body = bytearray()
    async for part in request.stream():
        body += part
        if len(body) > _LARGEST:
            raise Refused(f"The body must have at most {_LARGEST} bytes.", 413)
    try:
        record = json.loads(body)
    except (ValueError, RecursionError) as error:  # no text, no JSON, endless digits or brackets
        raise Refused("The body must be JSON.") from error
    if not isinstance(record, dict):
        raise Refused("The body must be a JSON object.")
    return record


def integer(value: object, name: str, low: int, high: int) -> int:
    """A whole number in a range; texts of digits count, as they stand in addresses.

    Raises:
        Refused: It is none.
    """
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) <= 15:
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int):
        raise Refused(f"`{name}` must be a whole number.")
    if not low <= value <= high:
        raise Refused(f"`{name}` must be from {low} to {high}.", 404 if name == "i" else 400)
    return value


def choice(value: object, name: str, choices: Collection[str]) -> str:
    """One of several names.

    Raises:
        Refused: It is another.
    """
    if not isinstance(value, str) or value not in choices:
        raise Refused(f"`{name}` must be one of {', '.join(choices)}.")
    return value


def text(value: object, name: str, longest: int) -> str:
    """A text that can be written as UTF-8.

    Raises:
        Refused: It is too long or no such text.
    """
    if not isinstance(value, str) or len(value) > longest:
        raise Refused(f"`{name}` must be a text of at most {longest} characters.")
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise Refused(f"`{name}` must be a text that UTF-8 can write.") from error
    return value


def positions(query: Mapping[str, str], name: str, count: int, most: int) -> set[int]:
    """Positions of samples, with commas between them.

    Raises:
        Refused: One is none, or there are too many.
    """
    parts = [part for part in query.get(name, "").split(",") if part]
    if len(parts) > most:
        raise Refused(f"`{name}` must name at most {most} samples.")
    return {integer(part, name, 0, count - 1) for part in parts}
