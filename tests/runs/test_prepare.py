import numpy as np
import pytest
from run_toys import X, make_array, make_pictures, make_table

from proponent.data import open_data
from proponent.runs import Scaling, prepare


def test_pictures_become_shares_of_one(tmp_path):
    data = open_data(make_pictures(tmp_path / "photos"))
    prepared = prepare(data)
    np.testing.assert_array_equal(prepared.values, data.values.astype(np.float32) / 255)
    assert prepared.values.shape == (12, 3, 8, 8)
    assert (prepared.scaling.form, prepared.likelihood, prepared.notes) == ("bytes", "bernoulli", ())


def test_columns_are_standardised_and_constant_ones_named(tmp_path):
    data = open_data(make_table(tmp_path / "t.csv"))
    prepared = prepare(data)
    np.testing.assert_allclose(prepared.values.mean(0), 0, atol=1e-6)
    np.testing.assert_allclose(prepared.values.std(0), 1, rtol=1e-6)
    assert prepared.scaling.columns == ("width", "weight")
    assert prepared.scaling.dropped == ("same",)
    assert prepared.likelihood == "gaussian"
    assert prepared.notes[0] == "Columns left out, since they are constant: `same`."


def test_many_constant_columns_are_not_all_named(tmp_path):
    (tmp_path / "t.csv").write_text("a,b,c,d,e,f,g\n1,1,1,1,1,1,1\n1,1,1,1,1,1,2\n")
    assert "`a`, `b`, `c`, `d`, `e`, ..." in prepare(open_data(tmp_path / "t.csv")).notes[0]


def test_numbers_between_0_and_1_stay(tmp_path):
    prepared = prepare(open_data(make_array(tmp_path)))
    np.testing.assert_array_equal(prepared.values, X)
    assert (prepared.scaling.form, prepared.likelihood) == ("none", "bernoulli")
    assert prepared.notes == ("All numbers lie between 0 and 1: the likelihood is Bernoulli.",)


def test_other_numbers_are_moved_as_one(tmp_path):
    prepared = prepare(open_data(make_array(tmp_path, 300 * X - 7)))
    assert prepared.values.mean() == pytest.approx(0, abs=1e-6)
    assert prepared.values.std() == pytest.approx(1, rel=1e-6)
    assert (prepared.scaling.form, prepared.likelihood) == ("overall", "gaussian")
    assert "standardised by their common mean and deviation" in prepared.notes[0]


def test_bytes_that_are_no_pictures(tmp_path):
    prepared = prepare(open_data(make_array(tmp_path, (255 * X).astype(np.uint8))))
    assert prepared.values.max() <= 1
    assert prepared.notes == ("Bytes, taken for pixels and divided by 255.",)


def test_nothing_is_moved_for_a_likelihood_that_wants_shares(tmp_path):
    prepared = prepare(open_data(make_array(tmp_path, 3 * X)), "bernoulli")
    np.testing.assert_array_equal(prepared.values, 3 * X)
    assert prepared.scaling.form == "none"


def test_data_that_do_not_vary_are_refused(tmp_path):
    with pytest.raises(ValueError, match="The data must vary, but every number is 3"):
        prepare(open_data(make_array(tmp_path, np.full((5, 2), 3.0, np.float32))))
    (tmp_path / "t.csv").write_text("a,b\n1,2\n1,2\n")
    with pytest.raises(ValueError, match="must vary, but every column is constant: 'a', 'b'"):
        prepare(open_data(tmp_path / "t.csv"))


def test_a_scaling_is_read_as_it_was_written(tmp_path):
    scaling = prepare(open_data(make_table(tmp_path / "t.csv"))).scaling
    table = {
        key: list(value) if isinstance(value, tuple) else value for key, value in scaling.to_table().items()
    }
    assert Scaling.from_table(table) == scaling


def test_a_missing_column_is_named():
    with pytest.raises(ValueError, match="must have the columns of the run, but lack 'b'; they have 'a'"):
        Scaling("columns", (0.0,), (1.0,), ("b",))(np.zeros((2, 1)), ("a",))
