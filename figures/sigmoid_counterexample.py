"""Lemma 1 fails where φ(0) != 0: the exact complexity of a sigmoid unit against the lemmas, as a curve in Λ."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from adanet_theory.estimates import hidden_complexity, linear_complexity
from adanet_theory.rademacher import layered_complexity, lemma_1, lemma_1_corrected
from adanet_theory.spec import NetworkSpec
from figures.canvas import Data, panels, styled
from verify.claims.checks.lemma_1 import one_feature
from verify.show.plots import BLUE, INK, ORANGE, RED

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WIDEST = 1.0


def compute(*, quick: bool) -> Data:
    """R_S(H_2), all signs enumerated, and what the lemmas say of it; Λ_{1,0} in [0, 1], Λ_{2,1} = n_0 = n_1 = 1."""
    Psi = one_feature()
    m, r_inf = len(Psi), float(np.abs(Psi).max())
    curves: Data = {"Lambda": [], "exact": [], "lemma-1": [], "lemma-2": [], "lemma-1-corrected": []}
    for Lambda in np.linspace(0, WIDEST, 11 if quick else 101).tolist():
        spec = NetworkSpec.layered((1, 1, 1), [Lambda, 1.0], 2.0, "sigmoid")
        R_1 = linear_complexity(Psi, spec).mean
        curves["Lambda"].append(Lambda)
        curves["exact"].append(hidden_complexity(Psi, spec).mean)
        curves["lemma-1"].append(lemma_1(spec, 2, [R_1], literally=True))
        curves["lemma-2"].append(layered_complexity(spec, 2, m=m, r_inf=r_inf, literally=True))
        curves["lemma-1-corrected"].append(lemma_1_corrected(spec, 2, [R_1], m=m))
    return {"m": m, **curves}


@styled
def draw(data: Data) -> Figure:
    """The exact value above the printed lemmas is the counterexample; the shaded part is what Lemma 1 misses."""
    figure, (axes,) = panels(1, 1, height=2.2)
    x, exact, printed = (np.array(data[name]) for name in ("Lambda", "exact", "lemma-1"))
    axes.fill_between(x, printed, exact, where=printed < exact, interpolate=True, color=RED, alpha=0.15, linewidth=0)
    axes.plot(x, printed, color=RED, linestyle="--")
    axes.plot(x, data["lemma-2"], color=ORANGE, linestyle="-.")
    axes.plot(x, exact, color=INK, linewidth=2.2)
    axes.plot(x, data["lemma-1-corrected"], color=BLUE, linestyle=(0, (4, 1.5)), linewidth=1.2)
    axes.set_xlim(0, WIDEST)
    axes.set_ylim(0, 0.31)
    axes.text(0.39, 0.295, "Lemma 2, printed", va="center", color=ORANGE)
    axes.text(0.77, 0.25, "Lemma 1, printed", ha="right", va="center", color=RED)
    axes.text(0.265, 0.12, "violated", ha="center", va="center", color=RED)
    axes.text(0.99, exact[-1] - 0.03, r"$\mathfrak{R}_S(H_2)$, exact, and on it", ha="right", va="top", color=INK)
    axes.text(0.99, exact[-1] - 0.055, "Lemma 1, corrected", ha="right", va="top", color=BLUE)
    axes.set_xlabel(r"bound $\Lambda_{1,0}$ on the weights of a sigmoid unit")
    axes.set_ylabel(r"$\mathfrak{R}_S(H_2)$ and bounds on it")
    return figure


def crossing(data: Data) -> float:
    """The Λ_{1,0} from which Lemma 1 as printed is above the exact value, between two points of the curve."""
    x, excess = np.array(data["Lambda"]), np.array(data["lemma-1"]) - np.array(data["exact"])
    i = int(np.flatnonzero(excess < 0)[-1])
    return float(x[i] + (x[i + 1] - x[i]) * excess[i] / (excess[i] - excess[i + 1]))


def caption(data: Data) -> str:
    i = int(np.argmin(np.abs(np.array(data["Lambda"]) - 0.1)))
    values = {name: [data[name][0], data[name][i]] for name in ("exact", "lemma-1", "lemma-1-corrected")}
    first, second = ({name: f"{pair[n]:.5f}" for name, pair in values.items()} for n in (0, 1))
    return (
        f"Lemma 1 fails for the sigmoid, which the paper allows: m = {data['m']} points, n_0 = n_1 = 1, "
        "Lambda_(2,1) = 1. R_S(H_2) with all signs enumerated, against Lemma 1 and Lemma 2 as printed and Lemma 1 "
        f"corrected. At Lambda_(1,0) = 0 the value is {first['exact']} where Lemma 1 says {first['lemma-1']} "
        f"(corrected: {first['lemma-1-corrected']}); at {data['Lambda'][i]:.3g} it is {second['exact']} against "
        f"{second['lemma-1']} (corrected: {second['lemma-1-corrected']}). Lemma 1 is violated up to Lambda_(1,0) = "
        f"{crossing(data):.3f}: the step max(A, B) <= A + B of its proof needs phi(0) = 0."
    )
