r"""Scores: how each sample moved the loss of each query.

The sign and the unit are the same for every method and are stated here once. **A positive score is a
proponent: training on the sample lowered the loss of the query.** A negative one is an opponent. The
unit is that of the query's loss, whose change is predicted, unless the scores say otherwise. A method
without training says in `Scores.meaning` what leaving a sample out does instead; the sign stays.
"""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from proponent.storage import read_json, whole_file, write_json

if TYPE_CHECKING:
    import polars as pl

FloatArray = npt.NDArray[np.floating[Any]]
IdArray = npt.NDArray[Any]
Positions = npt.NDArray[np.intp]

_METADATA_KEY = b"proponent"

# What scores say where nothing else is said of them.
ON_QUERIES = "positive: training on the sample lowered the query's loss"
ON_THEMSELVES = "high: the model leans on this very sample for its loss"


@dataclass(frozen=True, eq=False)
class Ranking:
    """The first k samples for each query, or of all samples, and their scores.

    Attributes:
        ids: Sample ids, ``[q, k]``, or ``[k]`` where there are no queries.
        values: Their scores, of the same shape.
        query_ids: The queries, ``[q]``, or none.
    """

    ids: IdArray
    values: FloatArray
    query_ids: IdArray | None = None

    def to_pandas(self) -> pd.DataFrame:
        """One row a pair: query (where there are any), rank from 0, id, score."""
        ranks = np.arange(self.ids.shape[-1])
        columns: dict[str, IdArray] = {}
        if self.query_ids is not None:
            columns["query"] = np.repeat(self.query_ids, len(ranks))
            ranks = np.tile(ranks, len(self.query_ids))
        columns |= {"rank": ranks, "id": self.ids.ravel(), "score": self.values.ravel()}
        return pd.DataFrame(columns)


@dataclass(frozen=True, eq=False, repr=False)
class Scores:
    """What each sample did to the loss of each query, or of itself.

    Positive means proponent: training on the sample lowered the query's loss.

    >>> scores = Scores(np.array([[0.5, -1.0], [2.0, 0.0]]), query_ids=np.array(["a", "b"]))
    >>> scores.proponents(1).ids
    array([[1],
           [1]])
    >>> scores.opponents(1).values
    array([[ 0.5],
           [-1. ]])
    >>> scores
    Scores of 2 samples on 2 queries in nats; positive: training on the sample lowered the query's loss

    Attributes:
        values: ``[n, q]``, or ``[n]`` for self-influence.
        ids: Sample ids; positions 0 to n-1 unless given.
        query_ids: Query ids, for a matrix; positions unless given.
        unit: What a value of 1 means.
        method: The method's name.
        standard_errors: Of each value, where they were asked for.
        facts: What else belongs to the scores and fits in JSON: coverage, checks, draws, seed.
        meaning: What the sign or the size of a score says, in words; the words of training unless given.
    """

    values: FloatArray
    ids: IdArray = field(default=None)  # type: ignore[arg-type]
    query_ids: IdArray | None = None
    unit: str = "nats"
    method: str = ""
    standard_errors: FloatArray | None = None
    facts: Mapping[str, Any] = field(default_factory=dict)
    meaning: str = ""

    def __post_init__(self) -> None:
        if self.values.ndim not in (1, 2):
            raise ValueError(f"`values` must be [n] or [n, q], got an array of {self.values.ndim} axes.")
        object.__setattr__(self, "ids", check_ids(self.ids, self.values.shape[0]))
        if self.values.ndim == 2:
            queries = check_ids(self.query_ids, self.values.shape[1], "query_ids")
            object.__setattr__(self, "query_ids", queries)
        elif self.query_ids is not None:
            raise ValueError("`query_ids` belong to a matrix [n, q], but `values` is a vector [n].")
        if self.standard_errors is not None and self.standard_errors.shape != self.values.shape:
            raise ValueError(
                f"`standard_errors` must have the shape of `values`, {self.values.shape}, "
                f"got {self.standard_errors.shape}."
            )
        if not self.meaning:
            object.__setattr__(self, "meaning", ON_THEMSELVES if self.query_ids is None else ON_QUERIES)

    def __len__(self) -> int:
        return len(self.ids)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> FloatArray:
        return np.array(self.values, dtype=dtype, copy=copy)

    def __repr__(self) -> str:
        method = f"{self.method} scores" if self.method else "Scores"
        n = f"{len(self)} sample{'s' * (len(self) != 1)}"
        if self.query_ids is None:
            return f"{method} of {n} on themselves in {self.unit}; {self.meaning}"
        q = f"{len(self.query_ids)} quer{'ies' if len(self.query_ids) != 1 else 'y'}"
        return f"{method} of {n} on {q} in {self.unit}; {self.meaning}"

    def proponents(self, k: int) -> Ranking:
        """The k samples with the highest scores, for every query; ties in the order of the samples."""
        return self._first(-self.values, k)

    def opponents(self, k: int) -> Ranking:
        """The k samples with the lowest scores, for every query; ties in the order of the samples."""
        return self._first(self.values, k)

    def ranks(self) -> Positions:
        """The rank of every sample, 0 for the strongest proponent, in the shape of `values`."""
        order = np.argsort(-self.values, axis=0, kind="stable")
        ranks = np.empty_like(order)
        positions = np.arange(len(self)).reshape(-1, *[1] * (self.values.ndim - 1))
        np.put_along_axis(ranks, order, np.broadcast_to(positions, order.shape), axis=0)
        return ranks

    def to_pandas(self) -> pd.DataFrame:
        """A frame with one row a sample: id, score and standard error; or a matrix with a column a query.

        The standard errors of a matrix are not in the frame; they are in `standard_errors`.
        """
        if self.query_ids is not None:
            return pd.DataFrame(
                self.values,
                index=pd.Index(self.ids, name="id"),
                columns=pd.Index(self.query_ids, name="query"),
            )
        columns: dict[str, IdArray] = {"id": self.ids, "score": self.values}
        if self.standard_errors is not None:
            columns["standard_error"] = self.standard_errors
        return pd.DataFrame(columns)

    def to_polars(self) -> "pl.DataFrame":
        """The same as a polars frame; a matrix gets an ``id`` column and one named after each query.

        Raises:
            ValueError: A query's name is ``id``, or two have the same text, such as 1 and "1".
        """
        import polars as pl

        if self.query_ids is None:
            return pl.from_pandas(self.to_pandas())
        names = [str(query) for query in self.query_ids]
        if found := _most_frequent(["id", *names]):
            raise ValueError(
                "`query_ids` must have different texts, none of them `id`, to name the columns of a frame, "
                f"but `{found[0]}` occurs {found[1]} times. Use `to_pandas`."
            )
        columns = {"id": self.ids} | dict(zip(names, self.values.T, strict=True))
        return pl.DataFrame(columns)

    def save(self, path: str | Path) -> Path:
        """Write the scores: a vector to ``.parquet``, a matrix to ``.npy``.

        Beside a matrix stand its ids and facts, ``NAME.json``, and its standard errors,
        ``NAME.standard_errors.npy``, where it has them.

        Returns:
            The path.
        """
        path = Path(path)
        expected = ".parquet" if self.query_ids is None else ".npy"
        if path.suffix != expected:
            what = "a vector" if self.query_ids is None else "a matrix"
            raise ValueError(f"Scores that are {what} go to a `{expected}` file, got `{path.name}`.")
        facts = {
            "unit": self.unit,
            "method": self.method,
            "meaning": self.meaning,
            "facts": dict(self.facts),
        }
        if self.query_ids is None:
            write_table(path, self.to_pandas(), facts)
            return path
        errors = path.with_suffix(".standard_errors.npy")
        if self.standard_errors is None:
            errors.unlink(missing_ok=True)
        else:
            _save_array(errors, self.standard_errors)
        _save_array(path, self.values)
        # Last, so that a record never speaks of an array that is not there.
        write_json(
            path.with_suffix(".json"),
            facts | {"ids": self.ids.tolist(), "query_ids": self.query_ids.tolist()},
        )
        return path

    @classmethod
    def load(cls, path: str | Path) -> "Scores":
        """Read what `save` wrote; a matrix is mapped into memory, not read.

        Raises:
            FileNotFoundError: The file, or the record beside a matrix, is not there.
            ValueError: It is not a file of scores, or was cut short.
        """
        path = Path(path)
        if not path.exists():
            raise FileNotFoundError(f"There are no scores at `{path}`.")
        if path.suffix == ".parquet":
            return _load_vector(path)
        if path.suffix != ".npy":
            raise ValueError(f"Scores are `.parquet` or `.npy` files, got `{path.name}`.")
        record = read_json(path.with_suffix(".json"))
        errors = path.with_suffix(".standard_errors.npy")
        try:
            values = np.load(path, mmap_mode="r", allow_pickle=False)
            standard_errors = np.load(errors, mmap_mode="r") if errors.exists() else None
        except (ValueError, EOFError, OSError) as error:
            raise ValueError(f"`{path}` was cut short or is not an array: {error}.") from error
        return cls(
            values=values,
            ids=np.asarray(record["ids"]),
            query_ids=np.asarray(record["query_ids"]),
            unit=record["unit"],
            method=record["method"],
            standard_errors=standard_errors,
            facts=record["facts"],
            meaning=record.get("meaning", ""),
        )

    def _first(self, keys: FloatArray, k: int) -> Ranking:
        if not 1 <= k <= len(self):
            raise ValueError(f"`k` must be between 1 and the {len(self)} samples, got {k}.")
        order = np.argsort(keys, axis=0, kind="stable")[:k]
        return Ranking(self.ids[order.T], np.take_along_axis(self.values, order, 0).T, self.query_ids)


def check_ids(ids: Sequence[Any] | IdArray | None, count: int, name: str = "ids") -> IdArray:
    """Make an array of ids; positions where there are none.

    >>> check_ids(["a", "b"], 2), check_ids(None, 3)
    (array(['a', 'b'], dtype='<U1'), array([0, 1, 2]))

    Args:
        ids: One a sample, or one a query.
        count: How many there must be.
        name: Of the argument, for messages.

    Raises:
        ValueError: There are more or fewer of them, or one occurs twice.
    """
    if ids is None:
        return np.arange(count)
    array = np.asarray(ids)
    if array.shape != (count,):
        raise ValueError(f"`{name}` must be {count} ids in one axis, got shape {array.shape}.")
    _check_different(array, name)
    return array


def _check_different(ids: IdArray, name: str) -> None:
    """Refuse ids of which one occurs twice.

    Raises:
        ValueError: Names the id.
    """
    if ids.dtype.kind in "iu":  # a million positions in a hundredth of the time
        rising = np.sort(ids)
        if (rising[1:] != rising[:-1]).all():
            return
    if found := _most_frequent(ids.tolist()):
        raise ValueError(
            f"`{name}` must be different, but {found[0]} occurs {found[1]} times. "
            "Leave them out to use positions."
        )


def _most_frequent(values: list[Any]) -> tuple[Any, int] | None:
    """The value that occurs most often, and how often; none if each occurs once."""
    value, count = max(Counter(values).items(), key=itemgetter(1), default=(None, 0))
    return (value, count) if count > 1 else None


def _save_array(path: Path, array: FloatArray) -> None:
    with whole_file(path) as temporary:
        np.save(temporary, array, allow_pickle=False)


def write_table(path: Path, frame: pd.DataFrame, record: Mapping[str, Any]) -> None:
    """Write a frame to a Parquet file, with a record, fit for JSON, in its metadata."""
    table = pa.Table.from_pandas(frame, preserve_index=False)
    kept = table.schema.metadata or {}
    table = table.replace_schema_metadata({**kept, _METADATA_KEY: json.dumps(record).encode()})
    with whole_file(path) as temporary:
        pq.write_table(table, temporary)


def read_table(path: Path) -> tuple[pa.Table, dict[str, Any]]:
    """Read what `write_table` wrote: the table and the record.

    Raises:
        FileNotFoundError: The file is not there.
        ValueError: It was cut short, or this library did not write it.
    """
    if not path.exists():
        raise FileNotFoundError(f"There are no scores at `{path}`.")
    try:
        table = pq.read_table(path)
    except pa.ArrowInvalid as error:
        raise ValueError(f"`{path}` was cut short or is not a Parquet file: {error}.") from error
    metadata = table.schema.metadata or {}
    if _METADATA_KEY not in metadata:
        raise ValueError(
            f"`{path}` is a Parquet file, but its metadata has no `proponent` key: it does not hold scores "
            "that this library wrote."
        )
    return table, json.loads(metadata[_METADATA_KEY])


def _load_vector(path: Path) -> Scores:
    table, record = read_table(path)
    frame = table.to_pandas()
    if "side" in frame:
        raise ValueError(f"`{path}` holds the strongest scores alone: read it by `TopScores.load`.")
    errors = frame["standard_error"].to_numpy() if "standard_error" in frame else None
    return Scores(
        values=frame["score"].to_numpy(),
        ids=frame["id"].to_numpy(),
        unit=record["unit"],
        method=record["method"],
        standard_errors=errors,
        facts=record["facts"],
        meaning=record.get("meaning", ""),
    )
