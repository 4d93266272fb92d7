"""Files for a folder of pictures that nobody would wish for, each under the name it is found by."""

import io
import os
import socket
import struct
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from PIL import Image

Maker = Callable[[Path], object]

FORMATS = {
    "jpg": "JPEG",
    "png": "PNG",
    "gif": "GIF",
    "bmp": "BMP",
    "webp": "WEBP",
    "tif": "TIFF",
    "ppm": "PPM",
}
NAMES = (
    "<script>alert(1)<\u2215script>.png",
    "<img src=x onerror=alert(1)>.png",
    '"><svg onload=alert(1)>.png',
    "javascript:alert(1).png",
    "{{7*7}}.png",
    "${jndi:ldap:x}.png",
    "%00.png",
    "%2e%2e%2fetc.png",
    "'; DROP TABLE decisions;--.png",
    "$(touch x).png",
    "`touch x`.png",
    "; rm -rf ~ #.png",
    "-rf.png",
    "--help.png",
    "new\nline.png",
    "car\rriage.png",
    "tab\t.png",
    "bell\x07.png",
    "esc\x1b[31m.png",
    "null\\0.png",
    " .png",
    "\u202egpj.exe.png",
    "\u200bzero width.png",
    "\ufeffbom.png",
    "e\u0301.png",
    "\u00e9.png",
    "\U0001f600.png",
    "a..png",
    "..\\..\\etc\\passwd.png".replace("..", "a..", 1),
    "C:\\x.png",
    "CON.png",
    "a" * 250 + ".png",
    "\U0001f600" * 60 + ".png",
    "a.b.c.d.PNG",
    "UPPER.JPG",
    "id,x\ty.png",
    "=cmd|' C calc'!A0.png",
    "+1+1.png",
    "@SUM(1).png",
    "sha256:00.png",
    "nan.png",
)
RAW_NAMES = (b"\xff\xfe.png", b"caf\xe9.png", b"\xed\xa0\x80.png", b"\xc0\xaf.png")


def picture(form: str = "PNG", seed: int = 0, side: int = 24) -> bytes:
    """A picture of noise, encoded."""
    pixels = np.random.default_rng(seed).integers(0, 256, (side, side, 3), dtype=np.uint8)
    content = io.BytesIO()
    Image.fromarray(pixels).save(content, form)
    return content.getvalue()


def hostile_pictures(seed: int) -> Iterator[tuple[str | bytes, Maker]]:
    """Name and maker of each file.

    Args:
        seed: What the damage comes from.
    """
    generator = np.random.default_rng(seed)
    for suffix, form in FORMATS.items():
        whole = picture(form)
        for share in (0.01, 0.1, 0.3, 0.5, 0.8, 0.95):
            yield f"cut at {share:g}.{suffix}", _writer(whole[: int(len(whole) * share)])
        yield f"one byte.{suffix}", _writer(whole[:1])
        yield f"without its end.{suffix}", _writer(whole[:-1])
        yield f"with a tail.{suffix}", _writer(whole + b"<script>alert(1)</script>" * 99)
        yield f"a head and noise.{suffix}", _writer(whole[:40] + generator.bytes(2000))
        yield f"a head and zeros.{suffix}", _writer(whole[:40] + bytes(2000))
        yield f"empty.{suffix}", _writer(b"")
        yield f"zeros.{suffix}", _writer(bytes(1000))
        yield f"noise.{suffix}", _writer(generator.bytes(1000))
        for k in range(8):
            damaged = bytearray(whole)
            for place in generator.integers(0, min(len(damaged), 400 if k % 2 else len(damaged)), 6):
                damaged[place] = generator.integers(256)
            yield f"flipped {k}.{suffix}", _writer(bytes(damaged))
        yield f"a web page.{suffix}", _writer(b"<html><script>alert(1)</script></html>")
        yield f"a program.{suffix}", _writer(b"\x7fELF\x02\x01\x01" + generator.bytes(300))
    for name, content in {**_giants(), **_bombs(), **_disguises()}.items():
        yield name, _writer(content)
    for name in (*NAMES, *RAW_NAMES):
        yield name, _writer(picture(seed=len(name)))
    yield from _no_files()


def _writer(content: bytes) -> Maker:
    return lambda path: path.write_bytes(content)


def _chunk(name: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))


def _png(width: int, height: int, *chunks: bytes, depth: int = 8, colour: int = 2) -> bytes:
    head = _chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, depth, colour, 0, 0, 0))
    return b"\x89PNG\r\n\x1a\n" + head + b"".join(chunks) + _chunk(b"IEND", b"")


def _tag(number: int, value: int) -> bytes:
    return struct.pack("<HHII", number, 4, 1, value)


def _giants() -> dict[str, bytes]:
    """Heads that speak of more pixels than any memory holds."""
    data = _chunk(b"IDAT", zlib.compress(bytes(1000)))
    bitmap = bytearray(picture("BMP"))
    bitmap[18:26] = struct.pack("<ii", 2**30, 2**30)
    gif = bytearray(picture("GIF"))
    gif[6:10] = struct.pack("<HH", 65535, 65535)
    jpeg = bytearray(picture("JPEG"))
    frame = jpeg.index(b"\xff\xc0")
    jpeg[frame + 5 : frame + 9] = struct.pack(">HH", 65535, 65535)
    return {
        "giant.png": _png(2**31 - 1, 2**31 - 1, data),
        "wide.png": _png(2**31 - 1, 1, data),
        "tall.png": _png(1, 2**31 - 1, data),
        "large.png": _png(10_000, 10_000, data),
        "just allowed, but cut.png": _png(9_000, 9_000, data, colour=0),
        "no pixels.png": _png(0, 0, data),
        "giant.bmp": bytes(bitmap),
        "giant.gif": bytes(gif),
        "giant.jpg": bytes(jpeg),
        "giant.ppm": b"P6 99999999 99999999 255\n123",
        "negative.ppm": b"P6 -5 -5 255\n123",
        "endless number.ppm": b"P6 " + b"9" * 10_000 + b" 5 255\n",
        "giant.tif": b"II*\0\x08\0\0\0\2\0" + _tag(256, 2**31 - 1) + _tag(257, 2**31 - 1) + bytes(4),
        "ring of directories.tif": b"II*\0\x08\0\0\0\0\0\x08\0\0\0",
    }


def _bombs() -> dict[str, bytes]:
    """Little that unpacks to much."""
    row = zlib.compress(bytes(8_000 * 8_001), 9)
    text = zlib.compress(b"a" * (1 << 26), 9)
    many = [Image.new("L", (24, 24), i % 256) for i in range(300)]
    frames = io.BytesIO()
    many[0].save(frames, "GIF", save_all=True, append_images=many[1:])
    return {
        "64 million pixels of nothing.png": _png(8_000, 8_000, _chunk(b"IDAT", row), colour=0),
        "more data than pixels.png": _png(8, 8, _chunk(b"IDAT", row), colour=0),
        "text of 64 MiB.png": _png(8, 8, _chunk(b"zTXt", b"a\0\0" + text), _chunk(b"IDAT", b"")),
        "international text of 64 MiB.png": _png(8, 8, _chunk(b"iTXt", b"a\0\1\0\0\0" + text)),
        "a profile of 64 MiB.png": _png(8, 8, _chunk(b"iCCP", b"a\0\0" + text), _chunk(b"IDAT", b"")),
        "a thousand texts.png": _png(8, 8, *[_chunk(b"tEXt", b"a\0" + b"b" * 9000)] * 1000),
        "300 frames.gif": frames.getvalue(),
    }


def _disguises() -> dict[str, bytes]:
    """Other things under a picture's name, and pictures in other dress."""
    script = b"<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>"
    entity = b"<?xml version='1.0'?><!DOCTYPE x [<!ENTITY a SYSTEM 'file:///etc/passwd'>]><svg>&a;</svg>"
    notes = io.BytesIO()
    Image.new("RGB", (24, 24)).save(notes, "JPEG", exif=b"Exif\0\0MM\0*\0\0\0\x08" + b"\xff" * 300)
    oversized = io.BytesIO()
    Image.new("RGB", (24, 24)).save(oversized, "JPEG", comment=b"<script>" * 8000)
    return {
        "program.eps": b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n(x) (w) file",
        "program.png": b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n(x) (w) file",
        "script.svg": script,
        "script.png": script,
        "entity.svg": entity,
        "entity.jpg": entity,
        "document.jpg": b"%PDF-1.7\n" + bytes(300),
        "archive.png": b"PK\3\4" + bytes(300),
        "database.png": b"SQLite format 3\0" + bytes(300),
        "pickle.png": b"\x80\4cposix\nsystem\n(S'touch x'\ntR.",
        "picture without a suffix": picture(),
        "really a gif.jpg": picture("GIF"),
        "really a tiff.png": picture("TIFF"),
        "damaged notes.jpg": notes.getvalue(),
        "script in a comment.jpg": oversized.getvalue(),
        "photo.heic": b"\0\0\0\x18ftypheic" + bytes(99),
        "layers.psd": b"8BPS\0\1" + bytes(99),
        "raw.cr2": b"II*\0" + bytes(99),
        "icon.ico": b"\0\0\1\0\1\0" + bytes(99),
        "noise.tga": bytes(18) + b"x" * 99,
        "web.jxl": b"\xff\x0a" + bytes(99),
    }


def _no_files() -> Iterator[tuple[str, Maker]]:
    """Links, pipes, sockets and folders under a picture's name."""
    for name, target in {
        "passwords.png": "/etc/passwd",
        "zeros without end.png": "/dev/zero",
        "noise without end.jpg": "/dev/urandom",
        "memory.png": "/proc/self/mem",
        "root.png": "/",
        "up.png": "..",
        "out": "../..",
        "gone.png": "nothing.png",
        "ring.png": "ring.png",
        "here.png": ".",
        "relative.png": "../../../../../../../../etc/hostname",
    }.items():
        yield name, lambda path, target=target: path.symlink_to(target)  # type: ignore[misc]
    yield "pipe.png", os.mkfifo
    yield "socket.png", lambda path: socket.socket(socket.AF_UNIX).bind(os.path.relpath(path))
    yield "sparse file of 20 GiB.png", _sparse
    yield "sparse file of 20 GiB.jpg", _sparse


def _sparse(path: Path) -> None:
    with path.open("wb") as file:
        file.write(picture())
        file.truncate(20 << 30)
