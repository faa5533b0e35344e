"""Bound against test error for every method and data set; bounds above 1 are in a strip of their own."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from figures import results
from figures.canvas import Data, is_single, panels, styled, width
from verify.show.plots import BLUE, GREEN, INK, ORANGE, PURPLE, RED, SKY
from verify.show.wording import up

if TYPE_CHECKING:
    from matplotlib.figure import Figure

RESULTS = ("certificates",)
DATA = "results"
SHOWN = {
    "held-out": ("held out, 10 %", GREEN, "s"),
    "vote-certificate": ("vote-certificate, linear", BLUE, "o"),
    "pick-certificate": ("pick-certificate, AdaNet", PURPLE, "^"),
    "stochastic-certificate": ("stochastic-certificate, random weights", SKY, "v"),
    "a-posteriori": ("a-posteriori, linear", ORANGE, "D"),
    "corollary-1": ("Corollary 1 as printed", RED, "x"),
}
LEAST, STRIP = 2e-4, 2.0
"""The least error that is drawn, and the height of a bound above 1."""


def stand_in() -> list[Data]:
    """The rows of the linear network of digits:3-8."""
    from verify.experiments.protocols.certified import MappedData, linear

    digits = MappedData("digits:3-8", has_test=False)
    return [{"data": digits.label, **row} for row in linear(digits, None, 0)]


def compute(*, quick: bool, data: Path | None = None) -> Data:
    """One point per bound and network."""
    rows, measured = results.rows("certificates", data, stand_in)
    return {"points": [point(row) for row in rows if row["bound id"] in SHOWN], "measured": measured}


def point(row: dict[str, Any]) -> Data:
    """One point; without test points it uses the training error, and its marker is hollow."""
    tested = row["test_error"] is not None
    error = row["test_error"] if tested else row["train_error"]
    return {"data": row["data"], "id": row["bound id"], "error": error, "bound": row["bound"], "tested": tested}


@styled
def draw(data: Data) -> Figure:
    single = is_single(data, by_default=False)
    figure, (axes,) = panels(1, 1, width=width(data, single=False), height=4.4 if single else 3.4)
    for id, (label, colour, marker) in SHOWN.items():
        chosen = [p for p in data["points"] if p["id"] == id]
        for tested in (True, False):
            part = [p for p in chosen if p["tested"] == tested]
            if not part:
                continue
            axes.plot(
                [max(p["error"], LEAST) for p in part],
                [p["bound"] if p["bound"] <= 1 else STRIP for p in part],
                marker,
                color=colour,
                markersize=4,
                fillstyle="full" if tested else "none",
                label=label if tested or not any(p["tested"] for p in chosen) else None,
            )
    axes.plot([LEAST, 1], [LEAST, 1], color=INK, linewidth=0.6)
    axes.axhline(1, color=INK, linewidth=0.6, linestyle=":")
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlim(LEAST / 1.3, 1)
    axes.set_ylim(LEAST * 5, 3)
    axes.set_yticks([0.001, 0.01, 0.1, 1, STRIP], ["0.001", "0.01", "0.1", "1", "above 1"])
    axes.set_xticks([0.001, 0.01, 0.1, 1], ["0.001", "0.01", "0.1", "1"])
    axes.set_xlabel("test error")
    axes.set_ylabel("bound")
    if single:  # the points leave no room
        figure.legend(loc="outside lower left")
    else:
        axes.legend(loc="lower right")
    return figure


def caption(data: Data) -> str:
    sets = {p["data"] for p in data["points"]}
    said = {id: [p["bound"] for p in data["points"] if p["id"] == id] for id in SHOWN}
    ranges = "; ".join(
        f"{SHOWN[id][0]} {up(min(values), 3)} to {up(max(values), 3)}" for id, values in said.items() if values
    )
    source = "adanet-experiment certificates" if data["measured"] else "a run on digits:3-8 made for this figure"
    return (
        f"Bounds on the risk at δ = 0.05 against the test error, {len(sets)} data sets, by {source}: {ranges}. "
        "On the line a bound equals the error. Bounds above 1 are in the strip on top. A hollow marker has no test "
        "points and is at the training error. Corollary 1 applies to none of these networks; its value is shown for "
        "comparison. The linear networks were trained for vote-certificate, AdaNet by picking. The held-out network "
        "has 100 ReLU units, trained as usual without a tenth of the points."
    )
