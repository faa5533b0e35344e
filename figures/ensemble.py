"""An ensemble of subnetworks as a picture: the inputs of each, its size, and its share of f."""

from __future__ import annotations

from typing import TYPE_CHECKING

from figures.canvas import Data, panels, width
from verify.show.plots import GREEN, INK, ORANGE, SKY

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_ROW, _TALL, _WIDE, _END = 1.25, 0.95, 3.2, 1.15  # between two subnetworks, their boxes, and those of x and f
_LEFT, _MIDDLE, _RIGHT = 0.65, 3.9, 7.15  # the centres of x, of the subnetworks and of f


def draw(data: Data) -> Figure:
    """Draw x, the subnetworks by rounds from above, and f, from left to right; call it from a styled function."""
    rows = data["rows"]
    heights = [-_ROW * t for t in range(len(rows))]
    across, middle = width(data, single=True), sum(heights) / len(heights)
    bottom, top, right = min(heights) - 0.6, max(heights) + 0.6, _RIGHT + 0.65
    figure, (axes,) = panels(1, 1, height=across * (top - bottom) / right, width=across)
    _box(axes, _LEFT, middle, _END, f"$x$\n{' × '.join(map(str, data['shape']))}", SKY)
    outputs = data["outputs"]
    _box(axes, _RIGHT, middle, _END, "$f$" if outputs == 1 else f"$f$\n{outputs} classes", GREEN)
    for t, (row, y) in enumerate(zip(rows, heights, strict=True)):
        size = f"depth {row['depth']}, {row['parameters']:,} weights"
        share = f"$w$ = {row['weight']:.3g}, {row['share']:.0%} of $f$"
        _box(axes, _MIDDLE, y, _WIDE, f"{row['name']}\n{size}\n{share}", "white")
        _arrow(axes, (_LEFT + _END / 2, middle), (_MIDDLE - _WIDE / 2, y), INK, 0.7)
        _arrow(axes, (_MIDDLE + _WIDE / 2, y), (_RIGHT - _END / 2, middle), GREEN, 0.5 + 3 * row["share"])
        for s in (number - 1 for number in row["reads"]):
            bend = f"arc3,rad={0.5 + 0.12 * (t - s):.2f}"
            _arrow(axes, (_MIDDLE - 1.2, heights[s] - _TALL / 2), (_MIDDLE - 1.2, y + _TALL / 2), ORANGE, 0.9, bend)
    axes.set_xlim(0, right)
    axes.set_ylim(bottom, top)
    axes.set_aspect("equal")
    axes.set_axis_off()
    return figure


def _box(axes: Axes, x: float, y: float, across: float, text: str, colour: str) -> None:
    from matplotlib.patches import FancyBboxPatch

    place = (x - across / 2, y - _TALL / 2)
    box = FancyBboxPatch(
        place, across, _TALL, boxstyle="round,pad=0,rounding_size=0.08", facecolor=colour, edgecolor=INK, linewidth=0.7
    )
    axes.add_patch(box)
    axes.text(x, y, text, ha="center", va="center", fontsize="x-small", linespacing=1.25)


def _arrow(
    axes: Axes, start: tuple[float, float], end: tuple[float, float], colour: str, line: float, bend: str = "arc3"
) -> None:
    from matplotlib.patches import FancyArrowPatch

    axes.add_patch(
        FancyArrowPatch(
            start,
            end,
            arrowstyle="-|>",
            mutation_scale=5,
            shrinkA=1,
            shrinkB=1,
            connectionstyle=bend,
            color=colour,
            linewidth=line,
            alpha=0.8,
        )
    )


def described(data: Data) -> str:
    """The part of a caption about the drawing."""
    rows = data["rows"]
    total = sum(row["parameters"] for row in rows)
    reading = list(dict.fromkeys(row["name"] for row in rows if row["reads"]))
    earlier = f" Orange: {', '.join(reading)} also reads an earlier subnetwork." if reading else ""
    return (
        f"f is the weighted sum of {len(rows)} subnetworks with {total:,} trained weights, from top to bottom in the "
        "order of their rounds. Each shows its weight w and its share of f: its mean |w h| on the sample over "
        f"the sum of all. The width of its green arrow is that share.{earlier}"
    )
