import pytest

import proponent as pp


@pytest.mark.parametrize(
    "room",
    [
        "attribution",
        "data",
        "density",
        "evaluation",
        "gradients",
        "models",
        "objectives",
        "paper",
        "report",
        "review",
        "training",
    ],
)
def test_every_room_is_there_when_asked_for(room):
    assert getattr(pp, room).__name__ == f"proponent.{room}"


@pytest.mark.parametrize("name", pp.__all__)
def test_every_public_name_is_there(name):
    assert getattr(pp, name) is not None


def test_other_names_are_not():
    with pytest.raises(AttributeError, match="module 'proponent' has no attribute 'nothing'"):
        _ = pp.nothing
