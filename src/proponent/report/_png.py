"""Small images as PNG files in a text, with nothing but the standard library."""

import base64
import struct
import zlib
from typing import Any

import numpy as np
import numpy.typing as npt


def data_uri(image: npt.ArrayLike) -> str:
    """Encode an image for the address of an ``<img>``.

    Args:
        image: ``[h, w]`` grey or ``[h, w, 3]`` colour, between 0 and 1, or bytes.

    Raises:
        ValueError: It has another shape.
    """
    return "data:image/png;base64," + base64.b64encode(png_bytes(image)).decode()


def png_bytes(image: npt.ArrayLike) -> bytes:
    """Encode an image as PNG. Numbers outside 0 to 1 are shown as 0 or 1.

    Args:
        image: ``[h, w]`` grey or ``[h, w, 3]`` colour, between 0 and 1, or bytes.

    Raises:
        ValueError: It has another shape.
    """
    pixels = _as_bytes(np.asarray(image))
    if pixels.ndim not in (2, 3) or pixels.shape[2:] not in ((), (3,)) or pixels.size == 0:
        raise ValueError(f"An image must be [h, w] or [h, w, 3], got shape {pixels.shape}.")
    height, width = pixels.shape[:2]
    colour_type = 0 if pixels.ndim == 2 else 2
    rows = pixels.reshape(height, -1)
    filtered = np.concatenate([np.zeros((height, 1), np.uint8), rows], axis=1)  # filter 0 before each row
    header = struct.pack(">IIBBBBB", width, height, 8, colour_type, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n"
        + _chunk(b"IHDR", header)
        + _chunk(b"IDAT", zlib.compress(filtered.tobytes(), 9))
        + _chunk(b"IEND", b"")
    )


def _as_bytes(image: npt.NDArray[Any]) -> npt.NDArray[np.uint8]:
    if image.dtype == np.uint8:
        return image
    return (np.clip(image.astype(np.float64), 0, 1) * 255).round().astype(np.uint8)


def _chunk(kind: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))
