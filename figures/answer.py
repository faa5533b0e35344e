"""What the project answers: one trained network, its error, what is certified of its risk, and what the paper says."""

from __future__ import annotations

from typing import TYPE_CHECKING

from figures.canvas import FULL, Data, panels, styled
from figures.certificates import measured_rows
from verify.show.plots import BLUE, GREEN, INK, ORANGE, RED
from verify.show.wording import up

if TYPE_CHECKING:
    from matplotlib.figure import Figure

RESULTS = ("certificates",)
PREFERRED = "mnist:3-8"
BOUNDS = {
    "vote-certificate": ("certified: vote-certificate", BLUE),
    "a-posteriori-bounded": ("a-posteriori-bounded, the paper mended", ORANGE),
    "theorem-1": ("Theorem 1 as printed", RED),
    "corollary-1": ("Corollary 1 as printed", RED),
}


def compute(*, quick: bool) -> Data:
    """The errors and bounds of one linear network trained for its certificate: MNIST's where that was measured."""
    rows, measured = measured_rows()
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
    lines = [(name, value, up(value, 3), GREEN, True) for name, value in data["errors"].items() if value is not None]
    for row in data["bounds"]:
        label, colour = BOUNDS[row["id"]]
        said = up(row["value"], 3) + ("" if row["applies"] else ", but does not apply")
        lines.append((label, row["value"], said, colour, row["applies"]))
    most = 1.15 * max(1.2, *(line[1] for line in lines))
    figure, (axes,) = panels(1, 1, width=FULL, height=0.45 + 0.27 * len(lines))
    axes.axvspan(1, most, color=INK, alpha=0.07, linewidth=0)
    axes.text(0.995 * most, -0.7, "above 1: says nothing", ha="right", va="center", color=INK)
    for place, (_, value, said, colour, applies) in enumerate(lines):
        axes.barh(place, value, height=0.55, color=colour if applies else "none", edgecolor=colour)
        inside = value > 0.8
        x = value - 0.01 * most if inside else value + 0.01 * most
        axes.text(x, place, said, ha="right" if inside else "left", va="center", color=INK)
    axes.set_yticks(range(len(lines)), [line[0] for line in lines])
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
    printed = (
        f" Hollow: {' and '.join(outside)}, the value of a formula whose assumptions fail here." if outside else ""
    )
    source = "adanet-experiment certificates" if data["measured"] else "a run made for this figure"
    return (
        f"One network on {data['data']}, linear in its features, trained on m = {data['m']:,} points for its "
        f"certificate ({source}).{tested} With probability {1 - data['delta']:g} over the sample its risk is at most "
        f"{up(vote, 3)}.{printed}"
    )
