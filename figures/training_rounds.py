"""The objective, the candidates and the depth over the rounds of a training run."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from figures import runs
from figures.canvas import Data, NotDrawn, panels, styled, width
from figures.parameters import ONE, number
from verify.show.plots import BLUE, INK, ORANGE

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


PARAMETERS = {"rounds": ONE, "depth": ONE, "width": ONE}
DATA = "points"


def compute(*, quick: bool, model: Path | None = None, data: Path | None = None, **parameters: Any) -> Data:
    """For every round: F and the depth after it, and each candidate's F and its depth beyond the network's."""
    asked = {name: number(parameters, name, None) for name in parameters}
    own = {} if model is not None else {"points": len(runs.points(data, runs.board)[1])}
    history: list[Any] = (
        runs.history(model)[0] if model is not None else runs.adanet(quick=quick, data=data, **asked).history
    )
    if len(history) < 2:
        raise NotDrawn("one round does not show the course of training.")
    rounds, depth = [], 1
    for entry in history:
        candidates = [
            {"deeper": candidate["depth"] > depth, "depth": candidate["depth"], "objective": candidate["objective"]}
            for candidate in entry["candidates"]
        ]
        if entry["chosen"] >= 0:
            depth = max(depth, candidates[entry["chosen"]]["depth"])
        rounds.append(
            {"objective": entry["objective"], "depth": depth, "chosen": entry["chosen"], "candidates": candidates}
        )
    return {"rounds": rounds, "model": None if model is None else model.name, **own}


@styled
def draw(data: Data) -> Figure:
    """F with its candidates above, the depth below; a filled marker is the candidate taken."""
    across = width(data, single=True)
    figure, (above, below) = panels(2, 1, height=2.9, width=across, sharex=True, height_ratios=[2.6, 1])
    t = range(1, len(data["rounds"]) + 1)
    above.plot(t, [entry["objective"] for entry in data["rounds"]], color=INK, linewidth=1)
    for place, entry in zip(t, data["rounds"], strict=True):
        for i, candidate in enumerate(entry["candidates"]):
            _mark(above, place, candidate, i == entry["chosen"])
    above.plot([], [], "o", color=BLUE, label="no deeper")
    above.plot([], [], "^", color=ORANGE, label="deeper")
    above.plot([], [], "o", color=INK, fillstyle="none", label="hollow: not taken")
    above.legend(loc="upper right", handletextpad=0.2, borderaxespad=0.0)
    above.set_ylabel("objective $F_t$")
    below.step(t, [entry["depth"] for entry in data["rounds"]], where="mid", color=INK)
    deepest = max(entry["depth"] for entry in data["rounds"])
    below.set_yticks(range(1, deepest + 1))
    below.set_ylim(0.6, deepest + 0.4)
    below.set_ylabel("depth $l_t$")
    below.set_xlabel("round $t$")
    below.set_xlim(0.6, len(data["rounds"]) + 0.4)
    _whole(below)
    return figure


def _mark(axes: Axes, t: int, candidate: Data, taken: bool) -> None:
    marker, colour = ("^", ORANGE) if candidate["deeper"] else ("o", BLUE)
    axes.plot(t, candidate["objective"], marker, color=colour, fillstyle="full" if taken else "none", markersize=4.5)


def _whole(axes: Axes) -> None:
    from matplotlib.ticker import MaxNLocator

    axes.xaxis.set_major_locator(MaxNLocator(integer=True))


def caption(data: Data) -> str:
    rounds = data["rounds"]
    whose = f"The run that made {data['model']}" if data["model"] else f"A run of AdaNet on {data['points']} points"
    deepened = [t for t, entry in enumerate(rounds, start=1) if _deepened(entry)]
    ended = f" In round {len(rounds)} no candidate lowered F enough, so it ended." if rounds[-1]["chosen"] < 0 else ""
    return (
        f"{whose}, round by round. Above: the objective after each round (line), {rounds[0]['objective']:.4g} after "
        f"the first and {rounds[-1]['objective']:.4g} after round {len(rounds)}, and that of every candidate. Circles "
        "are candidates no deeper than the network, triangles are deeper ones. The candidate taken is filled. "
        "Below: the depth, "
        f"{rounds[-1]['depth']} at the end. A deeper candidate was taken in "
        f"{'rounds ' + ', '.join(map(str, deepened)) if deepened else 'no round'}.{ended}"
    )


def _deepened(entry: Data) -> bool:
    return entry["chosen"] >= 0 and bool(entry["candidates"][entry["chosen"]]["deeper"])
