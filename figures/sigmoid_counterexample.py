"""Lemma 1 fails if φ(0) != 0: the exact complexity of a sigmoid unit against the lemmas, as a curve in Λ."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from adanet_theory.complexity.estimates import hidden_complexity, linear_complexity
from adanet_theory.complexity.rademacher import layered_complexity, lemma_1, lemma_1_corrected
from adanet_theory.spec import NetworkSpec
from figures.canvas import Data, NotDrawn, panels, styled, width
from figures.parameters import ONE, SPAN, number
from verify.claims.checks.lemma_1 import one_feature
from verify.show.plots import BLUE, INK, ORANGE, RED

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WIDEST = 1.0
MOST = 16  # points whose signs can all be taken
PARAMETERS = {"Lambda": SPAN, "m": ONE}


def compute(*, quick: bool, **parameters: Any) -> Data:
    """R_S(H_2) by enumeration of all signs, and the lemmas' bounds; Λ_{1,0} in [0, 1], Λ_{2,1} = n_0 = n_1 = 1."""
    low, high = parameters.get("Lambda", (0.0, WIDEST))
    m = number(parameters, "m", None)
    if low == high or (m is not None and m > MOST):
        raise NotDrawn(f"a curve needs a span of Lambda, and m at most {MOST}; got Lambda={low:g}:{high:g}, m={m}.")
    Psi = one_feature() if m is None else np.random.default_rng(8).uniform(-1, 1, size=(m, 1))
    m, r_inf = len(Psi), float(np.abs(Psi).max())
    curves: Data = {"Lambda": [], "exact": [], "lemma-1": [], "lemma-2": [], "lemma-1-corrected": []}
    for Lambda in np.linspace(low, high, 11 if quick else 101).tolist():
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
    """The exact value above the printed lemmas is the counterexample; the gap to Lemma 1 is shaded."""
    figure, (axes,) = panels(1, 1, height=2.2, width=width(data, single=True))
    x, exact, printed = (np.array(data[name]) for name in ("Lambda", "exact", "lemma-1"))
    axes.fill_between(x, printed, exact, where=printed < exact, interpolate=True, color=RED, alpha=0.15, linewidth=0)
    axes.plot(x, printed, color=RED, linestyle="--")
    axes.plot(x, data["lemma-2"], color=ORANGE, linestyle="-.")
    axes.plot(x, exact, color=INK, linewidth=2.2)
    axes.plot(x, data["lemma-1-corrected"], color=BLUE, linestyle=(0, (4, 1.5)), linewidth=1.2)
    top = round(1.8 * float(exact.max()), 2)
    axes.set_xlim(x[0], x[-1])
    axes.set_ylim(0, top)
    _name_curves(axes, data, top)
    axes.set_xlabel(r"bound $\Lambda_{1,0}$ on the weights of a sigmoid unit")
    axes.set_ylabel(r"$\mathfrak{R}_S(H_2)$ and bounds on it")
    return figure


def _name_curves(axes: Axes, data: Data, top: float) -> None:
    """Each name next to its curve, at a height where the others leave room, if the curve reaches it."""
    x, exact = np.array(data["Lambda"]), np.array(data["exact"])
    for name, label, part, colour in (
        ("lemma-2", "Lemma 2, printed", 0.95, ORANGE),
        ("lemma-1", "Lemma 1, printed", 0.8, RED),
    ):
        y = np.array(data[name])
        if y[0] < part * top < y[-1]:
            side, ha = (1, "left") if name == "lemma-2" else (-1, "right")
            place = float(np.interp(part * top, y, x)) + 0.03 * side * (x[-1] - x[0])
            axes.text(place, part * top, label, ha=ha, va="center", color=colour)
    violated = np.array(data["lemma-1"]) < exact
    if violated[0]:
        wide = 0.53 * (x[violated][-1] - x[0])
        axes.text(x[0] + wide, 0.79 * float(exact[violated].mean()), "violated", ha="center", color=RED)
    right = x[-1] - 0.01 * (x[-1] - x[0])
    axes.text(right, exact[-1] - 0.1 * top, r"$\mathfrak{R}_S(H_2)$, exact, and on it", ha="right", va="top", color=INK)
    axes.text(right, exact[-1] - 0.18 * top, "Lemma 1, corrected", ha="right", va="top", color=BLUE)


def crossing(data: Data) -> float | None:
    """The Λ_{1,0} from which Lemma 1 as printed is above the exact value, by interpolation; None if there is none."""
    x, excess = np.array(data["Lambda"]), np.array(data["lemma-1"]) - np.array(data["exact"])
    if excess[0] >= 0 or excess[-1] < 0:
        return None
    i = int(np.flatnonzero(excess < 0)[-1])
    return float(x[i] + (x[i + 1] - x[i]) * excess[i] / (excess[i] - excess[i + 1]))


def caption(data: Data) -> str:
    i = int(np.argmin(np.abs(np.array(data["Lambda"]) - data["Lambda"][0] - 0.1)))
    values = {name: [data[name][0], data[name][i]] for name in ("exact", "lemma-1", "lemma-1-corrected")}
    first, second = ({name: f"{pair[n]:.5f}" for name, pair in values.items()} for n in (0, 1))
    return (
        f"Lemma 1 fails for the sigmoid, which the paper allows. The figure shows the exact R_S(H_2), Lemma 1 and "
        f"Lemma 2 as printed, and Lemma 1 corrected, for m = {data['m']} points, n_0 = n_1 = 1 and Lambda_(2,1) = 1. "
        f"At Lambda_(1,0) = {data['Lambda'][0]:.3g} the value is {first['exact']}, and Lemma 1 says "
        f"{first['lemma-1']} (corrected: {first['lemma-1-corrected']}). At {data['Lambda'][i]:.3g} it is "
        f"{second['exact']}, and Lemma 1 says {second['lemma-1']} (corrected: {second['lemma-1-corrected']}). Lemma 1 "
        f"is violated {_until(data)}: the step max(A, B) <= A + B of its proof needs phi(0) = 0."
    )


def _until(data: Data) -> str:
    where = crossing(data)
    if where is not None:
        return f"up to Lambda_(1,0) = {where:.3f}"
    return "all along" if data["lemma-1"][0] < data["exact"][0] else "only for smaller Lambda_(1,0)"
