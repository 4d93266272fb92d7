"""Data sets of Hugging Face's `datasets` as tables, known by what they can do: the package isn't needed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from proponent.data._tables import Table


@dataclass(frozen=True, eq=False)
class HubTable(Table):
    """Such a data set, read as it is stored: past any transform, with pictures encoded.

    Attributes:
        source: The data set.
    """

    source: Any
    name: str
    options: Mapping[str, Any]

    @property
    def schema(self) -> pa.Schema:
        """Names and types of the columns, without the hub's own types."""
        return self.rows(0, 1, self.source.column_names).schema

    def __len__(self) -> int:
        return len(self.source)

    def rows(self, start: int, stop: int, columns: Sequence[str]) -> pa.Table:
        """Some columns of the rows from one position to another."""
        table = self.source.select_columns(list(columns)).with_format("arrow")[start:stop]
        for i, column in enumerate(table.schema):
            if isinstance(column.type, pa.BaseExtensionType):
                chunks = [chunk.storage for chunk in table.column(i).chunks]
                stored = pa.chunked_array(chunks, column.type.storage_type)
                table = table.set_column(i, column.name, stored)
        return table
