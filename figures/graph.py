"""Networks as pictures of units and connections: select the units to show, and draw them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from figures.canvas import Data, panels, width
from verify.show.plots import GREEN, INK, ORANGE, SKY

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.path import Path

    from adanet_train.core.network import Network

Places = dict[tuple[int, int], tuple[float, float]]

MOST = 9  # units of a layer that are shown
LEAST = 0.3  # of a unit's largest weight: what is less is left out
_STEP = 1.7  # between two layers, in units of the drawing
_SPAN = 3.0  # of the tallest layer
_RADIUS = 0.15
_SIDE, _FOOT = 0.45, 0.55  # room at the sides, and for the layers' names


def outline(network: Network) -> Data:
    """The sizes of the layers, the units shown, and the connections between them: [k, i, s, j, weight].

    In a wide layer the units with the largest outgoing weights are shown. The output is unit 0 of layer l + 1. With
    C classes the first outputs are shown.
    """
    depth, n = network.depth, list(network.n)
    weights = {pair: U.tolist() for pair, U in network.hidden.items()}
    weights |= {(depth + 1, k): (w if w.ndim == 2 else w[None]).tolist() for k, w in network.output.items()}
    outputs = list(range(min(network.outputs or 1, MOST)))
    shown = [_largest(weights, s, n[s]) for s in range(depth + 1)] + [outputs]
    edges = []
    for (k, s), U in sorted(weights.items()):
        for i in shown[k]:
            reads = [abs(u) for (above, _), rows in weights.items() if above == k for u in rows[i]]
            least = LEAST * max(reads, default=0.0) if k <= depth else 0.0
            edges += [[k, i, s, j, U[i][j]] for j in shown[s] if abs(U[i][j]) >= least and U[i][j] != 0]
    connections = sum(u != 0 for U in weights.values() for row in U for u in row)
    activation = network.activations[0] if network.activations else "none"
    return {"n": n, "shown": shown, "edges": edges, "connections": connections, "activation": activation}


def _largest(weights: dict[tuple[int, int], Any], s: int, count: int) -> list[int]:
    if count <= MOST:
        return list(range(count))
    upward = [sum(abs(row[j]) for (_, below), U in weights.items() if below == s for row in U) for j in range(count)]
    return sorted(sorted(range(count), key=lambda j: (-upward[j], j))[:MOST])


def draw(graph: Data) -> Figure:
    """Left to right: features, layers, output; to be called from a styled function."""
    from matplotlib.patches import Circle

    places = _places(graph)
    curves = [_curve(places[s, j], places[k, i]) for k, i, s, j, _ in graph["edges"]]
    bottom, top = _extent(places, curves)
    right = _STEP * len(graph["n"]) + _SIDE
    across = width(graph, single=True)
    figure, (axes,) = panels(1, 1, height=across * (top - bottom + _FOOT) / (right + _SIDE), width=across)
    largest: dict[int, float] = {}
    for k, _, _, _, u in graph["edges"]:
        largest[k] = max(largest.get(k, 0.0), abs(u))
    for curve, (k, _, s, _, u) in zip(curves, graph["edges"], strict=True):
        colour = GREEN if k == len(graph["n"]) else INK if k == s + 1 else ORANGE
        _connect(axes, curve, u / largest[k], colour)
    skipping = {(k, i) for k, i, s, _, _ in graph["edges"] if s < k - 1}
    for (k, i), place in places.items():
        colour = {0: SKY, len(graph["n"]): GREEN}.get(k, ORANGE if (k, i) in skipping else "white")
        axes.add_patch(Circle(place, _RADIUS, facecolor=colour, edgecolor=INK, linewidth=0.7))
    _name_layers(axes, graph, bottom - 0.1)
    axes.set_xlim(-_SIDE, right)
    axes.set_ylim(bottom - _FOOT, top)
    axes.set_aspect("equal")
    axes.set_axis_off()
    return figure


def _places(graph: Data) -> Places:
    """Each layer centred on the axis, all with the same distance between units."""
    step = min(0.75, _SPAN / max(1, max(len(units) for units in graph["shown"]) - 1))
    return {
        (k, i): (_STEP * k, step * ((len(units) - 1) / 2 - place))
        for k, units in enumerate(graph["shown"])
        for place, i in enumerate(units)
    }


def _curve(start: tuple[float, float], end: tuple[float, float]) -> Path:
    """A curve that is level at both ends; a connection that skips a layer bends around it."""
    from matplotlib.path import Path

    (x, y), (end_x, end_y) = start, end
    third, skipped = (end_x - x) / 3, round((end_x - x) / _STEP) - 1
    lift = (0.7 + 0.35 * skipped) * (1 if y + end_y >= 0 else -1) if skipped else 0.0
    line = [(x, y), (x + third, y + lift), (end_x - third, end_y + lift), (end_x, end_y)]
    return Path(line, [Path.MOVETO, *[Path.CURVE4] * 3])


def _extent(places: Places, curves: Sequence[Path]) -> tuple[float, float]:
    """The lowest and the highest point of the drawing."""
    ends = [y + sign * _RADIUS for _, y in places.values() for sign in (1, -1)]
    ends += [float(y) for curve in curves for y in curve.get_extents().intervaly]
    return min(ends) - 0.05, max(ends) + 0.05


def _connect(axes: Axes, curve: Path, share: float, colour: str) -> None:
    """A line as wide as its share of the layer's largest weight, dashed if negative."""
    from matplotlib.patches import PathPatch

    style: Any = "-" if share > 0 else (0, (3, 1.2))
    width = abs(share)
    axes.add_patch(
        PathPatch(
            curve, fill=False, edgecolor=colour, alpha=0.4 + 0.5 * width, linewidth=0.4 + 0.9 * width, linestyle=style
        )
    )


def _name_layers(axes: Axes, graph: Data, y: float) -> None:
    depth = len(graph["n"]) - 1
    names = [r"$\Psi(x)$", *[f"$h_{k}$" for k in range(1, depth + 1)], "$f$"]
    for k, (name, units) in enumerate(zip(names, graph["shown"], strict=True)):
        hidden = graph["n"][k] - len(units) if k <= depth else 0
        axes.text(_STEP * k, y, f"{name} (+{hidden})" if hidden else name, ha="center", va="top")


def described(graph: Data) -> str:
    """The part of a caption about the drawing."""
    few = f" Each layer shows the {MOST} units with the largest outgoing weights." if max(graph["n"]) > MOST else ""
    return (
        f"Sizes n = {graph['n']}, activation {graph['activation']}. The picture shows {len(graph['edges'])} of "
        f"{graph['connections']} connections: all to the output, and for each unit those of at least {LEAST:g} of "
        f"its largest weight.{few} The width of a line is the size of its weight, relative to the layer. Dashed is "
        "negative."
    )
