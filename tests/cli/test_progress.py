import time

import pytest

from proponent.cli._progress import progress


def test_what_is_quick_says_nothing(capsys):
    with progress("working", 10) as advance:
        for done in range(11):
            advance(done, "fine")
    assert capsys.readouterr() == ("", "")


def test_what_is_slow_says_how_far_it_is(capsys):
    with progress("working", 10_000) as advance:
        advance(0, "")
        time.sleep(2.1)
        advance(5_000, "loss 1.5")
        advance(10_000, "loss 1.2")
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err == "working: 5,000 of 10,000 loss 1.5\n"


def test_an_error_passes_through():
    def fail():
        with progress("working", 10) as advance:
            advance(1, "")
            raise RuntimeError("stop")

    with pytest.raises(RuntimeError, match="stop"):
        fail()
