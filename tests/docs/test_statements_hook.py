"""The statements of the paper stand in the documentation as they are measured."""

import importlib.util
from pathlib import Path

import pytest

from proponent.paper import density_figures, density_statements

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def hook():
    spec = importlib.util.spec_from_file_location("statements", ROOT / "docs" / "_hooks" / "statements.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_statement_has_a_row(hook):
    page = (ROOT / "docs" / "density.md").read_text("utf-8")
    shown = hook.on_page_markdown(page)
    assert hook.MARK in page
    assert hook.MARK not in shown
    rows = [line.replace("\\|", "¦") for line in shown.splitlines() if line.startswith("| ")]
    for each in density_statements(density_figures()):
        cells = [each.text.replace("|", "¦"), each.measured.replace("|", "¦"), each.outcome]
        (row,) = [row for row in rows if row.startswith(f"| {each.method} | {cells[0]}")]
        assert all(cell in row for cell in cells)
        assert row.count("|") == 5


def test_other_pages_are_left_as_they_are(hook):
    assert hook.on_page_markdown("# A page") == "# A page"


def test_the_hook_is_called():
    assert "docs/_hooks/statements.py" in (ROOT / "mkdocs.yml").read_text("utf-8")
