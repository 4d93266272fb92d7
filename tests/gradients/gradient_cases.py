"""Captures, dense truths and handmade blocks that the tests of the gradients share."""

import torch
import torch.nn.functional as F
from torch import nn

import toy_models as zoo
from proponent.data import take
from proponent.gradients import Dense, GradientCapture, Gradients, OuterProducts, Rows
from reference import flat, per_sample_gradients
from toys import TOYS, normal, tokens


def captured(toy, precision="float64", **options):
    return GradientCapture(toy.model(), toy.objective, precision=precision, **options)


def gradients_of(name, samples=slice(None)):
    toy = TOYS[name]
    return captured(toy)(take(toy.samples, samples), toy.noise)


def dense(toy, samples=slice(None)):
    return flat(per_sample_gradients(toy.model(), toy.objective, take(toy.samples, samples), toy.noise))


def matrix(gradients):
    """All gradients side by side, whichever way the blocks are cut."""
    parts = gradients.by_parameter()
    return torch.cat([parts[name] for name in sorted(parts)], 1)


def factors(samples, terms, out, into, key, names=("weight", "bias")):
    return OuterProducts(
        names, normal(samples, terms, out, key=f"{key} l"), normal(samples, terms, into, key=f"{key} r")
    )


def rows(samples, terms, width, count, key, name="table"):
    index = (torch.special.ndtr(normal(samples, terms, key=f"{key} i")) * count).long()
    return Rows((name,), normal(samples, terms, width, key=f"{key} l"), index, count)


def numbers(samples, size, key, names=("numbers",), sizes=None):
    return Dense(names, normal(samples, size, key=key), sizes or (size,))


def gathered(*blocks, dtype=torch.float64, precision="float64"):
    sizes = {
        name: part.shape[1]
        for block in blocks
        for name, part in zip(block.names, block.gradients(), strict=True)
    }
    return Gradients(blocks, torch.zeros(blocks[0].samples, dtype=dtype), sizes, precision)


def positive(gradients):
    """A metric: a positive factor, none of them one, for each number of each parameter."""
    return {name: normal(size, key=f"metric {name}").exp() for name, size in gradients.sizes.items()}


class Ways(nn.Module):
    """A model made of a function of its own layers, `forward(model, x)`."""

    def __init__(self, function, **layers):
        super().__init__()
        self.function = function
        for name, layer in layers.items():
            if isinstance(layer, nn.Parameter):
                self.register_parameter(name, layer)
            else:
                self.add_module(name, layer)

    def forward(self, x):
        return self.function(self, x)


def made(function, **layers):
    """Such a model in float64, its parameters at no special value."""
    return zoo.fill(Ways(function, **layers), torch.Generator().manual_seed(3))


def frozen(layer, *names):
    for name in names:
        layer.get_parameter(name).requires_grad_(False)
    return layer


def parameter(*shape):
    return nn.Parameter(torch.zeros(shape))


def shared_bias():
    first, second = nn.Linear(4, 4), nn.Linear(4, 4)
    second.bias = first.bias
    return made(lambda m, x: m.second(torch.tanh(m.first(x))), first=first, second=second)


def with_and_without_bias(m, x):
    return m.layer(torch.tanh(F.linear(x, m.layer.weight)))


def bias_as_weight(m, x):
    return F.linear(torch.tanh(F.linear(x, m.weight, m.shared)), m.shared[None])


images = normal(4, 2, 6, 5)
x4 = normal(4, 4)

# Parameters used in ways that need blocks to be joined, added or left apart: `(model, samples)`.
USES = {
    "convolution-called-twice": (
        lambda: made(lambda m, x: m.layer(torch.tanh(m.layer(x))), layer=nn.Conv2d(2, 2, 3, padding=1)),
        images,
    ),
    "convolution-beside-its-transpose": (
        lambda: made(
            lambda m, x: F.conv_transpose2d(torch.tanh(m.layer(x)), m.layer.weight, stride=2),
            layer=nn.Conv2d(2, 3, 3),
        ),
        images,
    ),
    "norm-called-twice": (
        lambda: made(lambda m, x: m.norm(torch.tanh(m.norm(x))), norm=nn.LayerNorm(4)),
        x4,
    ),
    "embedding-called-twice": (
        lambda: made(lambda m, x: m.table(x) * torch.tanh(m.table(x.flip(1) // 2)), table=nn.Embedding(7, 3)),
        tokens(4, 5),
    ),
    "one-bias-for-two-layers": (shared_bias, x4),
    "with-and-without-bias": (lambda: made(with_and_without_bias, layer=nn.Linear(4, 4)), x4),
    "bias-alone": (
        lambda: made(lambda m, x: torch.sin(m.layer(x)), layer=frozen(nn.Linear(4, 3), "weight")),
        x4,
    ),
    "weight-alone": (
        lambda: made(lambda m, x: torch.sin(m.layer(x)), layer=frozen(nn.Linear(4, 3), "bias")),
        x4,
    ),
    "convolution-bias-alone": (
        lambda: made(lambda m, x: torch.sin(m.layer(x)), layer=frozen(nn.Conv2d(2, 3, 2), "weight")),
        images,
    ),
    "scale-alone": (
        lambda: made(lambda m, x: torch.sin(m.norm(x)), norm=frozen(nn.GroupNorm(1, 2), "bias")),
        images,
    ),
    "shift-alone": (
        lambda: made(lambda m, x: torch.sin(m.norm(x)), norm=frozen(nn.LayerNorm(5), "weight")),
        images,
    ),
    "norm-without-shift": (lambda: made(lambda m, x: m.norm(x), norm=nn.LayerNorm(5, bias=False)), images),
    "group-norm-of-vectors": (lambda: made(lambda m, x: m.norm(x), norm=nn.GroupNorm(2, 4)), x4),
    "instance-norm-with-running-statistics": (
        lambda: made(lambda m, x: m.norm(x), norm=statistics(nn.InstanceNorm2d(2, 1e-2, 0.1, True, True))),
        images,
    ),
    "batch-norm-with-running-statistics": (
        lambda: made(lambda m, x: m.norm(x), norm=statistics(nn.BatchNorm2d(2, eps=1e-2))),
        images,
    ),
    "norms-with-an-epsilon": (
        lambda: made(
            lambda m, x: m.images(m.groups(m.lines(x / 10) / 10) / 10),
            lines=nn.LayerNorm(5, eps=1e-2),
            groups=nn.GroupNorm(2, 2, eps=1e-2),
            images=nn.InstanceNorm2d(2, eps=1e-2, affine=True),
        ),
        images,
    ),
    "parameter-as-weight-and-bias": (
        lambda: made(bias_as_weight, weight=parameter(3, 4), shared=parameter(3)),
        x4,
    ),
    "learnt-input": (
        lambda: made(
            lambda m, x: m.head(torch.tanh(m.layer(m.start) + x)),
            start=parameter(4),
            layer=nn.Linear(4, 4),
            head=nn.Linear(4, 2),
        ),
        x4,
    ),
    "weight-that-a-layer-makes": (
        lambda: made(
            lambda m, x: F.conv2d(x, torch.tanh(m.maker(m.code)).view(3, 2, 2, 2)),
            maker=nn.Linear(3, 24),
            code=parameter(3),
        ),
        images,
    ),
    "samples-along-the-second-axis": (
        lambda: made(lambda m, x: m.layer(x.transpose(0, 1)).sin().transpose(0, 1), layer=nn.Linear(5, 3)),
        normal(4, 6, 5),
    ),
    "a-loop-over-samples": (
        lambda: made(
            lambda m, x: torch.stack([m.head(row).sin() for row in torch.tanh(m.layer(x))]),
            layer=nn.Linear(4, 4),
            head=nn.Linear(4, 2),
        ),
        x4,
    ),
    "a-layer-mapped-over-samples": (
        lambda: made(lambda m, x: torch.func.vmap(m.layer)(torch.tanh(m.layer(x))), layer=nn.Linear(4, 4)),
        x4,
    ),
    "sparse-embedding": (
        lambda: made(lambda m, x: m.table(x).sin(), table=nn.Embedding(7, 3, sparse=True)),
        tokens(4, 5),
    ),
    "sparse-embedding-beside-a-rule": (
        lambda: made(lambda m, x: m.table(x).sin() @ m.table.weight.T, table=nn.Embedding(7, 3, sparse=True)),
        tokens(4, 5),
    ),
    "padding-counted-from-the-end": (
        lambda: made(lambda m, x: m.table(x).sin(), table=nn.Embedding(7, 3, padding_idx=-2)),
        tokens(4, 9),
    ),
}


def statistics(norm):
    """Running statistics at no special value, as after training."""
    norm.running_mean.copy_(torch.tensor([0.3, -0.2]))
    norm.running_var.copy_(torch.tensor([0.5, 2.0]))
    return norm.eval()
