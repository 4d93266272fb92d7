"""Writes what the benchmarks measured into the pages, from their records, so that no number can drift.

``<!-- benchmarks -->`` becomes a table of all scripts, ``<!-- benchmark: NAME -->`` the numbers of one, and
``<!-- all benchmarks -->`` the numbers of each under a heading.
"""

import ast
import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from mkdocs.exceptions import PluginError

_BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
_OVERVIEW, _EACH = "<!-- benchmarks -->", "<!-- all benchmarks -->"
_ONE = re.compile(r"^<!-- benchmark: (\w+) -->$", re.MULTILINE)


def on_config(config: Any) -> Any:
    """Have `mkdocs serve` look at the records too."""
    config.watch.append(str(_BENCHMARKS))
    return config


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Put the tables in their places."""
    each = "\n\n".join(f"### {name}\n\n<!-- benchmark: {name} -->" for name in scripts(_BENCHMARKS))
    markdown = markdown.replace(_OVERVIEW, overview(_BENCHMARKS)).replace(_EACH, each)
    return _ONE.sub(lambda mark: details(_BENCHMARKS, mark[1], page.file.src_path), markdown)


def scripts(folder: Path) -> list[str]:
    """The names of all benchmarks."""
    return sorted(path.stem for path in folder.glob("*.py") if not path.stem.startswith("_"))


def overview(folder: Path) -> str:
    """A row for each script: its claim, and how it came out."""
    rows = []
    for name in scripts(folder):
        record = _record(folder, name)
        claim = record["claim"] if record else _claim(folder / f"{name}.py")
        rows.append([f"`{name}`", claim, *(_outcome(record) if record else ["not measured yet", "", ""])])
    return _table(["script", "claim", "measured (goal)", "holds", "on"], rows)


def details(folder: Path, name: str, where: str) -> str:
    """All numbers of one benchmark.

    Raises:
        PluginError: There is no such script.
    """
    if name not in scripts(folder):
        raise PluginError(f"`{where}` asks for the benchmark `{name}`, but there is no such script.")
    record = _record(folder, name)
    if record is None:
        return f"*Not measured yet: `python benchmarks/{name}.py` writes the record.*"
    verdict = "The claim holds." if record["holds"] else "**The claim does not hold.**"
    head = f"{record['claim']} {verdict} Measured on {record['device']}, {record['date']}."
    sides = {"proponent": record["measured"], **record["rivals"]}
    return "\n\n".join([head, *_tables(sides)])


def _tables(sides: Mapping[str, Any]) -> list[str]:
    """Plain numbers of each side side by side with their names; groups of numbers as tables of their own."""
    plain: list[Sequence[Any]] = []
    groups: list[str] = []
    for side, values in sides.items():
        values = values if isinstance(values, Mapping) else {"": values}
        for key, value in values.items():
            if isinstance(value, Mapping) and all(isinstance(part, Mapping) for part in value.values()):
                columns = list(dict.fromkeys(column for part in value.values() for column in part))
                rows = [[row, *(part.get(column, "") for column in columns)] for row, part in value.items()]
                groups.append(_table([key, *columns], rows))
            elif isinstance(value, Mapping):
                plain += [[side, f"{key}: {inner}", part] for inner, part in value.items()]
            else:
                plain.append([side, key, value])
    return [_table(["side", "quantity", "value"], plain), *groups]


def _outcome(record: Mapping[str, Any]) -> list[str]:
    found = [f"{name}: {_shown(record['measured'][name])} ({goal})" for name, goal in record["goal"].items()]
    return [
        "<br>".join(found),
        "yes" if record["holds"] else "**no**",
        f"{record['device']}, {record['date']}",
    ]


def _record(folder: Path, name: str) -> Mapping[str, Any] | None:
    path = folder / "results" / f"{name}.json"
    return json.loads(path.read_text("utf-8")) if path.exists() else None


def _claim(script: Path) -> str:
    """The claim as the script states it, found without running it."""
    for node in ast.walk(ast.parse(script.read_text("utf-8"))):
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Benchmark":
            for keyword in node.keywords:
                if keyword.arg == "claim":
                    return str(ast.literal_eval(keyword.value))
    raise PluginError(f"`{script.name}` states no claim: it must define a `Benchmark(claim=...)`.")


def _table(head: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(_shown(cell) for cell in line) + " |" for line in lines)


def _shown(cell: Any) -> str:
    return f"{cell:.4g}" if isinstance(cell, float) else str(cell).replace("|", "\\|")
