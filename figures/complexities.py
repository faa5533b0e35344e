"""R_S(H_k) layer by layer, exact or from both sides, against Lemmas 1-2 as printed, corrected and peeled."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from adanet_theory.checks import Array
from adanet_theory.spec import NetworkSpec
from figures.canvas import FULL, Data, panels, styled
from verify.show.plots import BLUE, GREEN, INK, ORANGE, RED

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

P = {"1": 1.0, "2": 2.0, "inf": math.inf}
_TITLES = {"1": "$p = 1$", "2": "$p = 2$", "inf": r"$p = \infty$"}
N_0, WIDTH, DEPTH = 2, 3, 4
_TICKS = (0.1, 0.2, 0.5, 1, 2, 5)
_LEMMAS: dict[str, dict[str, Any]] = {
    "lemma-2": {"color": ORANGE, "marker": "D", "label": "Lemma 2, printed"},
    "lemma-1": {"color": RED, "marker": "s", "label": "Lemma 1, printed"},
    "lemma-2-peeled": {"color": GREEN, "marker": "^", "label": "Lemma 2, peeled"},
    "lemma-1-corrected": {"color": BLUE, "marker": "o", "label": "Lemma 1, corrected"},
}


def sample(m: int) -> Array:
    """m points of the square [-1, 1]²."""
    return np.random.default_rng(5).uniform(-1, 1, size=(m, N_0))


def family(p: float) -> NetworkSpec:
    """Layered ReLU units with Λ_{k,k-1} n_{k-1}^(1/q) = 1: what grows with k is the lemmas' own constant."""
    n = (N_0, *[WIDTH] * DEPTH)
    return NetworkSpec.layered(n, [n_s ** -(1 - 1 / p) for n_s in n[:-1]], p)


def compute(*, quick: bool) -> Data:
    """For each p the rows of `verify.network.layers`: every sign vector taken, so that nothing is drawn at random."""
    from verify.network.evidence import feature_sizes
    from verify.network.layers import Sampling, complexities

    m = 5 if quick else 10
    Psi = sample(m)
    found: Data = {"m": m, "rows": {}}
    for name, p in P.items():
        spec = family(p)
        layers = complexities(spec, Psi, feature_sizes(Psi, spec.q), Sampling(0.05, 2 ** (m - 1), 0, "cpu"))
        found["rows"][name] = [
            {
                "k": row.k,
                "lower": row.lower,
                "upper": row.upper,
                "exact": value is not None,
                **{lemma: getattr(row, lemma.replace("-", "_")) for lemma in _LEMMAS},
            }
            for row, value in zip(layers.rows, layers.values, strict=True)
        ]
    return found


@styled
def draw(data: Data) -> Figure:
    """The bar (or, where it is known exactly, the dash) is R_S(H_k); each mark is what a lemma says of it."""
    figure, axes = panels(1, 3, width=FULL, height=2.7, sharey=True)
    for panel, (name, rows) in zip(axes, data["rows"].items(), strict=True):
        for place, (lemma, style) in enumerate(_LEMMAS.items()):
            known = [(row["k"] + 0.13 * (place - 1.5), row[lemma]) for row in rows if row[lemma]]
            panel.plot(*zip(*known, strict=True), linestyle="none", **style)
        for row in rows:
            _value(panel, row)
        panel.set_yscale("log")
        panel.set_ylim(0.1, 8)
        panel.set_yticks(_TICKS, [f"{tick:g}" for tick in _TICKS])
        panel.minorticks_off()
        panel.set_xticks(range(1, DEPTH + 1))
        panel.set_xlim(0.5, DEPTH + 0.5)
        panel.set_xlabel("layer $k$")
        panel.set_title(_TITLES[name])
    axes[0].set_ylabel(r"$\mathfrak{R}_S(H_k)$")
    axes[0].plot([], [], color=INK, linewidth=1.8, label=r"$\mathfrak{R}_S(H_k)$, exact")
    axes[0].bar([1], [0], color=INK, alpha=0.25, label="lower to upper value")
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=3, columnspacing=1.5)
    return figure


def _value(axes: Axes, row: Data) -> None:
    if row["exact"]:
        axes.plot([row["k"] - 0.33, row["k"] + 0.33], [row["upper"]] * 2, color=INK, linewidth=1.8)
    else:
        axes.bar(
            row["k"],
            row["upper"] - row["lower"],
            0.66,
            bottom=row["lower"],
            color=INK,
            alpha=0.25,
            linewidth=0,
            zorder=0,
        )


def caption(data: Data) -> str:
    spans = "; ".join(
        f"p = {name}: "
        + ", ".join(
            f"{row['upper']:.4f}" if row["exact"] else f"{row['lower']:.4f} to {row['upper']:.4f}" for row in rows
        )
        for name, rows in data["rows"].items()
    )
    return (
        "The empirical Rademacher complexity of each layer family against Lemmas 1 and 2 as printed, Lemma 1 "
        f"corrected and Lemma 2 peeled: m = {data['m']} points in the square, n_0 = {N_0}, {WIDTH} ReLU units a "
        "layer, Lambda_(k,k-1) = n_(k-1)^(-1/q). All signs are taken; a dash is an exact value (k = 1, 2), a bar "
        f"reaches from the best weights found to the least upper value known. R_S(H_k), k = 1, .., {DEPTH}: "
        f"{spans}. Lemma 1 takes the least upper values below it."
    )
