"""Small real files of every form, made in the test."""

import gzip
import io
import struct

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from PIL import Image


def make_image(height, width, channels=3, seed=0):
    shape = (height, width, channels) if channels > 1 else (height, width)
    return Image.fromarray(np.random.default_rng(seed).integers(0, 256, shape, dtype=np.uint8))


def encoded(image, form="PNG", **options):
    content = io.BytesIO()
    image.save(content, form, **options)
    return content.getvalue()


def write_pictures(folder, count=5, height=20, width=20, channels=3, form="PNG", seed=0):
    """Pictures of noise, `0.png` and on."""
    folder.mkdir(parents=True, exist_ok=True)
    for i in range(count):
        name = f"{i}.{'jpg' if form == 'JPEG' else form.lower()}"
        (folder / name).write_bytes(encoded(make_image(height, width, channels, seed + i), form))
    return folder


def write_hub_parquet(path, contents, paths=None, **others):
    """A table in the layout of the Hugging Face hub."""
    paths = paths or [None] * len(contents)
    cells = [None if c is Ellipsis else {"bytes": c, "path": p} for c, p in zip(contents, paths, strict=True)]
    type_ = pa.struct({"bytes": pa.binary(), "path": pa.string()})
    pq.write_table(pa.table({"image": pa.array(cells, type_), **others}), path, row_group_size=7)
    return path


def idx_bytes(array, code=8):
    head = struct.pack(f">HBB{array.ndim}I", 0, code, array.ndim, *array.shape)
    return head + array.tobytes()


def write_idx(path, array, code=8):
    content = idx_bytes(array, code)
    path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)
    return path


def reasons(data):
    return {item.id: item.reason for item in data.left_aside}
