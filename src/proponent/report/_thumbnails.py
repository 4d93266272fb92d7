"""Many small pictures in few bytes, as addresses that need no file."""

import base64
from collections.abc import Callable, Mapping, Sequence
from io import BytesIO

from PIL import Image

# Side in pixels and JPEG quality, the best first.
_STEPS = ((96, 78), (96, 62), (80, 60), (64, 58), (48, 50), (32, 45))
LARGEST = _STEPS[0][0]
_LOSSLESS = 1.25  # how much larger a picture may be without loss
_SMALL = 64  # pixels from which PNG isn't tried


def thumbnails(
    pictures: Callable[[int, int], Image.Image], positions: Sequence[int], budget: int
) -> Mapping[int, str]:
    """Encode pictures for ``<img>``, as large as the bytes allow.

    Args:
        pictures: Gives the picture at a position, with a longer side of at most so many pixels.
        positions: Which; where there is no room for all even of the smallest size, the first of them.
        budget: How many characters all addresses may take.
    """
    decoded = {i: _plain(pictures(i, LARGEST)) for i in positions}
    found: dict[int, str] = {}
    for side, quality in _STEPS:
        found, room = {}, budget
        for i, picture in decoded.items():
            address = _address(picture, side, quality)
            room -= len(address)
            if room < 0:
                break
            found[i] = address
        if len(found) == len(decoded):
            break
    return found


def _plain(picture: Image.Image) -> Image.Image:
    return picture if picture.mode in ("L", "RGB") else picture.convert("RGB")


def _address(picture: Image.Image, side: int, quality: int) -> str:
    if max(picture.size) > side:
        picture = picture.copy()
        picture.thumbnail((side, side), Image.Resampling.BOX)
    kind, content = "jpeg", _encoded(picture, "JPEG", quality=quality, optimize=True)
    if max(picture.size) <= _SMALL:
        exact = _encoded(picture, "PNG", optimize=True)
        if len(exact) <= _LOSSLESS * len(content):
            kind, content = "png", exact
    return f"data:image/{kind};base64,{base64.b64encode(content).decode()}"


def _encoded(picture: Image.Image, kind: str, **options: int) -> bytes:
    buffer = BytesIO()
    picture.save(buffer, kind, **options)
    return buffer.getvalue()
