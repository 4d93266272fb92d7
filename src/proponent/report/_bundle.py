"""ES modules as one script, for a page that may not fetch any."""

import re
from collections.abc import Mapping

_IMPORT = re.compile(r'^import \{([^}]*)\} from "\./([\w-]+\.js)";$', re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:async function|function|class|const) (\w+))", re.MULTILINE)
_OTHER = re.compile(r"^(?:import|export)\b.*$", re.MULTILINE)
_ENDS_SCRIPT = re.compile(r"</script|<!--", re.IGNORECASE)


def bundled(modules: Mapping[str, str], entry: str) -> str:
    """Join a module with all that it imports; each keeps a scope of its own.

    >>> modules = {"one.js": "export const a = 1;", "two.js": 'import { a } from "./one.js";'}
    >>> print(bundled(modules, "two.js"))
    "use strict";
    const $one = (() => {
    const a = 1;
    return { a };
    })();
    const $two = (() => {
    const { a } = $one;
    return {  };
    })();

    Args:
        modules: Their texts, by file name.
        entry: The name of the one to begin with.

    Raises:
        ValueError: A module is missing, imports or exports in a way that isn't known, is in a ring, or would
            end the script.
    """
    order: list[str] = []
    _visit(entry, modules, order, ())
    script = "\n".join(['"use strict";', *(_scoped(name, modules[name]) for name in order)])
    if _ENDS_SCRIPT.search(script):
        raise ValueError("A module must not hold the end of a script: a page would break there.")
    return script


def _visit(name: str, modules: Mapping[str, str], order: list[str], above: tuple[str, ...]) -> None:
    if name in order:
        return
    if name in above:
        raise ValueError(f"Modules must not import each other in a ring: {' -> '.join((*above, name))}.")
    if name not in modules:
        by = f"`{above[-1]}`" if above else "the page"
        raise ValueError(f"There is no module `{name}`, which {by} imports.")
    for _, imported in _IMPORT.findall(modules[name]):
        _visit(imported, modules, order, (*above, name))
    order.append(name)


def _scoped(name: str, text: str) -> str:
    exported = _EXPORT.findall(text)
    body = _IMPORT.sub(_as_constant, _EXPORT.sub("", text)).strip()
    if other := _OTHER.search(body):
        raise ValueError(
            f"`{name}` must import and export by name, one statement a line, got: {other.group()}"
        )
    return f"const {_variable(name)} = (() => {{\n{body}\nreturn {{ {', '.join(exported)} }};\n}})();"


def _as_constant(found: re.Match[str]) -> str:
    names = re.sub(r"(\w+) as (\w+)", r"\1: \2", found.group(1))
    return f"const {{{names}}} = {_variable(found.group(2))};"


def _variable(name: str) -> str:
    return "$" + name.removesuffix(".js").replace("-", "_")
