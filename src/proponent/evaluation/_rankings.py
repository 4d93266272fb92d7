"""Several rankings of the same samples, side by side: no single one is always best."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import rankdata

from proponent.scores import FloatArray, IdArray, read_table, write_table


@dataclass(frozen=True, eq=False)
class Rankings:
    """Numbers by which the same samples can be sorted; in all of them the highest is looked at first.

    >>> rankings = Rankings(np.array(["a", "b", "c"]), {"loss": np.array([1.0, 3.0, 2.0])}, "loss")
    >>> rankings.first("loss", 2)
    array(['b', 'c'], dtype='<U1')

    Attributes:
        ids: Of the samples, ``[n]``.
        columns: The numbers by the ranking's name, ``[n]`` each.
        default: The name of the ranking to begin with.
        facts: How they were computed, fit for JSON.
    """

    ids: IdArray
    columns: Mapping[str, FloatArray]
    default: str
    facts: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.default not in self.columns:
            raise ValueError(
                f"`default` must be one of {', '.join(self.columns) or 'the columns'}, got {self.default!r}."
            )
        for name, values in self.columns.items():
            if values.shape != self.ids.shape:
                raise ValueError(
                    f"The ranking `{name}` must have a number for each of the {len(self.ids)} samples, got "
                    f"shape {values.shape}."
                )

    def __len__(self) -> int:
        return len(self.ids)

    def order(self, name: str | None = None) -> Any:
        """The positions of the samples, the one to look at first in front; ties in their order."""
        return np.argsort(-self._column(name), kind="stable")

    def first(self, name: str | None = None, k: int = 10) -> IdArray:
        """The ids of the k samples to look at first."""
        return np.asarray(self.ids[self.order(name)[:k]])

    def correlations(self) -> pd.DataFrame:
        """Spearman's correlation of each ranking with each; of a constant one it is not defined (NaN)."""
        ranks = np.stack([rankdata(values) for values in self.columns.values()])
        centred = ranks - ranks.mean(1, keepdims=True)
        norms = np.sqrt((centred**2).sum(1))
        with np.errstate(invalid="ignore"):
            table = centred @ centred.T / np.outer(norms, norms)
        return pd.DataFrame(table, index=list(self.columns), columns=list(self.columns))

    def disagreement(self, one: str, other: str) -> FloatArray:
        """How much sooner each sample is looked at by one ranking than by another, as a share of all."""
        n = len(self)
        return np.asarray((rankdata(self._column(one)) - rankdata(self._column(other))) / n)

    def to_pandas(self) -> pd.DataFrame:
        """One row a sample: id, then a column a ranking."""
        return pd.DataFrame({"id": self.ids, **self.columns})

    def save(self, path: str | Path) -> Path:
        """Write the frame to a ``.parquet`` file, with the default and the facts in its metadata.

        Returns:
            The path.
        """
        path = Path(path)
        if path.suffix != ".parquet":
            raise ValueError(f"Rankings go to a `.parquet` file, got `{path.name}`.")
        write_table(path, self.to_pandas(), {"default": self.default, "facts": dict(self.facts)})
        return path

    @classmethod
    def load(cls, path: str | Path) -> "Rankings":
        """Read what `save` wrote.

        Raises:
            FileNotFoundError: The file is not there.
            ValueError: It does not hold rankings, or was cut short.
        """
        table, record = read_table(Path(path))
        if "default" not in record:
            raise ValueError(f"`{path}` holds no rankings: read it by `Scores.load` or `TopScores.load`.")
        frame = table.to_pandas()
        columns = {name: frame[name].to_numpy() for name in frame if name != "id"}
        return cls(frame["id"].to_numpy(), columns, record["default"], record["facts"])

    def _column(self, name: str | None) -> FloatArray:
        name = self.default if name is None else name
        if name not in self.columns:
            raise ValueError(f"The ranking must be one of {', '.join(self.columns)}, got {name!r}.")
        return self.columns[name]
