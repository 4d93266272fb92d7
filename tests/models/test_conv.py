from itertools import pairwise

import pytest
import torch
from torch import nn

from proponent.models import ConvVAE


@pytest.mark.parametrize(("latent_dim", "count"), [(64, 806_915), (128, 856_195)])
def test_the_papers_size(latent_dim, count):
    vae = ConvVAE(latent_dim)
    assert sum(p.numel() for p in vae.parameters()) == count


def test_the_papers_layers():
    vae = ConvVAE(128)
    layers = [
        (layer.in_channels, layer.out_channels, layer.kernel_size, layer.stride, layer.padding)
        for layer in vae.modules()
        if isinstance(layer, nn.Conv2d | nn.ConvTranspose2d)
    ]
    halving, covering = ((4, 4), (2, 2), (1, 1)), ((4, 4), (1, 1), (0, 0))
    assert layers == [
        *[
            (3, 32, *halving),
            (32, 32, *halving),
            (32, 64, *halving),
            (64, 64, *halving),
            (64, 256, *covering),
        ],
        *[
            (256, 64, *covering),
            (64, 64, *halving),
            (64, 32, *halving),
            (32, 32, *halving),
            (32, 3, *halving),
        ],
    ]
    for network in (vae.encoder, vae.decoder):
        learned = [i for i, layer in enumerate(network) if list(layer.parameters())]
        for before, after in pairwise(learned):
            between = [type(layer) for layer in network[before + 1 : after]]
            assert between.count(nn.ReLU) == 1
        assert not list(network[learned[-1] + 1 :])
        assert not any(layer.inplace for layer in network if isinstance(layer, nn.ReLU))


@pytest.mark.parametrize(("channels", "size"), [(3, 64), (1, 16), (2, (16, 48)), (1, 32)])
def test_shapes(channels, size):
    vae = ConvVAE(5, channels=channels, size=size)
    height, width = size if isinstance(size, tuple) else (size, size)
    x = torch.rand(2, channels, height, width)
    mean, log_variance = vae.encode(x)
    assert vae.latent_dim == 5
    assert mean.shape == log_variance.shape == (2, 5)
    assert not torch.equal(mean, log_variance)
    assert vae.decode(mean).shape == x.shape
    assert torch.equal(vae(x), vae.decode(mean))


def test_a_learned_variance_doubles_the_channels():
    vae = ConvVAE(5, channels=3, size=16, learned_variance=True)
    assert vae.decode(torch.zeros(2, 5)).shape == (2, 6, 16, 16)
    assert vae.encode(torch.zeros(2, 3, 16, 16))[0].shape == (2, 5)


@pytest.mark.parametrize("size", [28, 8, 0, (32, 20), (24, 32)])
def test_images_that_cannot_be_halved_are_refused(size):
    with pytest.raises(ValueError, match=r"`size` must be a multiple of 16.* got .* Resize or pad"):
        ConvVAE(2, size=size)


@pytest.mark.parametrize("sizes", [{"latent_dim": 0}, {"latent_dim": 2, "channels": 0}])
def test_empty_sizes_are_refused(sizes):
    with pytest.raises(ValueError, match=r"`latent_dim` and `channels` must be at least 1"):
        ConvVAE(**sizes)


def test_images_of_another_shape_are_refused():
    with pytest.raises(ValueError, match=r"images of shape \(3, 16, 16\) .* got \(1, 16, 16\)"):
        ConvVAE(2, size=16).encode(torch.rand(4, 1, 16, 16))
