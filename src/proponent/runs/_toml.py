"""Writing TOML: tables of plain values, which is all that `tomllib` needs to read them back."""

import json
from collections.abc import Mapping
from typing import Any


def to_toml(tables: Mapping[str, Mapping[str, Any]]) -> str:
    """Write tables of numbers, texts, truths and lists of them; what is none is left out.

    >>> print(to_toml({"model": {"name": "mlp", "latent_dim": 8, "scale": None}}), end="")
    [model]
    name = "mlp"
    latent_dim = 8

    Args:
        tables: The values by table and key.

    Raises:
        TypeError: A value is of another kind.
    """
    lines = []
    for name, table in tables.items():
        lines.append(f"[{name}]")
        lines += [f"{key} = {_value(value)}" for key, value in table.items() if value is not None]
        lines.append("")
    return "\n".join(lines)


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, str):
        # A JSON text is a TOML text, but for one control character that JSON leaves as it is.
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, list | tuple):
        return f"[{', '.join(_value(item) for item in value)}]"
    raise TypeError(
        f"A value in TOML must be a number, a text, a truth or a list, got a {type(value).__name__}."
    )
