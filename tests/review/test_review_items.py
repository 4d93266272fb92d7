import numpy as np
import pytest
from review_toys import make_items


def test_items_are_counted():
    assert len(make_items(5)) == 5


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"n": 0}, "`ids` must hold at least one sample to review, got none"),
        (
            {"ids": np.array(["a", "b", "a"], dtype=object), "n": 3},
            "`ids` must be different, but 'a' occurs 2",
        ),
        ({"ids": np.arange(3), "n": 3}, "`ids` must be texts that are not empty"),
        ({"ids": np.array(["a", ""]), "n": 2}, "`ids` must be texts that are not empty"),
        ({"ids": np.array(["a", "b\udc80"], dtype=object), "n": 2}, r"written as UTF-8, got 'b\\udc80'"),
        ({"kind": "sounds"}, "`kind` must be one of images, rows, arrays, got 'sounds'"),
        ({"captions": ["a"]}, "`captions` must be 6, one for each id, got 1"),
        ({"default": "best"}, "`default` must be one of the rankings rising, falling, got 'best'"),
        ({"rankings": {"rising": np.zeros(5)}}, "`rankings` must hold 6 numbers each.*'rising' does not"),
        ({"rankings": {"rising": np.full(6, np.nan)}}, "none of them NaN, but 'rising' does not"),
        ({"features": np.zeros(6)}, r"`features` must be finite numbers \[6, f\], got shape \(6,\)"),
        ({"features": np.full((6, 1), np.inf)}, r"`features` must be finite numbers"),
        ({"features": {"a": np.zeros((6, 1)), "b": np.zeros((5, 1))}}, r"\[6, f\], got shape \(5, 1\)"),
    ],
)
def test_items_that_do_not_fit_are_refused(fields, message):
    with pytest.raises(ValueError, match=message):
        make_items(**fields)
