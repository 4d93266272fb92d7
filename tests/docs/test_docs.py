"""The documentation names everything there is, runs, and quotes messages as they are."""

import doctest
import importlib.util
import re
from pathlib import Path
from typing import get_args

import pytest

import proponent
from proponent.gotchas import Anchor

ROOT = Path(__file__).parents[2]
PAGES = sorted((ROOT / "docs").rglob("*.md"))
SCRIPTS = sorted(path for path in (ROOT / "benchmarks").glob("*.py") if path.stem[0] != "_")


def text(*names):
    return "\n".join((ROOT / "docs" / name).read_text("utf-8") for name in names)


def hook(name):
    pytest.importorskip("mkdocs")
    spec = importlib.util.spec_from_file_location(f"hook_{name}", ROOT / "docs" / "_hooks" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", [name for name in proponent.__all__ if name[0] != "_"])
def test_every_public_name_is_documented(name):
    assert re.search(rf"`pp\.{name}\b", text("index.md")), f"docs/index.md does not name `pp.{name}`"


@pytest.mark.parametrize(
    "room", sorted(path.parent.name for path in (ROOT / "src" / "proponent").glob("*/__init__.py"))
)
def test_every_room_has_a_page(room):
    if room in ("cli", "kernels"):  # the commands have a page of their own; kernels are no interface
        return
    assert any(f"::: proponent.{room}" in page.read_text("utf-8") for page in PAGES)


def test_every_page_is_in_the_navigation():
    navigation = (ROOT / "mkdocs.yml").read_text("utf-8")
    assert [page.name for page in PAGES if page.relative_to(ROOT / "docs").as_posix() not in navigation] == []


def test_every_command_is_documented():
    commands = hook("commands")
    page = text("commands.md")
    for name in commands.all_commands():
        assert f"<!-- command: {name} -->" in page
    rendered = commands.with_help(page, "commands.md")
    for name, command in commands.all_commands().items():
        assert f"proponent {name}" in rendered
        for parameter in command.params:
            assert parameter.opts[0] in rendered or (parameter.metavar or parameter.name.upper()) in rendered


def test_a_missing_command_stops_the_build():
    with pytest.raises(Exception, match="must have a mark for each command"):
        hook("commands").with_help("<!-- command: train -->", "commands.md")


def test_every_benchmark_states_its_claim():
    records = hook("records")
    table = records.overview(ROOT / "benchmarks")
    assert all(f"`{script.stem}`" in table for script in SCRIPTS)


def test_records_are_shown_as_they_are(tmp_path):
    records = hook("records")
    (tmp_path / "toy.py").write_text('Benchmark(name="toy", claim="It is quick.")')
    assert "not measured yet" in records.overview(tmp_path)
    assert "Not measured yet" in records.details(tmp_path, "toy", "page.md")
    (tmp_path / "results").mkdir()
    (tmp_path / "results" / "toy.json").write_text(
        '{"claim": "It is quick.", "goal": {"seconds": "at most 2"}, "holds": false, "device": "a toy", '
        '"date": "2026-01-02", "rivals": {"other": {"seconds": 3.0}}, '
        '"measured": {"seconds": 2.5, "by layer": {"Linear": {"float32": 1e-7}}}}'
    )
    assert "| seconds: 2.5 (at most 2) | **no** | a toy, 2026-01-02 |" in records.overview(tmp_path)
    details = records.details(tmp_path, "toy", "page.md")
    assert "**The claim does not hold.**" in details
    assert "| other | seconds | 3 |" in details
    assert "| Linear | 1e-07 |" in details


def test_an_unknown_benchmark_stops_the_build(tmp_path):
    with pytest.raises(Exception, match="there is no such script"):
        hook("records").details(tmp_path, "toy", "page.md")


def test_a_script_without_a_claim_stops_the_build(tmp_path):
    (tmp_path / "toy.py").write_text("")
    with pytest.raises(Exception, match="states no claim"):
        hook("records").overview(tmp_path)


def test_formulas_become_mathml():
    pytest.importorskip("latex2mathml")
    formulas = hook("formulas")
    shown = formulas.with_mathml('<p><span class="arithmatex">\\(a &lt; b\\)</span></p>', "page.md")
    assert shown.startswith("<p><math")
    assert "arithmatex" not in shown
    with pytest.raises(Exception, match="has a formula that can't be read"):
        formulas.with_mathml('<span class="arithmatex">\\(x_a_b\\)</span>', "page.md")


def test_doctests_are_shown_as_code():
    lines = ["One:", "", ">>> 1 + 1", "2", "", "More.", "```python", ">>> 3", "```", ">>> 4"]
    shown = hook("doctests").fenced(lines)
    assert shown[2:7] == ["", "```python", ">>> 1 + 1", "2", "```"]
    assert shown.count("```python") == 3
    assert shown.count("```") == 3


QUOTES = re.findall(r"^> (.+)$", text("gotchas.md"), re.MULTILINE)


@pytest.mark.parametrize("quote", QUOTES)
def test_gotchas_quote_messages_as_they_are(quote):
    code = "\n".join(path.read_text("utf-8") for path in (ROOT / "src").rglob("*.py"))
    assert quote in code


def test_links_of_pages_lead_somewhere():
    for page in [*PAGES, ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md"]:
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text("utf-8")):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_quickstart_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    flags = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
    failed, run = doctest.testfile(
        str(ROOT / "docs" / "quickstart.md"), module_relative=False, optionflags=flags, encoding="utf-8"
    )
    assert run > 30
    assert failed == 0


def test_quickstart_of_the_readme_is_short():
    first = (ROOT / "README.md").read_text("utf-8").split("```python")[1].split("```")[0]
    assert len([line for line in first.splitlines() if line.startswith((">>>", "..."))]) <= 20


@pytest.mark.parametrize("anchor", get_args(Anchor))
def test_every_place_that_an_error_points_to_is_there(anchor):
    assert f"{{ #{anchor} }}" in text("gotchas.md")
