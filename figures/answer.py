"""Networks on the same data: the test error of each, the bound proved on its risk, and the paper's own bounds."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from adanet_theory.rounding import probability, upward
from figures import results
from figures.bound_and_test_error import stand_in
from figures.canvas import Data, is_single, panels, styled, width
from verify.show.plots import BLUE, GREEN, INK, RED

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

RESULTS = ("certificates", "picking")
DATA = "results"
PREFERRED = "mnist:3-8"
TITLES = {PREFERRED: "Handwritten 3s against 8s (MNIST)"}
LEARNERS = {"cnn": "Convolutional network", "adanet": "AdaNet"}
WAYS = {"picked": "trained by picking", "held_out": "10 % of the points held out"}
LINEAR = "Linear network"
BOUNDS = {
    "vote-certificate": "trained for its certificate",
    "a-posteriori-bounded": "the paper's theory, corrected",
    "theorem-1": "Theorem 1 as printed",
    "corollary-1": "Corollary 1 as printed",
}
LEAST = 2e-4
"""Where an error of 0 stands on the logarithmic axis."""


def compute(*, quick: bool, data: Path | None = None) -> Data:
    """A row for each network and bound: MNIST's where it was measured, else one network trained now."""
    rows, measured = results.rows("certificates", data, stand_in)
    linear = [row for row in rows if row["method"] == "linear"]
    name = PREFERRED if any(row["data"] == PREFERRED for row in linear) else linear[0]["data"]
    own = {row["bound id"]: row for row in linear if row["data"] == name}
    one = own["vote-certificate"]
    answers = [_row(LINEAR, BOUNDS[id], own[id], own[id].get("applies", True)) for id in BOUNDS if id in own]
    return {
        "data": name,
        "m": one["m"],
        "delta": one["delta"],
        "rows": [*_picked(name, data), *answers],
        "measured": measured,
    }


def _picked(name: str, folder: Path | None) -> list[Data]:
    """The networks of `adanet-experiment picking` on these data with seed 0: a mean of bounds is no bound."""
    measured = results.read("picking", folder)
    rows = [] if measured is None else measured["rows"]
    known = {row["learner"]: row for row in rows if (row["data"], row["seed"]) == (name, 0)}
    return [
        _row(network, words, known[learner][way], True)
        for learner, network in LEARNERS.items()
        for way, words in WAYS.items()
        if learner in known
    ]


def _row(network: str, way: str, row: dict[str, Any], applies: bool) -> Data:
    return {"network": network, "way": way, "error": row["test_error"], "bound": row["bound"], "applies": applies}


@styled
def draw(data: Data) -> Figure:
    single = is_single(data, by_default=False)
    rows = data["rows"]
    heads = dict.fromkeys(row["network"] for row in rows)
    height = 0.85 + 0.21 * (len(rows) + len(heads))
    figure, (axes,) = panels(1, 1, width=width(data, single=False), height=height)
    axes.set_xscale("log")
    axes.axvspan(1, 4, color=INK, alpha=0.07, linewidth=0)
    place, ticks = 0.0, []
    for network in heads:
        ticks.append((place, network))
        place += 0.9
        for row in (row for row in rows if row["network"] == network):
            ticks.append((place, row["way"]))
            _dumbbell(axes, place, row, short=single)
            place += 1
        place += 0.25
    axes.set_yticks([at for at, _ in ticks], [name for _, name in ticks])
    for label in axes.get_yticklabels():
        label.set_fontweight("bold" if label.get_text() in heads else "normal")
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)
    axes.set_ylim(place - 0.6, -0.7)
    axes.set_xlim(0.55 * LEAST, 4)
    ticks_x = {0.001: "0.1 %", 0.01: "1 %", 0.1: "10 %", 1: "100 %"}
    axes.set_xticks(list(ticks_x), list(ticks_x.values()))
    axes.minorticks_off()
    axes.grid(axis="x", color=INK, alpha=0.12, linewidth=0.5)
    axes.set_axisbelow(True)
    axes.text(2, -0.1, "above 100 %:\nsays nothing", ha="center", va="center", color=INK, linespacing=1.1)
    axes.set_xlabel("wrong answers on new images" if data["data"] == PREFERRED else "wrong answers on new points")
    axes.plot([], [], "o", color=GREEN, label="measured on test points")
    axes.plot([], [], "D", color=BLUE, label=f"proved: at most this, with probability {probability(data['delta'])}")
    if not all(row["applies"] for row in rows):
        axes.plot([], [], "D", color=RED, fillstyle="none", label="formula whose conditions fail: proves nothing")
    figure.legend(
        loc="outside upper left", ncols=1 if single else 3, handletextpad=0.2, columnspacing=1.2, borderaxespad=0.1
    )
    return figure


def _dumbbell(axes: Axes, place: float, row: Data, *, short: bool) -> None:
    """The test error, the bound, and the gap between them."""
    colour, error, bound = BLUE if row["applies"] else RED, row["error"], row["bound"]
    if error is not None:
        axes.plot([max(error, LEAST), bound], [place, place], color=colour, alpha=0.45, linewidth=1.6, zorder=1)
        axes.plot(max(error, LEAST), place, "o", color=GREEN, markersize=5)
        if not short:
            said = "0" if error == 0 else f"{100 * error:.2f} %"
            at = (max(error, LEAST), place)
            axes.annotate(said, at, xytext=(-6, 0), textcoords="offset points", ha="right", va="center", color=GREEN)
    fill = "full" if row["applies"] else "none"
    axes.plot(bound, place, "D", color=colour, fillstyle=fill, markersize=5)
    said = f"{upward(100 * bound, 3)} %"
    axes.annotate(said, (bound, place), xytext=(6, 0), textcoords="offset points", va="center", color=colour)


def caption(data: Data) -> str:
    rows = data["rows"]
    best = min((row for row in rows if row["applies"]), key=lambda row: row["bound"])
    title, source = TITLES.get(data["data"], data["data"]), "a run made for this figure"
    if data["measured"]:
        source = "adanet-experiment certificates and picking, seed 0"
    tested = "" if best["error"] is None else f"; its test error is {best['error']:.4f}"
    outside = [row["way"] for row in rows if not row["applies"]]
    printed = f" The assumptions of {' and '.join(outside)} fail here: a hollow mark proves nothing." if outside else ""
    network = best["network"] if best["network"] == LEARNERS["adanet"] else best["network"].lower()
    return (
        f"{title}, m = {data['m']:,} points for training and certificate ({source}). Each line joins a network's error "
        f"on test points to a bound on its risk that holds with probability {probability(data['delta'])}. "
        f"The smallest proved bound is {upward(best['bound'], 3)} ({network}, {best['way']}{tested}).{printed}"
    )
