import math

import pytest
import torch
import torch.nn.functional as F
from torch.distributions import Normal
from torch.utils._python_dispatch import TorchDispatchMode

from asserts import assert_close
from proponent.objectives._likelihoods import LIKELIHOODS
from toys import normal, uniform

N, M = 3, 2
FEATURES = [(5,), (4, 3, 2)]


def truth(name, outputs, x):
    """Minus the log density, from PyTorch's own distributions, of one draw ``[n, *features]``."""
    if name == "bernoulli":
        return F.binary_cross_entropy(outputs.sigmoid(), x, reduction="none")
    if name == "gaussian":
        return -Normal(outputs, 0.7).log_prob(x)
    if name == "gaussian-learned":
        mean, log_variance = outputs.chunk(2, 1)
        return -Normal(mean, (log_variance / 2).exp()).log_prob(x)
    return (outputs.sigmoid() - x).square()


@pytest.mark.parametrize("features", FEATURES)
@pytest.mark.parametrize("name", LIKELIHOODS)
def test_value_and_gradient_agree_with_the_distributions(name, features):
    likelihood = LIKELIHOODS[name](0.7)
    doubled = (features[0] * likelihood.outputs_per_feature, *features[1:])
    outputs = (2 * normal(N, M, *doubled)).requires_grad_()
    x = uniform(N, *features)
    actual = likelihood(outputs, x)
    expected = sum(truth(name, outputs[:, j], x).flatten(1).sum(1) for j in range(M)) / M
    assert_close(actual, expected, 1e-12)
    weights = torch.tensor([0.3, 1.0, 2.0], dtype=torch.float64)
    assert_close(
        torch.autograd.grad(actual @ weights, outputs)[0],
        torch.autograd.grad(expected @ weights, outputs)[0],
        1e-12,
    )


@pytest.mark.parametrize(
    ("name", "outputs", "x", "nats"),
    [
        ("bernoulli", [math.log(3)], [0.25], math.log(4) - math.log(3) / 4),
        ("gaussian", [3.0], [1.0], 2 / 0.49 + math.log(2 * math.pi * 0.49) / 2),
        ("gaussian-learned", [3.0, math.log(4)], [1.0], 0.5 + math.log(2 * math.pi * 4) / 2),
        ("squared-error", [math.log(3)], [0.25], 0.25),
    ],
)
def test_pinned_values(name, outputs, x, nats):
    value = LIKELIHOODS[name](0.7)(torch.tensor([[outputs]]).double(), torch.tensor([x]).double())
    assert_close(value, [nats], 1e-7)


def test_bernoulli_stays_finite_and_exact_at_extreme_logits():
    outputs = torch.tensor([[[1e4, -1e4, 50.0, -50.0]]], dtype=torch.float64, requires_grad=True)
    x = torch.tensor([[1.0, 0.0, 0.0, 1.0]], dtype=torch.float64)
    loss = LIKELIHOODS["bernoulli"](1.0)(outputs, x)
    assert_close(loss, [100.0], 1e-12)
    loss.sum().backward()
    assert_close(outputs.grad, [[[0.0, 0.0, 1.0, -1.0]]], 1e-12)


@pytest.mark.parametrize("logit", [19.9, 20.1, 39.9, 40.1])
def test_bernoulli_is_smooth_where_softplus_changes_its_form(logit):
    outputs = torch.full((1, 1, 1), logit, dtype=torch.float64, requires_grad=True)
    loss = LIKELIHOODS["bernoulli"](1.0)(outputs, torch.ones(1, 1, dtype=torch.float64))
    (gradient,) = torch.autograd.grad(loss.sum(), outputs)
    assert float(loss.detach()) == pytest.approx(math.log1p(math.exp(-logit)), abs=1e-14)
    assert float(gradient) == pytest.approx(-math.exp(-logit), abs=1e-15)


class CountLarge(TorchDispatchMode):
    """Counts the tensors of at least a given size that are written, views left out."""

    def __init__(self, size):
        super().__init__()
        self.size, self.written = size, []

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        result = function(*args, **(kwargs or {}))
        storages = {part.untyped_storage().data_ptr() for part in args if isinstance(part, torch.Tensor)}
        for part in result if isinstance(result, tuple) else (result,):
            if not isinstance(part, torch.Tensor):  # an operation may answer with a number
                continue
            is_view = part.untyped_storage().data_ptr() in storages
            if part.numel() >= self.size and not is_view:
                self.written.append(str(function))
        return result


@pytest.mark.parametrize(
    ("name", "forward", "backward"), [("bernoulli", 1, 2), ("gaussian", 1, 1), ("squared-error", 2, 2)]
)
def test_outputs_are_rewritten_few_times(name, forward, backward):
    outputs, x = normal(N, M, 50).requires_grad_(), uniform(N, 50)
    with CountLarge(outputs.numel()) as counted:
        loss = LIKELIHOODS[name](0.7)(outputs, x).sum()
    assert len(counted.written) <= forward, counted.written
    with CountLarge(outputs.numel()) as counted:
        loss.backward()
    assert len(counted.written) <= backward, counted.written


@pytest.mark.parametrize("name", LIKELIHOODS)
def test_channels_last_is_no_different(name):
    likelihood = LIKELIHOODS[name](0.7)
    outputs = normal(N * M, 3 * likelihood.outputs_per_feature, 4, 2)
    x = uniform(N, 3, 4, 2)
    last = outputs.to(memory_format=torch.channels_last)
    shape = (N, M, *outputs.shape[1:])
    assert_close(likelihood(last.reshape(shape), x), likelihood(outputs.reshape(shape), x), 1e-12)
