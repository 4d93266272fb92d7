r"""Lower bounds on the distances of points to groups of samples, by one matrix product.

With $|x - z|^2 = |x|^2 - 2 x^\top z + |z|^2$ all squared distances are one product, of rows $[x, |x|^2, 1]$
and $[-2z, 1, |z|^2]$. It is fast, and rounded. In shares of $(|x| + |z|)^2$, with $u = \varepsilon / 2$:
bringing points to the dtype costs 2u, summing their norms and rounding them (d + 3)u, the d + 2 terms of the
product (d + 2)u, in whatever order they are added. As $(|x| + |z|)^2 \le 2 (|x|^2 + |z|^2)$, the error is
under

$$2 (2 d + 7) u\, (|x|^2 + |z|^2) < 2 (d + 4) \varepsilon\, (|x|^2 + |z|^2).$$

Take that share off both norms beforehand, and what the product gives is never above the true square. Points
are measured from near their middle, where norms are small, and in a unit in which no square overflows.
"""

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from proponent.precision import products

# So many samples say where the middle of all is: any point is right, and a near one gives sharper bounds.
_ASKED_FOR_THE_MIDDLE = 4096
# The power of two that is opposite to a smaller one overflows.
_LEAST_EXPONENT = -1000
# Points are centred, as float64, so many numbers at a time.
_NUMBERS_AT_ONCE = 1 << 20


@dataclass(frozen=True)
class Frame:
    """From where points are measured, and in which unit.

    Attributes:
        centre: Of the samples, about.
        scale: What makes coordinates of at most 1; a power of two, so that it rounds nothing.
    """

    centre: Float[Tensor, " d"]
    scale: float

    @classmethod
    def around(cls, samples: Float[Tensor, "n d"], queries: Float[Tensor, "q d"]) -> "Frame":
        """Find one that holds all of them.

        The centre is a median, which a few far points can not pull away from the others.

        Raises:
            ValueError: They lie further apart than numbers go.
        """
        stride = -(-len(samples) // _ASKED_FOR_THE_MIDDLE)
        centre = samples[::stride].contiguous().median(0).values  # of an expanded tensor it is NaN
        ends = torch.cat([torch.stack(points.aminmax(dim=0)) for points in (samples, queries)])
        extent = (ends - centre).abs().amax()
        if not bool(extent.isfinite()):
            raise ValueError(
                "Samples and queries must lie within 1.8e308 of each other in every coordinate, but some are "
                "further apart. Divide them by a number."
            )
        return cls(centre, 2.0 ** -max(int(torch.frexp(extent).exponent), _LEAST_EXPONENT))

    def place(self, points: Float[Tensor, "n d"]) -> Float[Tensor, "n d"]:
        """Measure points."""
        return (points - self.centre).mul_(self.scale)


@dataclass(frozen=True)
class GroupBounds:
    """Samples in groups of consecutive ones, made ready to be compared with points.

    Attributes:
        rows: Of the samples: coordinates, norm and 1, ``[n, d + 2]``.
        size: How many samples make a group; the last may have fewer.
        frame: In which squares are meant.
    """

    rows: Float[Tensor, "n c"]
    size: int
    frame: Frame

    @classmethod
    def over(
        cls, samples: Float[Tensor, "n d"], size: int, frame: Frame, dtype: torch.dtype
    ) -> "GroupBounds":
        """Make samples ready, for products in a dtype."""
        return cls(_rows(samples, frame, dtype), size, frame)

    def minima(self, queries: Float[Tensor, "q d"], room: int) -> Float[Tensor, "q groups"]:
        """Compute for each query and group a number that no squared distance to a member is under.

        Args:
            queries: The points.
            room: The bytes that products may take at a time.
        """
        n, q, size = len(self.rows), len(queries), self.size
        columns = _rows(queries, self.frame, self.rows.dtype)
        columns[:, :-2] *= -2
        columns = columns[:, [*range(columns.shape[1] - 2), -1, -2]].T
        minima = columns.new_empty(-(-n // size), q)
        step = max(1, room // (q * size * columns.itemsize)) * size
        buffer = columns.new_empty(min(step, n), q)
        with products("float32"):
            for start in range(0, n, step):
                part = self.rows[start : start + step]
                squares = torch.mm(part, columns, out=buffer[: len(part)])
                whole = len(part) // size
                first = start // size
                torch.amin(squares[: whole * size].view(whole, size, q), 1, out=minima[first : first + whole])
                if whole * size < len(part):
                    torch.amin(squares[whole * size :], 0, out=minima[-1])
        return minima.T.contiguous()  # selecting from strided rows takes twice as long


def keeps_float32(device: torch.device) -> bool:
    """Whether products of float32 numbers have all their bits there, as the process is set.

    On a GPU they are told to where they are formed; on a CPU there is no way that every version of torch
    knows.
    """
    if device.type == "cuda":
        return True
    try:
        return torch.get_float32_matmul_precision() == "highest"
    except RuntimeError:  # set by the newer name, which torch then wants to be read by
        return bool(torch.backends.mkldnn.matmul.fp32_precision in ("none", "ieee"))  # type: ignore[attr-defined]


def _rows(points: Float[Tensor, "n d"], frame: Frame, dtype: torch.dtype) -> Float[Tensor, "n c"]:
    """Coordinates, lowered norm and 1 of each point."""
    n, d = points.shape
    rows = torch.empty(n, d + 2, dtype=dtype, device=points.device)
    share, least = 2 * (d + 4) * torch.finfo(dtype).eps, 16 * (d + 2) * torch.finfo(dtype).tiny
    step = max(1, _NUMBERS_AT_ONCE // d)
    for start in range(0, n, step):
        part = rows[start : start + step]
        part[:, :d] = frame.place(points[start : start + step])
        squares = part[:, :d].double().square().sum(1)
        part[:, d] = squares * (1 - share) - least  # what underflows is less than the second term
    rows[:, -1] = 1
    return rows
