"""The error of every supported layer's gradients and scores, against autograd in float64."""

import sys
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn.functional import linear

from _harness import Benchmark, Outcome, Settings, at_most, print_table, relative_error
from _truth import true_gradients
from proponent.gradients import GradientCapture, inner_products
from proponent.objectives import objective
from proponent.randomness import keyed_generator


@dataclass(frozen=True)
class Case:
    """A layer and its use.

    Attributes:
        build: Makes it.
        shape: The shape of one sample; none for six tokens of 64.
        call: How it is used.
    """

    build: Callable[[], nn.Module]
    shape: tuple[int, ...] | None
    call: Callable[[nn.Module, Tensor], Tensor] = lambda layer, x: layer(x)


ROWS, SERIES, IMAGES, VOLUMES = (16, 256), (16, 33), (16, 17, 16), (8, 7, 8, 6)
SEQUENCE = (12, 32)
LAYERS = {
    "Linear": Case(lambda: nn.Linear(256, 256), (256,)),
    "Linear, without bias": Case(lambda: nn.Linear(256, 256, bias=False), (256,)),
    "Linear, on 16 rows": Case(lambda: nn.Linear(256, 256), ROWS),
    "Conv1d": Case(lambda: nn.Conv1d(16, 32, 5, stride=2, padding=2), SERIES),
    "Conv1d, circular": Case(lambda: nn.Conv1d(16, 32, 3, padding=2, padding_mode="circular"), SERIES),
    "Conv2d": Case(lambda: nn.Conv2d(16, 32, 4, stride=2, padding=1), IMAGES),
    "Conv2d, uneven": Case(lambda: nn.Conv2d(16, 32, (3, 2), stride=(2, 1), padding=(1, 0)), IMAGES),
    "Conv2d, same": Case(lambda: nn.Conv2d(16, 32, (5, 3), padding="same"), IMAGES),
    "Conv2d, valid": Case(lambda: nn.Conv2d(16, 32, 3, padding="valid", bias=False), IMAGES),
    "Conv2d, reflect": Case(lambda: nn.Conv2d(16, 32, 3, padding=(2, 1), padding_mode="reflect"), IMAGES),
    "Conv2d, replicate": Case(lambda: nn.Conv2d(16, 32, 3, padding=1, padding_mode="replicate"), IMAGES),
    "Conv2d, dilated": Case(lambda: nn.Conv2d(16, 32, 3, dilation=2, padding=2), IMAGES),
    "Conv2d, grouped": Case(lambda: nn.Conv2d(16, 32, 3, padding=1, groups=4), IMAGES),
    "Conv2d, depthwise": Case(lambda: nn.Conv2d(16, 16, 3, groups=16), IMAGES),
    "Conv3d": Case(lambda: nn.Conv3d(8, 16, 3, stride=(2, 1, 1), padding=(0, 1, 0)), VOLUMES),
    "ConvTranspose1d": Case(lambda: nn.ConvTranspose1d(16, 32, 4, stride=3, output_padding=2), SERIES),
    "ConvTranspose2d": Case(lambda: nn.ConvTranspose2d(16, 32, 4, stride=2, padding=1), IMAGES),
    "ConvTranspose2d, output padding": Case(
        lambda: nn.ConvTranspose2d(16, 32, (3, 2), stride=(2, 3), padding=(1, 0), output_padding=(1, 2)),
        IMAGES,
    ),
    "ConvTranspose2d, dilated, grouped": Case(
        lambda: nn.ConvTranspose2d(16, 32, 3, stride=2, dilation=2, groups=4, bias=False),
        IMAGES,
    ),
    "ConvTranspose3d": Case(
        lambda: nn.ConvTranspose3d(8, 8, 2, stride=(1, 2, 1), padding=(1, 0, 0)), VOLUMES
    ),
    "Embedding": Case(lambda: nn.Embedding(64, 32), None),
    "LayerNorm": Case(lambda: nn.LayerNorm(256), ROWS),
    "GroupNorm": Case(lambda: nn.GroupNorm(4, 16), IMAGES),
    "InstanceNorm2d": Case(lambda: nn.InstanceNorm2d(16, affine=True), IMAGES),
    "BatchNorm2d, evaluating": Case(
        lambda: nn.Sequential(nn.Conv2d(16, 16, 3), nn.BatchNorm2d(16)).eval(),
        IMAGES,
    ),
    "called twice": Case(lambda: nn.Linear(128, 128), (128,), lambda layer, x: layer(layer(x).tanh())),
    "tied weight": Case(
        lambda: nn.Embedding(64, 32), None, lambda layer, x: linear(layer(x).mean(1), layer.weight)
    ),
    "LSTM": Case(lambda: nn.LSTM(32, 32, batch_first=True), SEQUENCE, lambda layer, x: layer(x)[0]),
    "MultiheadAttention": Case(
        lambda: nn.MultiheadAttention(32, 4, batch_first=True),
        SEQUENCE,
        lambda layer, x: layer(x, x, x, need_weights=False)[0],
    ),
}
GOAL = {"float64": at_most(1e-10), "float32": at_most(1e-5)}


def smooth_loss(output: Tensor) -> Tensor:
    """A loss that feels every output in a way of its own."""
    output = output.flatten(1)
    weights = torch.linspace(0.5, 1.5, output.shape[1], dtype=output.dtype, device=output.device)
    return (output.square() / 2 + torch.sin(output * weights)).sum(1)


def measure(settings: Settings) -> Outcome:
    """Take the larger of two relative errors: of all gradients, and of all inner products."""
    n = 3 if settings.smoke else 8
    precisions = [*GOAL, *(("tf32", "bfloat16") if settings.device.type == "cuda" else ())]
    errors = {name: _errors(name, n, precisions, settings) for name in LAYERS}
    print_table("relative error", ("layer", *precisions), [(name, *errors[name].values()) for name in LAYERS])
    worst = {precision: max(each[precision] for each in errors.values()) for precision in precisions}
    return Outcome(measured={**worst, "by layer": errors})


def _errors(name: str, n: int, precisions: list[str], settings: Settings) -> dict[str, float]:
    case = LAYERS[name]
    model, samples = _drawn(case, n, keyed_generator(settings.seed, name))
    model, samples = model.to(settings.device), samples.to(settings.device)
    loss = objective(lambda model, batch, noise: smooth_loss(case.call(model, batch)))
    G = true_gradients(model, loss, samples, None)
    found = {}
    for precision in precisions:
        capture = GradientCapture(model, loss, precision=precision)
        capture.prepare(samples, None)
        gradients = capture(samples, None)
        scores = inner_products(gradients, gradients)
        found[precision] = max(relative_error(gradients.materialise(), G), relative_error(scores, G @ G.T))
    return found


def _drawn(case: Case, n: int, generator: torch.Generator) -> tuple[nn.Module, Tensor]:
    """The layer with random parameters and statistics, and random samples."""
    model = case.build()
    for tensor in model.parameters():
        nn.init.normal_(tensor, std=max(tensor[0].numel(), 1) ** -0.5, generator=generator)
    for tensor in model.buffers():
        if tensor.is_floating_point():
            tensor.uniform_(0.5, 2, generator=generator)
    if case.shape is None:
        return model, torch.randint(64, (n, 6), generator=generator)
    return model, torch.randn(n, *case.shape, generator=generator)


BENCHMARK = Benchmark(
    name="layer_accuracy",
    claim="On every supported layer gradients and scores agree with float64 autograd to 1e-10 in float64 and "
    "1e-5 in float32.",
    goal=GOAL,
    measure=measure,
)

if __name__ == "__main__":
    sys.exit(BENCHMARK.main())
