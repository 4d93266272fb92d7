"""The page on density estimators says what the code does."""

import doctest
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "density.md"


def test_its_examples_run():
    flags = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
    failed, run = doctest.testfile(str(PAGE), module_relative=False, optionflags=flags, encoding="utf-8")
    assert run > 15
    assert failed == 0
