import numpy as np
import pytest

from proponent.evaluation import Rankings
from proponent.runs import what_self_influence_adds


@pytest.mark.parametrize(
    ("own", "text"),
    [
        ([1, 2, 3, 4, 5], r"sorts nearly as loss does here \(Spearman's correlation 1.00\)"),
        ([2, 1, 3, 5, 4], r"goes largely with loss here \(Spearman's correlation 0.80\)"),
        ([5, 1, 4, 2, 3], r"sorts otherwise than loss here \(Spearman's correlation -0.30\)"),
    ],
)
def test_it_is_said_as_it_is(own, text):
    columns = {"loss": np.arange(5.0), "self-influence": np.array(own, dtype=float)}
    said = what_self_influence_adds(Rankings(np.arange(5), columns, "loss"))
    assert pytest.importorskip("re").search(text, said)
    assert "found them less well than loss did" in said
    assert "Begin with `loss`" in said
