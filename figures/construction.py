"""Incremental construction (Figure 2 of the paper): the two candidates of one round, drawn from a training history."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from figures import runs
from figures.canvas import Data, NotDrawn, is_single, panels, styled, width
from figures.parameters import ONE, number
from verify.show.plots import BLUE, GREEN, INK, ORANGE, PURPLE, RED, SKY

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PARAMETERS = {"rounds": ONE, "depth": ONE, "width": ONE}
DATA = "points"
_EARLIER = (ORANGE, PURPLE, SKY, BLUE)  # the colours of the rounds before, over and over
_MOST = 4  # rounds before, as far as there is room for them
_WIDTH, _HEIGHT = 0.62, 0.54  # of a block; the distance of two is 1


def compute(*, quick: bool, model: Path | None = None, data: Path | None = None, **parameters: Any) -> Data:
    """The parts that were there before round t, and its two candidates: as deep as the network, and one deeper."""
    if model is None:
        asked = {name: number(parameters, name, None) for name in parameters}
        trained = runs.adanet(quick=quick, data=data, **asked)
        history, config = trained.history, trained.config.as_dict() | {"n_0": trained.network.n[0], "method": "adanet"}
    else:
        history, config = runs.history(model)
    if config["method"] != "adanet":
        raise NotDrawn(f"the rounds must be AdaNet's, got method {config['method']}.")
    t = _round(history)
    before = [entry["candidates"][entry["chosen"]]["units"] for entry in history[: t - 1]]
    candidates = [
        {key: candidate[key] for key in ("units", "objective")} for candidate in history[t - 1]["candidates"][:2]
    ]
    return {
        "round": t,
        "before": before,
        "candidates": candidates,
        "chosen": history[t - 1]["chosen"],
        "objective_before": history[t - 2]["objective"] if t > 1 else None,
        "reads_all": config["outputs"] == "all",
        "variant": config["variant"],
        "n_0": config["n_0"],
    }


def _round(history: list[Any]) -> int:
    """The third round if it has two candidates, as in the paper, else the latest round that has two."""
    having = [t for t, entry in enumerate(history, start=1) if len(entry["candidates"]) == 2 and t <= _MOST + 1]
    if not having:
        raise NotDrawn("no round has two candidates.")
    return 3 if 3 in having else having[-1]


@styled
def draw(data: Data) -> Figure:
    """(a) and (b): columns are layers, rows are rounds, a box is a block of units, a line joins two blocks."""
    rows = len(data["before"]) + 1
    depth = max(len(candidate["units"]) for candidate in data["candidates"])
    single = is_single(data, by_default=True)
    tall = 0.4 * rows + 0.3
    figure, axes = panels(
        *((2, 1) if single else (1, 2)), height=2 * tall if single else tall, width=width(data, single=True)
    )
    for place, (panel, candidate) in enumerate(zip(axes, data["candidates"], strict=True)):
        _panel(panel, data, candidate["units"], depth)
        taken = ", taken" if place == data["chosen"] else ""
        depth_here = "1 layer" if len(candidate["units"]) == 1 else f"{len(candidate['units'])} layers"
        title = f"({'ab'[place]}) {depth_here}: $F = {candidate['objective']:.4g}${taken}"
        panel.set_title(title, fontsize=8, loc="left", x=0.02, pad=3)
    return figure


def _panel(axes: Axes, data: Data, candidate: list[int], depth: int) -> None:
    parts = [*data["before"], candidate]
    rows = len(parts)
    colours = [_EARLIER[i % len(_EARLIER)] for i in range(rows - 1)] + [RED]
    for row, units in enumerate(parts):
        _join(axes, (0, row), (1, row), colours[row])
        for k in range(1, len(units) + 1):
            for below in range(row + 1):
                if 1 <= k - 1 <= len(parts[below]) and _is_read(data, below, row):
                    _join(axes, (k - 1, below), (k, row), colours[row])
            if data["reads_all"] or k == len(units):
                _join(axes, (k, row), (depth + 1, row), GREEN)
    for row, units in enumerate(parts):
        for k, count in enumerate(units, start=1):
            _block(axes, k, row, row, str(count), colours[row])
    _block(axes, 0, 0, rows - 1, r"$\Psi$", SKY)
    _block(axes, depth + 1, 0, rows - 1, "$f$", GREEN)
    axes.set_xlim(-0.45, depth + 1.65)
    axes.set_ylim(rows - 0.7, -0.3)
    for row in range(rows):
        axes.text(depth + 1.4, row, f"$t = {row + 1}$", va="center", ha="left")
    axes.set_axis_off()


def _is_read(data: Data, below: int, row: int) -> bool:
    """AdaNet.P reads only the last part; the others read all of them."""
    return data["variant"] != "P" or row - below <= 1


def _join(axes: Axes, start: tuple[float, float], end: tuple[float, float], colour: str) -> None:
    half = _WIDTH / 2
    axes.plot([start[0] + half, end[0] - half], [start[1], end[1]], color=colour, linewidth=0.9, zorder=1)


def _block(axes: Axes, x: float, first: int, last: int, text: str, colour: str) -> None:
    from matplotlib.patches import FancyBboxPatch

    corner, size = (x - _WIDTH / 2, first - _HEIGHT / 2), (_WIDTH, last - first + _HEIGHT)
    box = FancyBboxPatch(
        corner, *size, boxstyle="round,pad=0,rounding_size=0.08", facecolor=colour, edgecolor=INK, linewidth=0.6
    )
    axes.add_patch(box)
    axes.text(x, (first + last) / 2, text, ha="center", va="center")


def caption(data: Data) -> str:
    same, deeper = data["candidates"]
    before = "" if data["objective_before"] is None else f" F was {data['objective_before']:.5g} before."
    choice = {-1: "neither was taken", 0: "(a) was taken", 1: "(b) was taken"}[data["chosen"]]
    reads = "every block" if data["reads_all"] else "the top block of each round"
    return (
        f"AdaNet's incremental construction in a run on n_0 = {data['n_0']} features. Rows are rounds and columns are "
        "layers. A box is a block of that many units. A line joins all units of one block with all of another. The "
        f"output f reads {reads}. Round {data['round']} (red) compares (a) a subnetwork with units {same['units']}, "
        f"F = {same['objective']:.5g}, with (b) one with units {deeper['units']}, F = {deeper['objective']:.5g}: "
        f"{choice}.{before}"
    )
