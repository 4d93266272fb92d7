"""Small modules, each with one trait that an implementation of per-sample gradients can stumble over."""

from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor, nn


def fill(model: nn.Module, generator: torch.Generator) -> nn.Module:
    """Draw every parameter anew from the generator, in float64, so that none sits at a special value."""
    model = model.double()
    for parameter in model.parameters():
        draws = torch.randn(parameter.shape, generator=generator, dtype=torch.float64)
        fan_in = parameter[0].numel() if parameter.ndim > 1 else 4
        parameter.data.copy_(draws / fan_in**0.5)
    return model


class ToyVAE(nn.Module):
    """A VAE of two given networks; the encoder's output holds mean and log variance."""

    def __init__(self, encoder: nn.Module, decoder: nn.Module, latent_dim: int) -> None:
        super().__init__()
        self.encoder, self.decoder, self.latent_dim = encoder, decoder, latent_dim

    def encode(self, x: Tensor) -> tuple[Tensor, Tensor]:
        mean, log_variance = self.encoder(x).chunk(2, dim=-1)
        return mean, log_variance

    def decode(self, z: Tensor) -> Tensor:
        return self.decoder(z)


def linear_vae() -> nn.Module:
    return ToyVAE(nn.Linear(5, 4), nn.Linear(2, 5), latent_dim=2)


def mlp_vae() -> nn.Module:
    encoder = nn.Sequential(nn.Linear(6, 5), nn.ReLU(), nn.Linear(5, 4))
    decoder = nn.Sequential(nn.Linear(2, 5), nn.ReLU(), nn.Linear(5, 6))
    return ToyVAE(encoder, decoder, latent_dim=2)


def learned_variance_vae() -> nn.Module:
    """Its decoder returns a mean and a log variance for each of six features."""
    encoder = nn.Sequential(nn.Linear(6, 5), nn.Tanh(), nn.Linear(5, 4))
    decoder = nn.Sequential(nn.Linear(2, 5), nn.Tanh(), nn.Linear(5, 12))
    return ToyVAE(encoder, decoder, latent_dim=2)


def conv_vae() -> nn.Module:
    """Kernels of 4 at stride 2, as in the paper, on images of 2 x 8 x 8."""
    encoder = nn.Sequential(
        nn.Conv2d(2, 3, 4, stride=2, padding=1),
        nn.ReLU(),
        nn.Conv2d(3, 4, 4),
        nn.Flatten(),
        nn.ReLU(),
        nn.Linear(4, 6),
    )
    decoder = nn.Sequential(
        nn.Linear(3, 4),
        nn.ReLU(),
        nn.Unflatten(1, (4, 1, 1)),
        nn.ConvTranspose2d(4, 3, 4),
        nn.ReLU(),
        nn.ConvTranspose2d(3, 2, 4, stride=2, padding=1),
    )
    return ToyVAE(encoder, decoder, latent_dim=3)


class Twice(nn.Module):
    """Calls one layer twice."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(4, 4)

    def forward(self, x: Tensor) -> Tensor:
        return self.layer(torch.tanh(self.layer(x)))


class ManyTimes(nn.Module):
    """A recurrence written by hand: one cell for every step of a sequence."""

    def __init__(self) -> None:
        super().__init__()
        self.cell = nn.Linear(3 + 4, 4)

    def forward(self, x: Tensor) -> Tensor:
        state = x.new_zeros(*x.shape[:-2], 4)
        for step in range(x.shape[-2]):
            state = torch.tanh(self.cell(torch.cat([x[..., step, :], state], -1)))
        return state


class TiedTransposed(nn.Module):
    """An autoencoder whose decoder is its encoder's weight transposed."""

    def __init__(self) -> None:
        super().__init__()
        self.encoder = nn.Linear(5, 3)

    def forward(self, x: Tensor) -> Tensor:
        return F.linear(torch.tanh(self.encoder(x)), self.encoder.weight.t())


class TiedEmbedding(nn.Module):
    """A language model in small: the output layer holds the embedding's own parameter."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(7, 4)
        self.head = nn.Linear(4, 7)
        self.head.weight = self.embedding.weight

    def forward(self, tokens: Tensor) -> Tensor:
        return self.head(torch.tanh(self.embedding(tokens)))


class TiedLayers(nn.Module):
    """Two layers that hold one weight, each with a bias of its own."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.Linear(4, 4), nn.Linear(4, 4)
        self.second.weight = self.first.weight

    def forward(self, x: Tensor) -> Tensor:
        return self.second(torch.tanh(self.first(x)))


class SharedModule(nn.Module):
    """One layer under two names."""

    def __init__(self) -> None:
        super().__init__()
        layer = nn.Linear(4, 4)
        self.first, self.second = layer, layer

    def forward(self, x: Tensor) -> Tensor:
        return self.second(torch.tanh(self.first(x)))


class LooseParameter(nn.Module):
    """Parameters that belong to no layer, one of them a single number."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(4, 3)
        self.scale = nn.Parameter(torch.ones(3))
        self.shift = nn.Parameter(torch.ones(()))

    def forward(self, x: Tensor) -> Tensor:
        return torch.sin(self.layer(x)) * self.scale + self.shift


class BesideItsModule(nn.Module):
    """A layer that is called, and whose weight is used once more without a call."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(4, 4)

    def forward(self, x: Tensor) -> Tensor:
        return F.linear(torch.tanh(self.layer(x)), self.layer.weight)


class Unused(nn.Module):
    """A layer that the forward pass leaves out."""

    def __init__(self) -> None:
        super().__init__()
        self.used, self.unused = nn.Linear(4, 3), nn.Linear(4, 3)

    def forward(self, x: Tensor) -> Tensor:
        return self.used(x)


class Frozen(nn.Module):
    """A layer that isn't trained, and one whose bias alone isn't."""

    def __init__(self) -> None:
        super().__init__()
        self.frozen, self.head = nn.Linear(4, 3), nn.Linear(3, 2)
        self.frozen.requires_grad_(False)
        self.head.bias.requires_grad_(False)

    def forward(self, x: Tensor) -> Tensor:
        return self.head(torch.tanh(self.frozen(x)))


class Positions(nn.Module):
    """A table of positions that is looked up once for the whole batch, without a sample axis."""

    def __init__(self) -> None:
        super().__init__()
        self.tokens, self.positions = nn.Embedding(7, 4), nn.Embedding(3, 4)
        self.head = nn.Linear(4, 2)

    def forward(self, tokens: Tensor) -> Tensor:
        positions = torch.arange(tokens.shape[-1], device=tokens.device)
        return self.head(torch.tanh(self.tokens(tokens) + self.positions(positions)))


class NoiseNetwork(nn.Module):
    """A layer that sees the draws alone, and so has no sample axis."""

    def __init__(self) -> None:
        super().__init__()
        self.source, self.head = nn.Linear(3, 4), nn.Linear(4, 4)

    def forward(self, x: Tensor, noise: Tensor) -> Tensor:  # [n, 4], [m, 3] -> [n, m, 4]
        return self.head(torch.tanh(x[:, None] + self.source(noise)))


class Recurrent(nn.Module):
    """The last output of a recurrent layer."""

    def __init__(self, layer: Callable[..., nn.Module]) -> None:
        super().__init__()
        self.recurrent = layer(3, 4, batch_first=True)
        self.head = nn.Linear(4, 2)

    def forward(self, x: Tensor) -> Tensor:
        return self.head(self.recurrent(x)[0][:, -1])


class Attention(nn.Module):
    """Self-attention with two heads; along the samples, which couples them, if told to."""

    def __init__(self, along_samples: bool = False) -> None:
        super().__init__()
        self.attention = nn.MultiheadAttention(4, 2, batch_first=not along_samples)
        self.head = nn.Linear(4, 2)

    def forward(self, x: Tensor) -> Tensor:
        return self.head(self.attention(x, x, x, need_weights=False)[0])


class Penalised(nn.Module):
    """Adds a penalty on its weights to its output, so that they act beside the layer's call."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(4, 3)

    def forward(self, x: Tensor) -> Tensor:
        return self.layer(x) + self.layer.weight.square().sum()


class SubtractsBatchMean(nn.Module):
    """Centres its activations over the batch: the samples are coupled."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(4, 3)

    def forward(self, x: Tensor) -> Tensor:
        hidden = self.layer(x)
        return hidden - hidden.mean(0, keepdim=True)


class DividesByBatchMaximum(nn.Module):
    """Scales by a statistic of the batch that no gradient passes: the samples are coupled all the same."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(4, 3)

    def forward(self, x: Tensor) -> Tensor:
        hidden = self.layer(x)
        return hidden / hidden.detach().abs().max()
