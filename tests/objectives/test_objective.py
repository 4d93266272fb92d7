import pytest
import torch

from proponent.objectives import Objective, check_identified, objective
from toys import TOYS


def squared_error(model, batch, noise):
    return model(batch).square().sum(1)


def test_a_function_is_called_as_it_is():
    model, x = torch.nn.Linear(4, 3).double(), TOYS["linear-without-bias"].samples
    loss = objective(squared_error)
    assert isinstance(loss, Objective)
    assert torch.equal(loss(model, x, None), squared_error(model, x, None))
    assert loss.check_batch(x) is None


def test_noise_is_described_as_given():
    assert objective(squared_error).noise_shape(torch.nn.Identity()) is None
    assert objective(squared_error).per_sample_noise is False
    loss = objective(squared_error, noise_shape=[2, 3], per_sample_noise=True)
    assert loss.noise_shape(torch.nn.Identity()) == (2, 3)
    assert loss.per_sample_noise is True
    assert objective(squared_error, noise_shape=5).noise_shape(torch.nn.Identity()) == (5,)


def test_a_function_is_described_by_what_it_computes_or_by_the_name_that_it_is_given():
    described = objective(squared_error, noise_shape=[2, 3]).describe()
    assert described.pop("identity").startswith("sha256:")
    assert described == {"objective": f"{__name__}.squared_error", "noise_shape": (2, 3)}
    first, second = (objective(lambda model, batch, noise, w=w: w * model(batch)) for w in (1.0, 5.0))
    assert first.describe() != second.describe()
    named = objective(squared_error, name="squares")
    assert named.describe() == {"objective": "squares", "noise_shape": None}
    assert named.unit == "units of the loss"


def test_a_function_that_cannot_be_told_from_others_says_so():
    generator = torch.Generator()
    loss = objective(lambda model, batch, noise: model(batch).sum(1) * generator.initial_seed())
    assert loss.describe()["identified"] is False
    with pytest.raises(ValueError, match=r"`directory` needs an objective .* Name it by `objective\("):
        check_identified(loss)
    assert check_identified(objective(squared_error)) is None


def test_an_object_that_can_be_called_is_named_by_its_kind():
    class Loss:
        def __call__(self, model, batch, noise):
            return model(batch).sum(1)

    assert objective(Loss()).describe()["objective"].endswith("callable")


def test_what_is_no_function_is_refused():
    with pytest.raises(TypeError, match=r"`function` must be a function .* got a int"):
        objective(3)


def test_empty_noise_is_refused():
    with pytest.raises(ValueError, match=r"`noise_shape` must hold sizes of at least 1, got \(2, 0\)"):
        objective(squared_error, noise_shape=(2, 0))
