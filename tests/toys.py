"""Models with objectives, samples and noise, over which every property is tested.

`TOYS` treat samples apart, as an objective must; `COUPLED` do not, and must be refused. Both are made in
float64. A toy with `gradients` also has its per-sample gradients in closed form.
"""

from collections.abc import Callable
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.nn.utils.parametrizations import weight_norm

import toy_models as zoo
from proponent.data import Batch
from proponent.objectives import Elbo, Objective, objective
from proponent.randomness import keyed_normal

SAMPLES, DRAWS = 5, 3


@dataclass(frozen=True)
class Toy:
    """One case.

    Attributes:
        name: Its key in `TOYS` or `COUPLED`.
        make: Builds the model; every parameter comes from the generator.
        objective: The per-sample loss.
        samples: Five samples.
        noise: Draws shared by all samples, ``[m, *shape]``, or none.
        gradients: ``(model, samples, noise) -> {parameter: [n, *shape]}`` in closed form, or none.
    """

    name: str
    make: Callable[[torch.Generator], nn.Module]
    objective: Objective
    samples: Batch
    noise: Tensor | None = None
    gradients: Callable[[nn.Module, Batch, Tensor | None], dict[str, Tensor]] | None = None

    def model(self, seed: int = 0) -> nn.Module:
        return self.make(torch.Generator().manual_seed(seed))


TOYS: dict[str, Toy] = {}
COUPLED: dict[str, Toy] = {}


def normal(*shape: int, key: str = "samples") -> Tensor:
    return keyed_normal(shape, "toy", key, dtype=torch.float64)


def uniform(*shape: int) -> Tensor:
    return torch.special.ndtr(normal(*shape))


def tokens(*shape: int) -> Tensor:
    return (uniform(*shape) * 7).long()


def per_sample(output: Tensor) -> Tensor:
    """A smooth number for each sample, sensitive to each of its outputs in a different way."""
    output = output.flatten(1)
    weights = torch.linspace(0.5, 1.5, output.shape[1], dtype=output.dtype, device=output.device)
    return (output.square() / 2 + torch.sin(output * weights)).sum(1)


def add(
    name: str,
    build: Callable[[], nn.Module],
    loss: Objective,
    samples: Batch,
    noise: Tensor | None = None,
    gradients: Callable[[nn.Module, Batch, Tensor | None], dict[str, Tensor]] | None = None,
    to: dict[str, Toy] = TOYS,
) -> None:
    to[name] = Toy(name, lambda generator: zoo.fill(build(), generator), loss, samples, noise, gradients)


# --- Gradients in closed form -------------------------------------------------------------------------


def squared_error(model, batch, noise):
    x, y = batch
    return (model(x) - y).square().sum(1)


def linear_gradients(model, batch, noise):
    x, y = batch
    residual = x @ model.weight.T + model.bias - y  # [n, out]
    return {"weight": 2 * residual[:, :, None] * x[:, None, :], "bias": 2 * residual}


def gaussian_elbo(model, x, noise):
    """The loss of a beta-VAE with beta = 2 and a Gaussian of scale 1/2, written out."""
    mean, log_variance = model.encode(x)
    z = mean[:, None] + torch.exp(log_variance / 2)[:, None] * noise
    logits = model.decode(z.flatten(0, 1)).unflatten(0, z.shape[:2])
    reconstruction = 2 * (logits - x[:, None]).square().sum(2).mean(1)
    return reconstruction + (mean.square() + log_variance.exp() - 1 - log_variance).sum(1)


def linear_vae_gradients(model, x, noise):
    mean, log_variance = (x @ model.encoder.weight.T + model.encoder.bias).chunk(2, 1)
    deviation = torch.exp(log_variance / 2)
    z = mean[:, None] + deviation[:, None] * noise  # [n, m, latent]
    pull = 4 * (z @ model.decoder.weight.T + model.decoder.bias - x[:, None])  # [n, m, data], loss by output
    back = pull @ model.decoder.weight  # [n, m, latent]
    by_mean = back.mean(1) + 2 * mean
    by_log_variance = (back * noise).mean(1) * deviation / 2 + deviation.square() - 1
    by_code = torch.cat([by_mean, by_log_variance], 1)
    return {
        "encoder.weight": by_code[:, :, None] * x[:, None, :],
        "encoder.bias": by_code,
        "decoder.weight": torch.einsum("nmo,nmi->noi", pull, z) / noise.shape[0],
        "decoder.bias": pull.mean(1),
    }


x4, x5, x6 = normal(SAMPLES, 4), normal(SAMPLES, 5), normal(SAMPLES, 6)
add(
    "linear",
    lambda: nn.Linear(4, 3),
    objective(squared_error),
    (x4, normal(SAMPLES, 3, key="targets")),
    gradients=linear_gradients,
)
add(
    "linear-gaussian-vae",
    zoo.linear_vae,
    objective(gaussian_elbo, noise_shape=(2,), per_sample_noise=True),
    x5,
    normal(DRAWS, 2, key="noise"),
    gradients=linear_vae_gradients,
)

# --- One layer type each, its output put through `per_sample` -----------------------------------------

plain = objective(lambda model, batch, noise: per_sample(model(batch)))
images, series, volumes = normal(SAMPLES, 4, 6, 5), normal(SAMPLES, 4, 9), normal(SAMPLES, 2, 4, 3, 4)
single_layers: dict[str, tuple[Callable[[], nn.Module], Tensor]] = {
    "linear-without-bias": (lambda: nn.Linear(4, 3, bias=False), x4),
    "linear-on-sequences": (lambda: nn.Linear(4, 3), normal(SAMPLES, 2, 3, 4)),
    "conv1d": (lambda: nn.Conv1d(4, 6, 3, stride=2, padding=1), series),
    "conv1d-circular": (lambda: nn.Conv1d(4, 2, 3, padding=2, padding_mode="circular"), series),
    "conv2d": (lambda: nn.Conv2d(4, 3, (3, 2), stride=(2, 1), padding=(1, 0)), images),
    "conv2d-4-2-1": (lambda: nn.Conv2d(4, 3, 4, stride=2, padding=1), normal(SAMPLES, 4, 8, 6)),
    "conv2d-ragged": (lambda: nn.Conv2d(4, 3, 4, stride=2, padding=1), normal(SAMPLES, 4, 9, 7)),
    "conv2d-same": (lambda: nn.Conv2d(4, 2, (5, 3), padding="same", dilation=(1, 2)), images),
    "conv2d-same-uneven": (
        lambda: nn.Conv2d(4, 2, (4, 3), padding="same", padding_mode="circular"),  # 1 row above, 2 below
        images,
    ),
    "conv2d-valid": (lambda: nn.Conv2d(4, 2, 2, padding="valid", bias=False), images),
    "conv2d-reflect": (lambda: nn.Conv2d(4, 2, 3, padding=(2, 1), padding_mode="reflect"), images),
    "conv2d-replicate": (lambda: nn.Conv2d(4, 2, 3, padding=1, padding_mode="replicate"), images),
    "conv2d-grouped": (lambda: nn.Conv2d(4, 6, 3, dilation=2, padding=2, groups=2), images),
    "conv2d-depthwise": (lambda: nn.Conv2d(4, 4, 3, groups=4, bias=False), images),
    "conv3d": (lambda: nn.Conv3d(2, 3, 2, stride=(2, 1, 1), padding=(0, 1, 0)), volumes),
    "conv-transpose1d": (lambda: nn.ConvTranspose1d(4, 3, 4, stride=3, output_padding=2), series),
    "conv-transpose2d": (
        lambda: nn.ConvTranspose2d(4, 3, (3, 2), stride=(2, 1), padding=(1, 0), output_padding=(1, 0)),
        images,
    ),
    "conv-transpose2d-4-2-1": (lambda: nn.ConvTranspose2d(4, 3, 4, stride=2, padding=1), images),
    "conv-transpose2d-grouped": (
        lambda: nn.ConvTranspose2d(4, 6, 3, stride=2, dilation=2, groups=2, bias=False),
        images,
    ),
    "conv-transpose3d": (
        lambda: nn.ConvTranspose3d(2, 2, 2, stride=(1, 2, 1), padding=(1, 0, 0)),
        volumes,
    ),
    "layer-norm": (lambda: nn.LayerNorm(4), x4),
    "layer-norm-two-axes": (lambda: nn.LayerNorm((6, 5)), images),
    "group-norm": (lambda: nn.GroupNorm(2, 4), images),
    "instance-norm": (lambda: nn.InstanceNorm2d(4, affine=True), images),
    "batch-norm-evaluating": (lambda: nn.Sequential(nn.Conv2d(4, 3, 2), nn.BatchNorm2d(3)).eval(), images),
    "batch-norm-1d-evaluating": (lambda: nn.Sequential(nn.Linear(4, 3), nn.BatchNorm1d(3)).eval(), x4),
    "embedding": (lambda: nn.Embedding(7, 4), tokens(SAMPLES, 6)),
    "embedding-padded": (lambda: nn.Embedding(7, 4, padding_idx=3), tokens(SAMPLES, 6)),
    "embedding-of-one-token": (lambda: nn.Embedding(7, 4), tokens(SAMPLES)),
    "prelu": (lambda: nn.Sequential(nn.Linear(4, 3), nn.PReLU(3)), x4),
    "rms-norm": (lambda: nn.Sequential(nn.Linear(4, 3), nn.RMSNorm(3)), x4),
    "weight-norm": (lambda: weight_norm(nn.Linear(4, 3)), x4),
    "lstm": (lambda: zoo.Recurrent(nn.LSTM), normal(SAMPLES, 4, 3)),
    "gru": (lambda: zoo.Recurrent(nn.GRU), normal(SAMPLES, 4, 3)),
    "attention": (zoo.Attention, normal(SAMPLES, 3, 4)),
}
for name, (build, samples) in single_layers.items():
    add(name, build, plain, samples)

# --- Parameters used in ways that a rule by layer can miss --------------------------------------------

ways: dict[str, tuple[Callable[[], nn.Module], Tensor]] = {
    "called-twice": (zoo.Twice, x4),
    "called-many-times": (zoo.ManyTimes, normal(SAMPLES, 4, 3)),
    "tied-transposed": (zoo.TiedTransposed, x5),
    "tied-embedding": (zoo.TiedEmbedding, tokens(SAMPLES, 6)),
    "tied-layers": (zoo.TiedLayers, x4),
    "shared-module": (zoo.SharedModule, x4),
    "loose-parameter": (zoo.LooseParameter, x4),
    "beside-its-module": (zoo.BesideItsModule, x4),
    "penalised": (zoo.Penalised, x4),
    "unused": (zoo.Unused, x4),
    "frozen": (zoo.Frozen, x4),
    "positions": (zoo.Positions, tokens(SAMPLES, 3)),
    "in-place": (lambda: nn.Sequential(nn.Linear(4, 6), nn.ReLU(inplace=True), nn.Linear(6, 2)), x4),
    "samples-as-wide-as-many": (lambda: nn.Sequential(nn.Linear(5, 5), nn.Tanh(), nn.Linear(5, 5)), x5),
}
for name, (build, samples) in ways.items():
    add(name, build, plain, samples)

# --- Noise, and the axes in which it meets the samples ------------------------------------------------


def tanh_network() -> nn.Module:
    return nn.Sequential(nn.Linear(4, 5), nn.Tanh(), nn.Linear(5, 2))


def noisy_samples_first(model, x, noise):
    output = model((x[:, None] + noise).flatten(0, 1))  # [n * m, 2]
    return per_sample(output.unflatten(0, (-1, noise.shape[-2]))) / noise.shape[-2]


def noisy_draws_first(model, x, noise):
    return per_sample(model(x + noise[:, None]).transpose(0, 1)) / noise.shape[0]  # [m, n, 2]


def noisy_draws_first_flat(model, x, noise):
    output = model((x + noise[:, None]).flatten(0, 1))  # [m * n, 2]
    return per_sample(output.unflatten(0, (noise.shape[0], -1)).transpose(0, 1)) / noise.shape[0]


def noisy_draw_by_draw(model, x, noise):
    return torch.stack([per_sample(model(x + draw)) for draw in noise]).mean(0)


noise4 = normal(DRAWS, 4, key="noise")
add("noise-samples-first", tanh_network, objective(noisy_samples_first, (4,), True), x4, noise4)
add("noise-draws-first", tanh_network, objective(noisy_draws_first, (4,)), x4, noise4)
add("noise-draws-first-flat", tanh_network, objective(noisy_draws_first_flat, (4,)), x4, noise4)
add("noise-draw-by-draw", tanh_network, objective(noisy_draw_by_draw, (4,)), x4, noise4)
add(
    "as-many-draws-as-samples",
    tanh_network,
    objective(noisy_draws_first, (4,)),
    x4,
    normal(SAMPLES, 4, key="noise"),
)
add(
    "noise-network",
    zoo.NoiseNetwork,
    objective(lambda model, x, noise: per_sample(model(x, noise)) / noise.shape[0], (3,)),
    x4,
    normal(DRAWS, 3, key="noise"),
)
add(
    "dict-of-samples",
    lambda: nn.Linear(4, 3),
    objective(lambda model, batch, noise: per_sample(model(batch["x"])) * batch["weight"]),
    {"x": x4, "weight": uniform(SAMPLES)},
)

# --- VAEs, each with another form of the ELBO ---------------------------------------------------------

square_images = uniform(SAMPLES, 2, 8, 8)
vaes: dict[str, tuple[Callable[[], nn.Module], Elbo, Tensor]] = {
    "mlp-vae": (zoo.mlp_vae, Elbo(beta=4.0), uniform(SAMPLES, 6)),
    "mlp-vae-gaussian": (zoo.mlp_vae, Elbo(beta=2.0, likelihood="gaussian", scale=0.5), x6),
    "mlp-vae-gaussian-learned": (zoo.learned_variance_vae, Elbo(beta=0.5, likelihood="gaussian-learned"), x6),
    "mlp-vae-reconstruction": (zoo.mlp_vae, Elbo(part="reconstruction"), uniform(SAMPLES, 6)),
    "mlp-vae-kl": (zoo.mlp_vae, Elbo(beta=3.0, part="kl"), uniform(SAMPLES, 6)),
    "mlp-vae-score-function": (
        zoo.mlp_vae,
        Elbo(beta=2.0, estimator="score-function"),
        uniform(SAMPLES, 6),
    ),
    "conv-vae": (zoo.conv_vae, Elbo(beta=2.0, likelihood="squared-error"), square_images),
    "conv-vae-bernoulli": (zoo.conv_vae, Elbo(beta=2.0), square_images),
}
for name, (build, elbo, samples) in vaes.items():
    shape = elbo.noise_shape(build())
    add(name, build, elbo, samples, None if shape is None else normal(DRAWS, *shape, key="noise"))

# --- Samples that are coupled -------------------------------------------------------------------------


def contrastive(model, x, noise):
    similarity = model(x) @ model(x).T
    return F.cross_entropy(similarity, torch.arange(len(x), device=x.device), reduction="none")


def reweighted(model, x, noise):
    losses = per_sample(model(x))
    return losses / losses.detach().mean()


add("batch-norm-training", lambda: nn.Sequential(nn.Linear(4, 3), nn.BatchNorm1d(3)), plain, x4, to=COUPLED)
add("subtracts-batch-mean", zoo.SubtractsBatchMean, plain, x4, to=COUPLED)
add("divides-by-batch-maximum", zoo.DividesByBatchMaximum, plain, x4, to=COUPLED)
add("attention-along-samples", lambda: zoo.Attention(True), plain, normal(SAMPLES, 3, 4), to=COUPLED)
add("contrastive-loss", tanh_network, objective(contrastive), x4, to=COUPLED)
add("reweighted-loss", tanh_network, objective(reweighted), x4, to=COUPLED)
