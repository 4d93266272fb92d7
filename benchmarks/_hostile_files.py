"""Tables, arrays and objects that nobody would wish for."""

import gzip
import io
import pickle
import struct
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from _hostile_pictures import picture


class Payload:
    """An object whose unpickling writes a file."""

    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def __reduce__(self) -> tuple[Any, ...]:
        return (Path.touch, (self.mark,))


def hostile_files(seed: int, mark: Path) -> Iterator[tuple[str, bytes]]:
    """Name and content of each file.

    Args:
        seed: What the damage comes from.
        mark: The file that is there if anything was executed.
    """
    generator = np.random.default_rng(seed)
    for name, whole in _whole_files(generator).items():
        for share in (0.001, 0.05, 0.3, 0.6, 0.9, 0.99):
            yield f"cut at {share:g} {name}", whole[: max(1, int(len(whole) * share))]
        yield f"without its end {name}", whole[:-1]
        yield f"empty {name}", b""
        yield f"a head and noise {name}", whole[:16] + generator.bytes(3000)
        yield f"a head and zeros {name}", whole[:16] + bytes(3000)
        for k in range(5):
            damaged = bytearray(whole)
            for place in generator.integers(0, len(damaged), 5):
                damaged[place] = generator.integers(256)
            yield f"flipped {k} {name}", bytes(damaged)
        yield f"a web page {name}", b"<html><script>alert(1)</script></html>"
        yield f"of another kind {name}", picture()
    payload = pickle.dumps(Payload(mark))
    yield "pickle.npy", payload
    yield "pickle.npz", payload
    yield "pickle.pkl", payload
    yield "pickle.pt", payload
    yield "pickle.csv", payload
    yield "pickle.parquet", payload
    yield from _lies(mark)
    yield from _texts()
    yield from _odd_parquet()


def _bytes(write: Any, *arguments: Any, **options: Any) -> bytes:
    content = io.BytesIO()
    write(content, *arguments, **options)
    return content.getvalue()


def _parquet(**columns: Any) -> bytes:
    content = io.BytesIO()
    pq.write_table(pa.table(columns), content)
    return content.getvalue()


def _whole_files(generator: np.random.Generator) -> dict[str, bytes]:
    pixels = generator.integers(0, 256, (30, 10, 10), dtype=np.uint8)
    numbers = generator.normal(size=(60, 5))
    idx = struct.pack(">HBB3I", 0, 8, 3, *pixels.shape) + pixels.tobytes()
    cells = [{"bytes": picture(seed=i, side=12), "path": f"{i}.png"} for i in range(20)]
    text = "a,b,c,d,e\n" + "\n".join(",".join(f"{x:.4f}" for x in row) for row in numbers)
    return {
        "array.npy": _bytes(np.save, numbers),
        "archive.npz": _bytes(np.savez_compressed, x=pixels),
        "pictures.parquet": _parquet(image=cells),
        "numbers.parquet": _parquet(a=numbers[:, 0], b=numbers[:, 1]),
        "rows.csv": text.encode(),
        "rows.csv.gz": gzip.compress(text.encode()),
        "digits-idx3-ubyte": idx,
        "digits-idx3-ubyte.gz": gzip.compress(idx),
    }


def _lies(mark: Path) -> Iterator[tuple[str, bytes]]:
    """Files that speak of more than they hold, or hold objects."""
    yield "objects.npy", _bytes(np.save, np.array([Payload(mark)], dtype=object), allow_pickle=True)
    yield "objects.npz", _bytes(np.savez, x=np.array([Payload(mark)], dtype=object))
    head = "{'descr': '<f8', 'fortran_order': False, 'shape': %s, }"
    for k, shape in enumerate(
        ["(10**15, 10**9)", "(99999999999, 99999)", "(-1,)", "()", "(2**70,)", "[1]", "(1e9,)"]
    ):
        line = (head % shape).ljust(117) + "\n"
        yield f"shape {k}.npy", b"\x93NUMPY\1\0" + struct.pack("<H", len(line)) + line.encode()
    for k, kind in enumerate(
        ["'|O'", "'<U9'", "'<M8[s]'", "[('a', '<f8')]", "'<c16'", "__import__('os')", "'V9'"]
    ):
        line = f"{{'descr': {kind}, 'fortran_order': False, 'shape': (3,), }}".ljust(117) + "\n"
        yield f"dtype {k}.npy", b"\x93NUMPY\1\0" + struct.pack("<H", len(line)) + line.encode() + bytes(99)
    for sizes in ((2**32 - 1, 2**32 - 1, 2**32 - 1), (2**32 - 1, 1, 1), (0, 28, 28), (5, 0, 0)):
        idx = struct.pack(">HBB3I", 0, 8, 3, *sizes)
        yield f"{'x'.join(map(str, sizes))}.idx", idx
        yield f"{'x'.join(map(str, sizes))}.idx.gz", gzip.compress(idx)
    yield "labels-idx1-ubyte", struct.pack(">HBBI", 0, 8, 1, 9) + bytes(9)
    yield "many axes.idx", struct.pack(">HBB", 0, 8, 255) + b"\0\0\0\1" * 255
    yield "a bomb.csv.gz", gzip.compress(b"1,2\n" * 300_000)
    yield "a bomb of zeros.csv.gz", gzip.compress(bytes(1 << 28))
    yield "a bomb.idx.gz", gzip.compress(struct.pack(">HBB2I", 0, 8, 2, 2, 9) + bytes(1 << 28))
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        for k in range(2000):
            archive.writestr(f"../../x{k}.npy", b"")
    yield "paths that lead out.npz", content.getvalue()
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("x.npy", _bytes(np.save, np.zeros(1 << 25)))
    yield "256 MiB of zeros.npz", content.getvalue()


def _texts() -> Iterator[tuple[str, bytes]]:
    """CSV as it comes."""
    wide = ",".join(f"c{i}" for i in range(20_000))
    cases = {
        "only a head": b"a,b,c\n",
        "only commas": b",,,\n,,,\n",
        "one line without an end": b"1," * 2_000_000,
        "one cell of 20 MB": b"a\n" + b"9" * 20_000_000,
        "20,000 columns": (wide + "\n" + ",".join(["1"] * 20_000)).encode(),
        "zero bytes": b"a,b\n1,\0\n",
        "quotes": b'a,b\n"1,2\n3,4\n',
        "more quotes": b'a,b\n""1"",2\n3,"4""\n' * 99,
        "ragged": b"a,b\n" + b"".join(b",".join([b"1"] * (k % 7)) + b"\n" for k in range(999)),
        "mixed": b"a,b\n1,x\ny,2\n3,4\n",
        "formulas": b"a,b\n=1+1,2\n@SUM(1),3\n4,5\n5,6\n7,8\n",
        "scripts": b"<script>alert(1)</script>,b\n1,2\n",
        "twice the same name": b"a,a\n1,2\n",
        "no names": b",,\n1,2,3\n",
        "infinite": b"a\ninf\n-inf\nnan\n1e999\n",
        "huge numbers": b"a\n1e300\n" + b"9" * 400 + b"\n",
        "half of UTF-16": "a,b\n1,2\n".encode("utf-16")[:-1],
        "a mark and nothing": b"\xef\xbb\xbf",
        "no UTF-8": b"a,b\xff\n1,2\n",
        "carriage returns": b"a,b\r1,2\r3,4\r",
        "nothing but empty lines": b"\n" * 100_000,
        "hex and booleans": b"a,b\n0x1F,true\n0x2A,false\n",
        "dates": b"a\n2020-01-01\n2021-01-01\n",
        "underscores": b"a\n1_000\n2_000\n",
        "other digits": "a\n\u0661\u0662\n\u0663\n".encode(),
    }
    for name, content in cases.items():
        yield f"{name}.csv", content


def _odd_parquet() -> Iterator[tuple[str, bytes]]:
    """Tables that can be read, but hold what can't be used."""
    struct_ = pa.struct({"bytes": pa.binary(), "path": pa.string()})
    cells = {
        "only paths": pa.array([{"bytes": None, "path": "/etc/passwd"}] * 5, struct_),
        "only nothing": pa.array([None] * 5, struct_),
        "text for pictures": pa.array([{"bytes": b"<script>", "path": "<script>"}] * 5, struct_),
        "empty pictures": pa.array([{"bytes": b"", "path": "../../x"}] * 5, struct_),
        "one giant cell": pa.array([{"bytes": bytes(1 << 26), "path": "x"}], struct_),
        "null": pa.nulls(5),
        "text": pa.array(["a"] * 5),
        "times": pa.array([1] * 5, pa.timestamp("ns")),
        "ragged lists": pa.array([[1], [1, 2], [], None, [None]]),
        "deep lists": pa.array([[[[[[1.0]]]]]] * 5),
        "maps": pa.array([[("a", 1)]] * 5, pa.map_(pa.string(), pa.int64())),
        "categories": pa.array(["a", "b"] * 5).dictionary_encode(),
        "nan": pa.array([float("nan")] * 5),
        "whole numbers beyond floats": pa.array([2**64 - 1] * 5, pa.uint64()),
        "halves": pa.array(np.array([1, np.inf], dtype=np.float16)),
    }
    for name, column in cells.items():
        yield f"{name}.parquet", _parquet(x=column)
    yield "no columns.parquet", _bytes(lambda file: pq.write_table(pa.table({}), file))
    yield "no rows.parquet", _parquet(x=pa.array([], pa.float64()))
    yield (
        "strange names.parquet",
        _parquet(**{"": [1], "<script>": [2], "a.b": [3], "\n": [4], "id": ["\u202e"]}),
    )
    yield "a million equal rows.parquet", _parquet(x=np.zeros(1_000_000), y=np.zeros(1_000_000))


class Hostile:
    """A data set whose items do as a function says."""

    def __init__(self, item: Any, count: int = 20) -> None:
        self.item, self.count = item, count

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, i: int) -> Any:
        return self.item(i)


def hostile_objects() -> Iterator[tuple[str, Any]]:
    """Objects to open."""

    def raising(i: int) -> Any:
        raise RuntimeError("<script>alert(1)</script>")

    def recursing(i: int) -> Any:
        return recursing(i)

    yield "raises", Hostile(raising)
    yield "recurses", Hostile(recursing)
    yield "raises at times", Hostile(lambda i: raising(i) if i % 3 else np.arange(4.0))
    yield "other shapes", Hostile(lambda i: np.zeros(i + 1))
    yield "other types", Hostile(lambda i: [None, "x", {}, (), np.ones(3), object(), 3, b"1", ...][i % 9])
    yield "nan", Hostile(lambda i: np.full(3, np.nan))
    yield "empty", Hostile(lambda i: None, 0)
    yield "objects", Hostile(lambda i: np.array([{}], dtype=object))
    yield "text array", np.array(["a", "b"])
    yield "an array of nothing", np.zeros((0, 3))
    yield "a number", np.array(3)
    yield "a complex array", np.zeros(3, dtype=complex)
    yield "a record array", np.zeros(3, dtype=[("a", float)])
    yield "none", None
    yield "a generator", (i for i in range(3))
    yield "a set", {1, 2}
    yield "splits", {"train": 1}
    yield "a name with a zero", "a\0b"
    yield "a name too long", "a" * 100_000
    yield "no name", ""
