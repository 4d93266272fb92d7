"""Data that nobody would wish for: broken, gigantic, in disguise, oddly named, or links to elsewhere."""

import os
import resource
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import PIL

from _harness import Benchmark, Outcome, Settings, at_least, at_most
from _hostile_files import hostile_files, hostile_objects
from _hostile_pictures import hostile_pictures, picture
from proponent.data import open_data

EXPECTED = (ValueError, TypeError, FileNotFoundError)
SMOKE = 12  # of so many inputs one is tried


class Tally:
    """What became of the inputs."""

    def __init__(self) -> None:
        self.inputs = self.read = self.left_aside = self.refused = 0
        self.crashes: list[str] = []
        self.unnamed: list[str] = []
        self.slowest = 0.0

    def opened(self, name: str, source: Any, cache: Path, told: Callable[[str], bool]) -> Any:
        """Open a source; what is raised must be expected, and tell what it is about."""
        began = time.perf_counter()
        try:
            return open_data(source, cache)
        except EXPECTED as error:
            self.refused += 1
            if not told(str(error)):
                self.unnamed.append(f"{name}: {error}")
        except BaseException as error:
            self.crashes.append(
                f"{name}: {traceback.format_exc()}" if os.environ.get("TRACE") else f"{name}: {error!r}"
            )
        finally:
            self.slowest = max(self.slowest, time.perf_counter() - began)
        return None


def measure(settings: Settings) -> Outcome:
    """Open everything once, through a cache as a run does, and look at what is said of each."""
    tally = Tally()
    every = SMOKE if settings.smoke else 1
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        mark = folder / "executed"
        _pictures(tally, folder, settings.seed, every)
        _files(tally, folder, mark, settings.seed, every)
        _objects(tally, folder, every)
        executed = mark.exists()
    for kind in ("crashes", "unnamed"):
        for line in getattr(tally, kind):
            print(f"{kind}: {line}", file=sys.stderr)
    return Outcome(
        {
            "inputs": tally.inputs,
            "crashes": len(tally.crashes),
            "not named": len(tally.unnamed),
            "programs executed": int(executed),
            "seconds, slowest source": tally.slowest,
            "usable all the same": tally.read,
            "left aside with a reason": tally.left_aside,
            "refused with a reason": tally.refused,
            "peak memory, GiB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20,
            "pillow": PIL.__version__,
        }
    )


def _pictures(tally: Tally, folder: Path, seed: int, every: int) -> None:
    """All pictures in one folder beside three good ones: each must be read, or left aside with a reason."""
    photos = folder / "photos"
    photos.mkdir()
    for i in range(3):
        (photos / f"good {i}.png").write_bytes(picture(seed=1000 + i))
    names = []
    before = Path.cwd()
    os.chdir(photos)  # the name of a socket must be short
    try:
        for name, make in list(hostile_pictures(seed))[::every]:
            path = Path(os.fsdecode(name)) if isinstance(name, bytes) else Path(name)
            make(path)
            names.append(os.fsencode(path).decode("utf-8", "backslashreplace"))
    finally:
        os.chdir(before)
    tally.inputs += len(names)
    data = tally.opened("photos", photos, folder / "cache", lambda text: False)
    if data is None:
        return
    ids, aside = set(data.ids.tolist()), {item.id: item.reason for item in data.left_aside}
    tally.unnamed += [name for name in names if name not in ids and not aside.get(name)]
    tally.unnamed += [f"good {i}.png" for i in range(3) if f"good {i}.png" not in ids]
    tally.read += sum(name in ids for name in names)
    tally.left_aside += sum(name in aside for name in names)
    for i in range(len(data)):
        data.thumbnail(i)


def _files(tally: Tally, folder: Path, mark: Path, seed: int, every: int) -> None:
    """Each file by itself: read, or refused with its path and a reason."""
    files = folder / "files"
    files.mkdir()
    for k, (name, content) in enumerate(list(hostile_files(seed, mark))[::every]):
        path = files / name
        path.write_bytes(content)
        tally.inputs += 1
        data = tally.opened(name, path, folder / f"file cache {k}", lambda text, name=name: name in text)
        _count(tally, data)
        path.unlink()


def _objects(tally: Tally, folder: Path, every: int) -> None:
    """Each object by itself: read, or refused with a reason."""
    for k, (name, source) in enumerate(list(hostile_objects())[::every]):
        tally.inputs += 1
        _count(tally, tally.opened(name, source, folder / f"object cache {k}", lambda text: len(text) > 20))


def _count(tally: Tally, data: Any) -> None:
    if data is not None:
        tally.read += 1
        tally.left_aside += any(item.reason for item in data.left_aside)
        data.thumbnail(0)
        data.describe(len(data) - 1)


BENCHMARK = Benchmark(
    name="hostile_inputs",
    claim="More than 500 hostile pictures, tables, arrays and objects are read without a crash; each that "
    "can't be used is named with a reason, and nothing in them is executed.",
    goal={
        "inputs": at_least(500),
        "crashes": at_most(0),
        "not named": at_most(0),
        "programs executed": at_most(0),
        "seconds, slowest source": at_most(60),
    },
    measure=measure,
)

if __name__ == "__main__":
    sys.exit(BENCHMARK.main())
