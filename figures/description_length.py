"""The number of bits that m points can certify, and measured networks, as they are and compressed."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

from figures.canvas import Data, is_single, panels, styled, width
from figures.description_stages import COLOURS, MARKERS, measured_rows
from verify.experiments.tables import STAGES
from verify.show.plots import INK
from verify.show.wording import up

if TYPE_CHECKING:
    from matplotlib.figure import Figure

RESULTS = ("certificates",)
DATA = "results"
DELTA = 0.05
RISKS = (0.9, 0.5, 0.1)
"""The certificate of a network without errors on the sample."""
SIZES = (1e2, 3e2, 1e3, 3e3, 1e4, 3e4, 1e5, 3e5, 1e6, 3e6)
BESIDE = 1.15
"""Times m, so that networks of one sample are drawn side by side."""


def most_bits(m: int, risk: float) -> float:
    """The most bits with which a network without errors on m points has a certificate <= risk.

    P[Bin(m, p) <= 0] = (1 - p)^m >= δ 2^-bits at p = risk: bits = log2 δ - m log2(1 - risk).
    """
    return math.log2(DELTA) - m * math.log2(1 - risk)


def compute(*, quick: bool, data: Path | None = None) -> Data:
    """The curves, and (m, bits) of the measured networks at their first and their best stage."""
    rows, measured = measured_rows(data)
    networks = []
    for row in rows:
        best = min(row["stages"], key=lambda stage: stage["bound"])
        as_it_is = next(stage for stage in row["stages"] if stage["name"] == STAGES[0])
        networks.append({"name": row["data"], "m": row["m"], "weights": row["weights"], "own": as_it_is, "best": best})
    curves = {str(risk): [max(most_bits(int(m), risk), 0.0) for m in SIZES] for risk in RISKS}
    return {"sizes": list(SIZES), "curves": curves, "networks": networks, "measured": measured}


@styled
def draw(data: Data) -> Figure:
    single = is_single(data, by_default=False)
    figure, (axes,) = panels(1, 1, width=width(data, single=False), height=5.2 if single else 3.6)
    for (risk, bits), style in zip(data["curves"].items(), (":", "--", "-"), strict=True):
        axes.plot(data["sizes"], bits, color=INK, linewidth=0.8, linestyle=style, label=f"risk ≤ {risk}, no errors")
    for place, network in enumerate(data["networks"]):
        look: dict[str, Any] = {
            "color": COLOURS[place % len(COLOURS)],
            "marker": MARKERS[place % len(MARKERS)],
            "markersize": 4,
        }
        own, best = network["own"], network["best"]
        before = sum(other["m"] == network["m"] for other in data["networks"][:place])
        m = network["m"] * BESIDE**before
        axes.plot([m, m], [own["bits"], best["bits"]], color=look["color"], linewidth=0.5)
        axes.plot([m], [own["bits"]], **look, fillstyle="none", linestyle="none")
        axes.plot([m], [best["bits"]], **look, linestyle="none", label=f"{network['name']}: {up(best['bound'], 3)}")
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_ylim(10, None)
    axes.set_xlabel("m")
    axes.set_ylabel("bits")
    figure.legend(loc="outside lower center", ncols=1 if single else 3)
    return figure


def caption(data: Data) -> str:
    sizes = [network["own"]["bits"] / network["weights"] for network in data["networks"]]
    needed = min(sizes) / -math.log2(1 - RISKS[0])
    source = "adanet-experiment certificates" if data["measured"] else "a run on 2,000 points made for this figure"
    return (
        "The bits of a network against the points of the sample, at δ = 0.05. Below a curve a network without errors "
        "on the sample has a certificate of at most that risk: log2 δ - m log2(1 - risk) bits. Hollow: networks as "
        f"they are, with at least {min(sizes):.0f} bits a weight, so n weights need about {needed:.0f} n points for a "
        f"certificate below {RISKS[0]}. Filled: compressed networks with their certificates, by {source}. Errors on "
        "the sample raise a certificate above the curve's risk. Networks of one m are drawn side by side."
    )
