"""Detection curves as lines of a drawing."""

from collections.abc import Sequence
from dataclasses import dataclass

from proponent.report._offline_record import Curve

WIDTH, HEIGHT = 560, 300
_LEFT, _BOTTOM, _TOP, _RIGHT = 46, 40, 10, 10
_TICKS = 4


@dataclass(frozen=True)
class Line:
    """A curve of the drawing.

    Attributes:
        name: Of the ranking.
        path: Its points, as SVG has them.
        role: ``"default"``, ``"self-influence"``, ``"loss"``, ``"best"`` or ``"other"``; the page
            colours by it.
    """

    name: str
    path: str
    role: str


@dataclass(frozen=True)
class Drawing:
    """Curves in a frame.

    Attributes:
        width: In units of the drawing.
        height: The same.
        lines: The curves, those that stand back first.
        ideal: What a ranking would find that puts all foreign samples first.
        across: Ticks: place and text.
        up: The same, of the other axis.
        frame: Left, top, right and bottom of the plot.
    """

    width: int
    height: int
    lines: tuple[Line, ...]
    ideal: str
    across: tuple[tuple[float, str], ...]
    up: tuple[tuple[float, str], ...]
    frame: tuple[int, int, int, int]


def drawn_curves(curves: Sequence[Curve], default: str) -> Drawing | None:
    """Lay detection curves out; none where there are none.

    Args:
        curves: The curves.
        default: The ranking to begin with.
    """
    if not curves:
        return None
    n, foreign = curves[0].k[-1], curves[0].found[-1]

    def x(k: float | int) -> float:
        return round(_LEFT + k / n * (WIDTH - _LEFT - _RIGHT), 1)

    def y(found: float | int) -> float:
        return round(HEIGHT - _BOTTOM - found / foreign * (HEIGHT - _BOTTOM - _TOP), 1)

    best = max(curves, key=lambda curve: sum(curve.found)).name
    lines = [
        Line(
            curve.name,
            "M" + "L".join(f"{x(k)} {y(found)}" for k, found in zip(curve.k, curve.found, strict=True)),
            _role(curve.name, default, best),
        )
        for curve in curves
    ]
    return Drawing(
        width=WIDTH,
        height=HEIGHT,
        lines=tuple(sorted(lines, key=lambda line: line.role != "other")),
        ideal=f"M{x(0)} {y(0)}L{x(foreign)} {y(foreign)}L{x(n)} {y(foreign)}",
        across=tuple((x(n * t / _TICKS), f"{round(n * t / _TICKS):,}") for t in range(_TICKS + 1)),
        up=tuple((y(foreign * t / _TICKS), f"{100 * t // _TICKS} %") for t in range(_TICKS + 1)),
        frame=(_LEFT, _TOP, WIDTH - _RIGHT, HEIGHT - _BOTTOM),
    )


def _role(name: str, default: str, best: str) -> str:
    if name == default:
        return "default"
    if name in ("self-influence", "loss"):
        return name
    return "best" if name == best else "other"
