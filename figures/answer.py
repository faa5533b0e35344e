"""One trained network: its error, its certificate, and the paper's bounds."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from figures.canvas import Data, is_single, panels, styled, width
from figures.certificates import measured_rows
from verify.show.plots import BLUE, GREEN, INK, ORANGE, RED
from verify.show.wording import up

if TYPE_CHECKING:
    from matplotlib.figure import Figure

RESULTS = ("certificates",)
DATA = "results"
PREFERRED = "mnist:3-8"
BOUNDS = {
    "vote-certificate": ("certified: vote-certificate", BLUE),
    "a-posteriori-bounded": ("a-posteriori-bounded, corrected", ORANGE),
    "theorem-1": ("Theorem 1 as printed", RED),
    "corollary-1": ("Corollary 1 as printed", RED),
}


def compute(*, quick: bool, data: Path | None = None) -> Data:
    """The errors and bounds of one linear network trained for its certificate: that of MNIST if it was measured."""
    rows, measured = measured_rows(data)
    linear = [row for row in rows if row["method"] == "linear"]
    name = PREFERRED if any(row["data"] == PREFERRED for row in linear) else linear[0]["data"]
    own = {row["bound id"]: row for row in linear if row["data"] == name}
    one = own["vote-certificate"]
    bounds = [
        {"id": id, "value": own[id]["bound"], "applies": own[id].get("applies", True)} for id in BOUNDS if id in own
    ]
    errors = {"training error": one["train_error"], "test error": one["test_error"]}
    return {
        "data": name,
        "m": one["m"],
        "delta": one["delta"],
        "errors": errors,
        "bounds": bounds,
        "measured": measured,
    }


@styled
def draw(data: Data) -> Figure:
    lines = [(name, value, f"{value:.4f}", GREEN, True) for name, value in data["errors"].items() if value is not None]
    for row in data["bounds"]:
        label, colour = BOUNDS[row["id"]]
        said = up(row["value"], 3) + ("" if row["applies"] else ", but does not apply")
        lines.append((label, row["value"], said, colour, row["applies"]))
    most = 1.15 * max(1.2, *(line[1] for line in lines))
    single = is_single(data, by_default=False)
    height = 0.45 + (0.42 if single else 0.27) * len(lines)
    figure, (axes,) = panels(1, 1, width=width(data, single=False), height=height)
    axes.axvspan(1, most, color=INK, alpha=0.07, linewidth=0)
    axes.text(0.995 * most, -0.7, "above 1: says nothing", ha="right", va="center", color=INK)
    for place, (name, value, said, colour, applies) in enumerate(lines):
        if single:  # the names above their bars
            axes.text(0.01 * most, place - 0.42, name, va="center", color=INK)
        axes.barh(place, value, height=0.4 if single else 0.55, color=colour if applies else "none", edgecolor=colour)
        inside = value > 0.8
        x = value - 0.01 * most if inside else value + 0.01 * most
        axes.text(x, place, said, ha="right" if inside else "left", va="center", color=INK)
    axes.set_yticks([] if single else range(len(lines)), [] if single else [line[0] for line in lines])
    axes.set_ylim(len(lines) - 0.45, -1.1)
    axes.set_xlim(0, most)
    axes.set_xlabel(f"error, and bounds on it with probability {1 - data['delta']:g}")
    return figure


def caption(data: Data) -> str:
    bounds = {row["id"]: row for row in data["bounds"]}
    vote = bounds["vote-certificate"]["value"]
    test = data["errors"]["test error"]
    tested = "" if test is None else f" It errs on {test:.4f} of the test points."
    outside = [BOUNDS[id][0] for id, row in bounds.items() if not row["applies"]]
    printed = f" Hollow: the value of {' and '.join(outside)}, whose assumptions fail here." if outside else ""
    source = "adanet-experiment certificates" if data["measured"] else "a run made for this figure"
    return (
        f"A network on {data['data']}, linear in its features and trained on m = {data['m']:,} points for its "
        f"certificate ({source}).{tested} With probability {1 - data['delta']:g} over the sample its risk is at most "
        f"{up(vote, 3)}.{printed}"
    )
