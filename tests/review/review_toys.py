"""Samples to review, small and known."""

import numpy as np

from proponent.report._png import png_bytes
from proponent.review import ReviewItems

SCRIPT = '<script>alert("1")</script>.png'


def make_items(n=6, kind="images", ids=None, **more):
    """`n` samples; "rising" ranks the last first, "falling" the first."""
    ids = [f"photos/{i:03d}.png" for i in range(n)] if ids is None else ids

    def picture(i):
        return png_bytes(np.full((4, 4), i / n)), "image/png"

    fields = {
        "ids": np.array(ids, dtype=object),
        "captions": [str(id_) for id_ in ids],
        "kind": kind,
        "rankings": {"rising": np.arange(n, dtype=float), "falling": -np.arange(n, dtype=float)},
        "default": "rising",
        "features": np.arange(2.0 * n).reshape(n, 2),
        "thumbnail": picture,
        "full": picture,
        "details": lambda i: {"size": float(i), "name": ids[i]},
        "title": "toys",
    }
    return ReviewItems(**fields | more)
