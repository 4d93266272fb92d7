"""Small data and small runs."""

import numpy as np
from PIL import Image

from proponent.runs import Settings

X = np.random.default_rng(0).random((40, 6), dtype=np.float32)
SMALL = Settings(latent_dim=2, steps=20, checkpoints=2, batch_size=8, device="cpu")


def make_array(place, values=X, name="x.npy"):
    """An array file."""
    np.save(place / name, values)
    return place / name


def make_pictures(place, count=12, side=8, seed=0, mode="RGB"):
    """A folder of pictures."""
    rng = np.random.default_rng(seed)
    (place / "deep").mkdir(parents=True)
    for i in range(count):
        shape = (side, side, 3) if mode == "RGB" else (side, side)
        picture = Image.fromarray(rng.integers(0, 256, shape, dtype=np.uint8))
        picture.save(place / ("deep" if i % 2 else ".") / f"p{i:02d}.png")
    return place


def make_table(path, count=30, seed=0):
    """A CSV file of rows with keys, among whose columns one is constant."""
    rng = np.random.default_rng(seed)
    lines = [f"r{i},{rng.normal(5, 2):.6f},7,{rng.normal(0, 100):.6f}" for i in range(count)]
    path.write_text("\n".join(["id,width,same,weight", *lines]) + "\n")
    return path
