import math

import pytest
import torch
from torch import nn

from asserts import assert_same_bits
from proponent.models import MLPVAE, ConvVAE
from proponent.models._initialisation import initialise

MODELS = {
    "mlp": lambda generator: MLPVAE(300, 40, generator=generator),
    "conv": lambda generator: ConvVAE(40, generator=generator),
}


def state(model):
    return torch.cat([p.detach().flatten() for p in model.parameters()])


@pytest.mark.parametrize("make", MODELS.values(), ids=MODELS)
def test_parameters_come_from_the_generator_alone(make):
    before = torch.get_rng_state()
    first, again, other = (state(make(torch.Generator().manual_seed(seed))) for seed in (0, 0, 1))
    assert_same_bits(first, again)
    assert not torch.equal(first, other)
    assert_same_bits(state(make(None)), state(make(None)))
    assert torch.equal(torch.get_rng_state(), before)


@pytest.mark.parametrize("make", MODELS.values(), ids=MODELS)
def test_parameters_have_the_spread_of_the_published_runs(make):
    model = make(torch.Generator().manual_seed(0))
    for layer in model.modules():
        if isinstance(layer, nn.ConvTranspose2d):
            # PyTorch's default: uniform within 1/sqrt(fan in), where the fan in is counted on axis 1.
            bound = 1 / math.sqrt(layer.out_channels * math.prod(layer.kernel_size))
            assert float(layer.weight.detach().abs().max()) == pytest.approx(bound, rel=0.05)
            assert float(layer.weight.detach().std()) == pytest.approx(bound / math.sqrt(3), rel=0.1)
            assert 0.5 * bound < float(layer.bias.detach().abs().max()) <= bound
        elif isinstance(layer, nn.Linear | nn.Conv2d):
            deviation = math.sqrt(2 / layer.weight[0].numel())  # Kaiming's, for ReLU
            assert float(layer.weight.detach().std()) == pytest.approx(deviation, rel=0.1)
            assert not layer.bias.any()


def test_the_transposed_default_is_pytorchs_own():
    """The same numbers, once the global generator stands where ours does."""
    torch.manual_seed(0)
    own = nn.ConvTranspose2d(64, 256, 4)
    ours = nn.ConvTranspose2d(64, 256, 4)
    initialise(ours, torch.Generator().manual_seed(0))
    assert_same_bits(state(ours), state(own))
