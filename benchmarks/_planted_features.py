"""What is known of every sample of the planted sets: losses, self-influence, codes, residuals.

    python benchmarks/_planted_features.py FOLDER [--sets letters,faces] [--repeats 5,6,7] [--device cuda]

reads the images that `_planted_sets.py` decoded, trains for each set, repeat and beta one perceptron VAE on
all samples and pairs of them on halves, and writes `features-SET.npz` beside the images. Six sets with five
repeats take three minutes on an H200 and a night on two CPU cores.
"""

import argparse
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from _planted_sets import SETS, planted_set
from proponent.gradients import GradientCapture, paired_products, squared_norms
from proponent.models import MLPVAE
from proponent.objectives import Elbo
from proponent.randomness import keyed_generator, keyed_normal, keyed_seed
from proponent.training import Member, Optimizer, Run, fit_ensemble

BETAS = (1.0, 4.0)
LATENT, COMPONENTS = 16, 16
STEPS, CHECKPOINTS, DRAWS, PAIRS = 8000, 5, 16, 2
CHUNK = 1000
COLUMNS = ("loss", "reconstruction", "divergence", "unseen", "seen", "self-influence", "gradient norm")


def features_of(name: str, repeats: Sequence[int], folder: Path, device: torch.device) -> dict[str, Any]:
    """Train the models of a set, and compute its features.

    Args:
        name: The set.
        repeats: Which draws of it.
        folder: Where the decoded images are.
        device: Where to train.

    Returns:
        The arrays of the file: for each column ``[r, b, n]``, ``latents`` and ``residuals``
        ``[r, b, n, 16]``, and ``kind``, ``label``, ``checksum``, ``repeats`` and ``betas``.
    """
    sets = [planted_set(name, repeat, folder) for repeat in repeats]
    samples = torch.cat([torch.from_numpy(each.pixels).float() / 255 for each in sets])
    n = len(sets[0].pixels)
    cells = [(r, b) for r in range(len(repeats)) for b in range(len(BETAS))]
    full = _trained(name, samples, [_member(name, n, repeats, r, b) for r, b in cells], CHECKPOINTS, device)
    halves = {(r, pair): _halves(n, repeats[r], pair) for r in range(len(repeats)) for pair in range(PAIRS)}
    half_models = _trained(
        name,
        samples,
        [
            _member(name, n, repeats, r, b, f"pair {pair} side {side}", halves[r, pair] == side)
            for r, b in cells
            for pair in range(PAIRS)
            for side in (0, 1)
        ],
        1,
        device,
    )
    rows = []
    for k, (r, b) in enumerate(cells):
        x = samples[r * n : (r + 1) * n].to(device)
        noise = keyed_normal((DRAWS, LATENT), repeats[r], "losses").to(device)
        loss = _objective(name, b)
        row = _own_features(full[k], loss, x, noise)
        row |= {"unseen": np.zeros(n), "seen": np.zeros(n)}
        for pair in range(PAIRS):
            for side in (0, 1):
                run = half_models[(k * PAIRS + pair) * 2 + side]
                losses = _losses(run.model, loss, x, noise)
                saw = halves[r, pair] == side
                row["seen"][saw] += losses[saw] / PAIRS
                row["unseen"][~saw] += losses[~saw] / PAIRS
        rows.append(row)
    arrays = {
        key: np.stack([row[key] for row in rows])
        .reshape(len(repeats), len(BETAS), *rows[0][key].shape)
        .astype(np.float32 if key in COLUMNS else np.float16)
        for key in rows[0]
    }
    return arrays | {
        "kind": np.stack([each.kind for each in sets]),
        "label": np.stack([each.label for each in sets]),
        "checksum": np.array([each.checksum for each in sets], np.uint32),
        "repeats": np.array(repeats),
        "betas": np.array(BETAS),
    }


def _objective(name: str, b: int) -> Elbo:
    return Elbo(beta=BETAS[b], likelihood="squared-error" if name == "faces" else "bernoulli")


def _halves(n: int, repeat: int, pair: int) -> Any:
    """Which side of a pair sees each sample: 0 or 1."""
    side = np.zeros(n, int)
    side[np.random.default_rng([repeat, pair, 77]).permutation(n)[: n // 2]] = 1
    return side


def _member(
    name: str, n: int, repeats: Sequence[int], r: int, b: int, part: str = "all", sees: Any = None
) -> Member:
    seen = np.arange(n) if sees is None else np.flatnonzero(sees)
    # Both betas see the same batches, so that they differ in nothing else.
    seed = keyed_seed(name, repeats[r], part)
    return Member(seed=seed, subset=r * n + seen, objective=_objective(name, b))


def _trained(
    name: str, samples: Tensor, members: list[Member], checkpoints: int, device: torch.device
) -> list[Run]:
    def build(generator: torch.Generator) -> nn.Module:
        return MLPVAE(samples.shape[1], LATENT, generator=generator)

    return fit_ensemble(
        build, _objective(name, 0), samples, members, steps=STEPS, checkpoints=checkpoints, batch_size=64,
        learning_rate=1e-3, optimizer=Optimizer("adam"), device=device, progress=False,
    )  # fmt: skip


def _own_features(run: Run, loss: Elbo, x: Tensor, noise: Tensor) -> dict[str, Any]:
    model = run.model.to(x.device).eval()
    row: dict[str, Any] = {
        "loss": _losses(model, loss, x, noise),
        "reconstruction": _losses(model, replace(loss, part="reconstruction"), x, noise),
        "divergence": _losses(model, replace(loss, part="kl"), x, noise),
    }
    with torch.no_grad():
        mean = model.encode(x)[0]  # type: ignore[operator]
        residuals = x - model.decode(mean).sigmoid()  # type: ignore[operator]
    row["latents"] = mean.cpu().numpy()
    row["residuals"] = _components(residuals).cpu().numpy()
    row["self-influence"], row["gradient norm"] = _gradients(run, loss, x, noise)
    return row


def _losses(model: nn.Module, loss: Elbo, x: Tensor, noise: Tensor) -> Any:
    model = model.to(x.device).eval()
    with torch.no_grad():
        parts = [loss(model, part, noise) for part in x.split(CHUNK)]
    return torch.cat(parts).double().cpu().numpy()


def _components(x: Tensor) -> Tensor:
    """The leading principal components, by rounds of subspace iteration."""
    x = x - x.mean(0)
    basis = torch.randn(x.shape[1], 2 * COMPONENTS, generator=keyed_generator("components")).to(x.device)
    for _ in range(8):
        basis = torch.linalg.qr(x.mT @ (x @ torch.linalg.qr(basis).Q)).Q
    projected = x @ basis
    turn = torch.linalg.eigh(projected.mT @ projected).eigenvectors.flip(1)
    return projected @ turn[:, :COMPONENTS]


def _gradients(run: Run, loss: Elbo, x: Tensor, noise: Tensor) -> tuple[Any, Any]:
    """Self-influence without bias, and the norm of the last checkpoint's gradients."""
    capture = GradientCapture(run.model, loss, device=x.device)
    first, second = noise.chunk(2)
    own = torch.zeros(len(x), device=x.device)
    norms = []
    for step, checkpoint in enumerate(run.trajectory):
        capture.load(checkpoint.state())
        if not step:
            capture.prepare(x[:3], noise)
        products = []
        for part in x.split(CHUNK):
            one, two = capture(part, first), capture(part, second)
            products.append(paired_products(one, two))
            if step == len(run.trajectory) - 1:
                square = squared_norms(one) + squared_norms(two) + 2 * products[-1]
                norms.append(square.clamp(min=0).sqrt() / 2)
        own += torch.cat(products) / len(run.trajectory)
    return own.cpu().numpy(), torch.cat(norms).cpu().numpy()


def main() -> None:
    """Write the features of each set."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--sets", default=",".join(SETS))
    parser.add_argument("--repeats", default="5,6,7,8,9")
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    chosen = parser.parse_args()
    out = chosen.out or chosen.folder
    out.mkdir(parents=True, exist_ok=True)
    repeats = [int(repeat) for repeat in chosen.repeats.split(",")]
    for name in chosen.sets.split(","):
        start = time.perf_counter()
        arrays = features_of(name, repeats, chosen.folder, torch.device(chosen.device))
        np.savez_compressed(out / f"features-{name}.npz", **arrays)
        finite = all(np.isfinite(arrays[key]).all() for key in COLUMNS)
        print(f"{name}: {time.perf_counter() - start:.1f} s, finite: {finite}", flush=True)


if __name__ == "__main__":
    main()
