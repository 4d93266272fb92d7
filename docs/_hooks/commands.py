"""Writes the help of every command into the page that asks for it by ``<!-- command: NAME -->``."""

import re
from collections.abc import Mapping
from enum import Enum
from typing import Any

import typer
from mkdocs.exceptions import PluginError

_MARK = re.compile(r"^<!-- command: ([\w-]+) -->$", re.MULTILINE)


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Put each command's help in its place; a page that asks for one must ask for all."""
    if not _MARK.search(markdown):
        return markdown
    return with_help(markdown, page.file.src_path)


def with_help(markdown: str, where: str) -> str:
    """Replace the marks.

    Raises:
        PluginError: A mark names no command, or a command has no mark.
    """
    commands = all_commands()
    marked = _MARK.findall(markdown)
    if set(marked) != set(commands):
        raise PluginError(
            f"`{where}` must have a mark for each command, {', '.join(commands)}, got {', '.join(marked)}."
        )
    return _MARK.sub(lambda mark: help_of(mark[1], commands[mark[1]]), markdown)


def all_commands() -> Mapping[str, Any]:
    """The commands by name, as the command line itself knows them."""
    from proponent.cli._main import app

    group: Any = typer.main.get_command(app)
    found: Mapping[str, Any] = group.commands
    return found


def help_of(name: str, command: Any) -> str:
    """One command's usage, docstring, arguments and options, as Markdown."""
    arguments = [part for part in command.params if part.param_type_name == "argument"]
    options = [part for part in command.params if part.param_type_name == "option" and not part.hidden]
    usage = " ".join(["proponent", name, *(_shown(part).upper() for part in arguments), "[OPTIONS]"])
    rows = [f"| `{_shown(part).upper()}` | {_help(part)} | |" for part in arguments]
    rows += [f"| {_names(part)} | {_help(part)} | {_default(part)} |" for part in options]
    return "\n".join(
        ["```text", usage, "```", "", str(command.help), "", "| | | default |", "|---|---|---|", *rows]
    )


def _shown(argument: Any) -> str:
    return str(argument.metavar or argument.name)


def _names(option: Any) -> str:
    return ", ".join(f"`{name}`" for name in [*option.opts, *option.secondary_opts])


def _help(part: Any) -> str:
    choices = [f"`{each.value}`" for each in type(part.default)] if isinstance(part.default, Enum) else []
    named = f" One of {', '.join(choices)}." if choices else ""
    return f"{part.help or ''}{named}".replace("|", "\\|")


def _default(option: Any) -> str:
    if option.required:
        return "required"
    default = option.default.value if isinstance(option.default, Enum) else option.default
    if default is None or isinstance(default, bool) or callable(default) or default == ():
        return ""
    return f"`{default}`"
