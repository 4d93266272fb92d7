"""What the columns of a table are for: pictures, numbers, a list of numbers, or the key of a row."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import islice

import pyarrow as pa

_MOST_COLUMNS, _MOST_TOLD = 50_000, 40
_KEYS = ("id", "index", "__index_level_0__", "unnamed: 0", "")


@dataclass(frozen=True)
class Columns:
    """The columns that are used.

    Attributes:
        kind: ``"images"``, ``"rows"`` or ``"arrays"``.
        used: Their names.
        key: The one with the rows' keys.
        left_out: Those that hold nothing that can be used.
        told: Those that a person can read beside.
    """

    kind: str
    used: tuple[str, ...]
    key: str | None
    left_out: tuple[str, ...] = ()
    told: tuple[str, ...] = ()


def choose_columns(schema: pa.Schema, asked: str | Sequence[str] | None, name: str) -> Columns:
    """Find out what a table holds.

    A column of pictures is a struct of `bytes` and `path`, as the Hugging Face hub has it, or binary. Where
    there is none, one column of lists of numbers is taken for arrays; else all plain numbers for rows.

    Args:
        schema: Names and types of the columns.
        asked: The columns to use.
        name: What messages call the table.

    Raises:
        ValueError: A column asked for is missing or can't be used, several could be meant, or none can.
    """
    check_width(len(schema.names), name)
    if len(set(schema.names)) != len(schema.names):
        repeated = [column for column, count in Counter(schema.names).most_common(1) if count > 1]
        raise ValueError(
            f"{name} must have columns of different names, got `{repeated[0]}` twice. Rename one."
        )
    columns = _chosen(schema, asked, name)
    used = {*columns.used, columns.key}
    told = (field.name for field in schema if field.name not in used and is_plain(field.type))
    return replace(columns, told=tuple(islice(told, _MOST_TOLD)))


def check_width(count: int, name: str) -> None:
    """Refuse tables of so many columns that each can't have a name of its own.

    Raises:
        ValueError: There are too many.
    """
    if count > _MOST_COLUMNS:
        raise ValueError(
            f"{name} must have at most {_MOST_COLUMNS:,} columns, got {count:,}. Save the numbers as an "
            "array with "
            "`numpy.save`."
        )


def _chosen(schema: pa.Schema, asked: str | Sequence[str] | None, name: str) -> Columns:
    key = next((column for wanted in _KEYS for column in schema.names if column.lower() == wanted), None)
    if asked is not None:
        return _asked(schema, [asked] if isinstance(asked, str) else list(asked), key, name)
    kinds = {field.name: kind_of(field.type) for field in schema if field.name != key}
    by_kind = {kind: [column for column in kinds if kinds[column] == kind] for kind in _KINDS}
    for kind, what in (("images", "pictures"), ("arrays", "lists of numbers")):
        found = by_kind[kind]
        if len(found) > 1:
            raise ValueError(
                f"{name} has several columns of {what}, {_list(found)}. Say which one by `column`."
            )
        if found:
            return Columns(kind, tuple(found), key, tuple(c for c in kinds if kinds[c] != kind))
    if not by_kind["rows"]:
        raise ValueError(
            f"{name} must have a column of numbers or of pictures, but has {_described(schema)}. "
            "Encode text and dates as numbers first."
        )
    return Columns(
        "rows", tuple(by_kind["rows"]), key, tuple(column for column in kinds if kinds[column] != "rows")
    )


def kind_of(type_: pa.DataType) -> str | None:
    """What samples a column of a type could be: ``"images"``, ``"rows"``, ``"arrays"``, or none."""
    if pa.types.is_struct(type_):
        field = type_.get_field_index("bytes")
        return "images" if field >= 0 and _is_binary(type_.field(field).type) else None
    if _is_binary(type_):
        return "images"
    if _is_list(type_):
        while _is_list(type_):
            type_ = type_.value_type
        return "arrays" if _is_number(type_) else None
    return "rows" if _is_number(type_) else None


def _asked(schema: pa.Schema, asked: list[str], key: str | None, name: str) -> Columns:
    missing = [column for column in asked if column not in schema.names]
    if missing:
        raise ValueError(f"{name} has no column `{missing[0]}`; it has {_list(schema.names)}.")
    kinds = [kind_of(schema.field(column).type) for column in asked]
    if not asked or len(set(asked)) != len(asked) or len(set(kinds)) != 1 or None in kinds:
        raise ValueError(
            f"`column` must name numbers, or one column of pictures or of lists, got {_list(asked)} of "
            f"{name}, which has {_described(schema)}."
        )
    kind = str(kinds[0])
    if kind != "rows" and len(asked) > 1:
        raise ValueError(f"`column` must name one column of pictures or of lists, got {_list(asked)}.")
    return Columns(kind, tuple(asked), key if key not in asked else None)


_KINDS = ("images", "arrays", "rows")


def is_plain(type_: pa.DataType) -> bool:
    """Whether a person can read a cell of a type at a glance."""
    return not (pa.types.is_nested(type_) or _is_binary(type_))


def _is_number(type_: pa.DataType) -> bool:
    of = pa.types
    return bool(of.is_integer(type_) or of.is_floating(type_) or of.is_boolean(type_) or of.is_decimal(type_))


def _is_binary(type_: pa.DataType) -> bool:
    return bool(pa.types.is_binary(type_) or pa.types.is_large_binary(type_))


def _is_list(type_: pa.DataType) -> bool:
    of = pa.types
    return bool(of.is_list(type_) or of.is_large_list(type_) or of.is_fixed_size_list(type_))


def _list(names: Sequence[str]) -> str:
    return ", ".join(f"`{name}`" for name in names) or "none"


def _described(schema: pa.Schema) -> str:
    columns = [f"`{field.name}` ({field.type})" for field in schema][:20]
    return ", ".join(columns) + (", ..." if len(schema) > 20 else "") if columns else "no column"
