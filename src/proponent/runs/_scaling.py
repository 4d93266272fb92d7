"""How the numbers of a data set become those that a model takes, and back to it for other data."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float32]


@dataclass(frozen=True)
class Scaling:
    """A scaling, the same for the samples of a run and for all that is asked about it.

    Attributes:
        form: ``"none"``; ``"bytes"``, divided by 255; ``"overall"``, all numbers by one mean and deviation;
            or ``"columns"``, each column by its own.
        mean: What is subtracted.
        deviation: What is divided by.
        columns: The columns that are used, of rows.
        dropped: Those that are left out, since they are constant.
    """

    form: str = "none"
    mean: tuple[float, ...] = ()
    deviation: tuple[float, ...] = ()
    columns: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()

    def __call__(self, values: npt.NDArray[Any], columns: Sequence[str] = ()) -> Floats:
        """Scale numbers.

        >>> Scaling("columns", (1.0,), (2.0,), ("b",))(np.array([[7.0, 5.0]]), ("a", "b"))
        array([[2.]], dtype=float32)

        Args:
            values: ``[n, ...]``.
            columns: The names of their columns, where they are rows.

        Raises:
            ValueError: A column is missing.
        """
        if self.form == "bytes":
            shares: Floats = np.divide(values, np.float32(255), dtype=np.float32)
            return shares
        if self.form == "none":
            return np.ascontiguousarray(values, dtype=np.float32)
        if self.form == "columns":
            missing = [name for name in self.columns if name not in columns]
            if missing:
                raise ValueError(
                    f"The data must have the columns of the run, but lack {', '.join(map(repr, missing))}; "
                    f"they have {', '.join(map(repr, columns)) or 'no names'}."
                )
            values = values[:, [list(columns).index(name) for name in self.columns]]
        scaled: Floats = ((values - np.array(self.mean)) / np.array(self.deviation)).astype(np.float32)
        return scaled

    def to_table(self) -> dict[str, Any]:
        """Write it for a run's record."""
        return {name: value for name, value in vars(self).items() if value not in ((), "")}

    @classmethod
    def from_table(cls, table: Mapping[str, Any]) -> "Scaling":
        """Read it from a run's record."""
        kept: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value for name, value in table.items()
        }
        return cls(**kept)
