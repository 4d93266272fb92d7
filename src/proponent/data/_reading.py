"""From a source to a `DataSet`, read now or kept in a cache."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from proponent.data._cache import Cache
from proponent.data._changes import check_files, check_items, probed
from proponent.data._data_set import DataSet
from proponent.data._gather import Gathered, Progress, decoding_pool, gather, name_of
from proponent.data._hashes import group_duplicates, hash_listing
from proponent.data._ids import make_ids, printable
from proponent.data._left_aside import LeftAside
from proponent.data._source import FileStamp, Source
from proponent.data._sources import Asked, find_source


def read_data(source: Any, cache: str | Path | None, asked: Asked, progress: Progress | None) -> DataSet:
    """Read a source, or take up what a cache has of it.

    Args:
        source: A path or an object.
        cache: A folder for what was read.
        asked: The settings.
        progress: Told how many samples are done, and how many there are.

    Raises:
        ValueError: The cache is damaged, or holds other data or data read in another way.
    """
    found, is_random = find_source(source, asked)
    if cache is None:
        return _data_set(found, gather(found, None, progress), is_random)
    folder = Cache(Path(cache))
    if folder.path.exists() and not folder.path.is_dir():
        raise ValueError(f"`cache` must be a folder, but `{folder.path}` is a file. Name another.")
    if folder.is_finished():
        data = _taken_up(found, folder)
        if progress is not None:
            progress(len(found), len(found))
        return data
    data = _data_set(found, gather(found, folder, progress), is_random)
    _keep(data, found, folder)
    return data


def _data_set(source: Source, gathered: Gathered, is_random: bool) -> DataSet:
    keys = [key for block in gathered.blocks for key in block.keys]
    hashes = [content for block in gathered.blocks for content in block.hashes]
    positions = np.concatenate([block.positions for block in gathered.blocks])
    ids = make_ids(keys, hashes)
    facts = {
        name: np.concatenate([block.facts[name] for block in gathered.blocks])
        for name in next(iter(gathered.blocks)).facts
    }
    captions = [printable(name_of(source, int(i), key)) for i, key in zip(positions, keys, strict=True)]
    return DataSet(
        kind=source.kind,
        ids=_texts(ids),
        values=gathered.values,
        captions=_texts(captions),
        hashes=_texts(hashes),
        duplicates=group_duplicates(hashes),
        left_aside=gathered.left_aside,
        columns=source.columns,
        fingerprint=hash_listing(ids, hashes),
        source=dict(source.options),
        notes=tuple(source.notes(gathered.blocks)),
        is_random=is_random,
        positions=positions,
        facts=facts,
        _opened=source,
    )


def _keep(data: DataSet, source: Source, cache: Cache) -> None:
    """Write the finished record; the samples themselves stand there already, or stay in the source."""
    known = {"id": data.ids, "caption": data.captions, "hash": data.hashes, "position": data.positions}
    columns = {name: pa.array(values.tolist()) for name, values in known.items()}
    cache.write_table(columns | {f"fact_{name}": pa.array(values) for name, values in data.facts.items()})
    cache.write_stamps(_stamps(data, source))
    cache.write_record(
        {
            "kind": data.kind,
            "count": len(source),
            "source": dict(data.source),
            "columns": list(data.columns),
            "fingerprint": data.fingerprint,
            "notes": list(data.notes),
            "is_random": data.is_random,
            "left_aside": [[item.id, item.reason] for item in data.left_aside],
        }
    )


def _stamps(data: DataSet, source: Source) -> list[tuple[FileStamp, str]]:
    files = source.files()
    if source.options.get("form") == "folder":
        by_position = dict(zip(data.positions.tolist(), data.hashes.tolist(), strict=True))
        return [(stamp, by_position.get(i, "")) for i, stamp in enumerate(files)]
    return [(stamp, source.file_hash(stamp.name)) for stamp in files]


def _taken_up(source: Source, cache: Cache) -> DataSet:
    """The data set that a cache holds, if the source is still the same."""
    record = cache.read_record()
    _check_options(record["source"], source.options, cache)
    table = cache.read_table()
    hashes = _texts(table["hash"].to_pylist())
    positions = table["position"].to_numpy().astype(np.int64)
    then = cache.read_stamps()
    if then:
        if not check_files(source, then, cache.path):
            contents = {stamp.name: content for stamp, content in then}
            cache.write_stamps([(stamp, contents[stamp.name]) for stamp in source.files()])
    elif not record["is_random"]:  # such data are never the same; what was read is kept
        _check_object(source, record["count"], positions.tolist(), hashes.tolist(), cache)
    values = _kept_values(source, table, cache)
    facts = [name for name in table.column_names if name.startswith("fact_")]
    return DataSet(
        kind=record["kind"],
        ids=_texts(table["id"].to_pylist()),
        values=values,
        captions=_texts(table["caption"].to_pylist()),
        hashes=hashes,
        duplicates=group_duplicates(hashes.tolist()),
        left_aside=tuple(LeftAside(*item) for item in record["left_aside"]),
        columns=tuple(record["columns"]),
        fingerprint=record["fingerprint"],
        source=dict(source.options),
        notes=tuple(record["notes"]),
        is_random=record["is_random"],
        positions=positions,
        facts={name.removeprefix("fact_"): table[name].to_numpy() for name in facts},
        _opened=source,
    )


def _kept_values(source: Source, table: pa.Table, cache: Cache) -> Any:
    values = cache.read_values() if cache.values.exists() else source.direct()
    if values is None or len(values) != len(table):
        found = "are gone" if values is None else f"are {len(values):,}, not {len(table):,}"
        raise ValueError(f"`{cache.path}` is damaged: its samples {found}. Delete it to have it made anew.")
    return values


def _check_options(then: Mapping[str, Any], now: Mapping[str, Any], cache: Cache) -> None:
    differing = [
        f"{name} was {then.get(name)} and is {now.get(name)} now"
        for name in dict.fromkeys((*then, *now))
        if name != "path" and then.get(name) != now.get(name)
    ]
    if differing:
        raise ValueError(
            f"`{cache.path}` holds data that were read in another way: {'; '.join(differing)}. Read them "
            "the same "
            "way, or into another folder."
        )


def _check_object(source: Source, count: int, positions: list[int], hashes: list[str], cache: Cache) -> None:
    if len(source) != count:
        raise ValueError(
            f"The data changed since they were read into `{cache.path}`: {count:,} samples then, "
            f"{len(source):,} "
            "now. Bring the old data back, or read the new ones into another folder."
        )
    places = probed(len(positions))
    with decoding_pool() as pool:
        now = [source.content_hash(positions[i], pool) for i in places]
    check_items(
        [hashes[i] for i in places],
        now,
        [positions[i] for i in places],
        cache.path,
    )


def _texts(texts: Sequence[str]) -> Any:
    """Texts as an array; one very long among many would take its length for each."""
    longest = max(map(len, texts), default=0)
    return np.array(texts, dtype=str if longest * len(texts) < 1 << 26 else object)
