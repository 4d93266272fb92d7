import pytest
import torch
from torch import nn

from proponent.models import MLPVAE


def test_the_papers_layers():
    vae = MLPVAE(784, 128)
    assert sum(p.numel() for p in vae.parameters()) == 3_019_280
    widths = [
        (layer.in_features, layer.out_features) for layer in vae.modules() if isinstance(layer, nn.Linear)
    ]
    assert widths == [
        *[(784, 1024), (1024, 512), (512, 256), (256, 256)],
        *[(128, 256), (256, 512), (512, 1024), (1024, 784)],
    ]
    kinds = [type(layer).__name__ for layer in vae.decoder]
    assert kinds == ["Linear", "ReLU"] * 3 + ["Linear"]
    assert not any(layer.inplace for layer in vae.modules() if isinstance(layer, nn.ReLU))


def test_shapes():
    vae = MLPVAE((1, 4, 3), 2)
    mean, log_variance = vae.encode(torch.rand(5, 1, 4, 3))
    assert vae.latent_dim == 2
    assert mean.shape == log_variance.shape == (5, 2)
    assert not torch.equal(mean, log_variance)
    assert vae.decode(mean).shape == (5, 1, 4, 3)
    assert MLPVAE(12, 2).decode(mean).shape == (5, 12)
    assert MLPVAE((1, 4, 3), 2, learned_variance=True).decode(mean).shape == (5, 2, 4, 3)
    assert MLPVAE(12, 2, learned_variance=True).decode(mean).shape == (5, 24)


def test_forward_reconstructs_from_the_mean_of_the_code():
    vae, x = MLPVAE((4, 3), 2), torch.rand(5, 4, 3)
    assert torch.equal(vae(x), vae.decode(vae.encode(x)[0]))
    assert torch.equal(vae(x.flatten(1)), vae(x))


@pytest.mark.parametrize("data_dim", [0, (), (3, 0)])
def test_an_empty_sample_is_refused(data_dim):
    with pytest.raises(ValueError, match=r"`data_dim` must be a size, or sizes, of at least 1, got"):
        MLPVAE(data_dim, 2)


def test_an_empty_code_is_refused():
    with pytest.raises(ValueError, match=r"`latent_dim` must be at least 1, got 0"):
        MLPVAE(3, 0)


def test_samples_of_another_size_are_refused():
    with pytest.raises(
        ValueError, match=r"must have 784 features .* got 64. Make the model with `data_dim=64`"
    ):
        MLPVAE(784, 2).encode(torch.rand(5, 8, 8))
