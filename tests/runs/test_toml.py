import tomllib

import pytest

from proponent.runs._toml import to_toml


def test_what_is_written_is_read():
    tables = {
        "a": {
            "text": 'quotes " \\ \n\x00\x7f β 🎈',
            "whole": -3,
            "small": 1e-05,
            "large": 1e300,
            "truth": True,
        },
        "b": {"empty": [], "sizes": [1, 2], "names": ["x", "y"], "inf": float("inf")},
        "c": {},
    }
    assert tomllib.loads(to_toml(tables)) == tables


def test_none_is_left_out():
    assert tomllib.loads(to_toml({"a": {"x": None, "y": 1}})) == {"a": {"y": 1}}


def test_tuples_are_lists():
    assert tomllib.loads(to_toml({"a": {"x": (1, 2)}})) == {"a": {"x": [1, 2]}}


def test_other_kinds_are_refused():
    with pytest.raises(TypeError, match="must be a number, a text, a truth or a list, got a dict"):
        to_toml({"a": {"x": {}}})
