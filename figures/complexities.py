"""R_S(H_k) of each layer, exact or between two bounds, against Lemmas 1-2 as printed, corrected and peeled."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from adanet_theory.checks import Array
from adanet_theory.spec import NetworkSpec
from figures.canvas import P_NAMES, Data, NotDrawn, is_single, panels, styled, width
from figures.parameters import ONE, P, number
from verify.show.plots import BLUE, GREEN, INK, ORANGE, RED

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

N_0, WIDTH, DEPTH = 2, 3, 4
MOST = 12  # points whose signs can all be taken
PARAMETERS = {"depth": ONE, "width": ONE, "m": ONE}
DATA = "points"
_TICKS = (0.1, 0.2, 0.5, 1, 2, 5)
_LEMMAS: dict[str, dict[str, Any]] = {
    "lemma-2": {"color": ORANGE, "marker": "D", "label": "Lemma 2, printed"},
    "lemma-1": {"color": RED, "marker": "s", "label": "Lemma 1, printed"},
    "lemma-2-peeled": {"color": GREEN, "marker": "^", "label": "Lemma 2, peeled"},
    "lemma-1-corrected": {"color": BLUE, "marker": "o", "label": "Lemma 1, corrected"},
}


def sample(m: int, data: Path | None = None) -> Array:
    """m points in the square [-1, 1]², or the first m of a file."""
    if data is not None:
        from figures.runs import board, points

        return points(data, board)[0][:m].numpy()
    return np.random.default_rng(5).uniform(-1, 1, size=(m, N_0))


def family(p: float, n_0: int, width: int, depth: int) -> NetworkSpec:
    """Layered ReLU units with Λ_{k,k-1} n_{k-1}^(1/q) = 1, so that only the lemmas' own constants grow with k."""
    n = (n_0, *[width] * depth)
    return NetworkSpec.layered(n, [n_s ** -(1 - 1 / p) for n_s in n[:-1]], p)


def compute(*, quick: bool, data: Path | None = None, **parameters: Any) -> Data:
    """For each p the rows of `verify.measure.layers`, by enumeration of all sign vectors, without random draws."""
    from verify.measure.evidence import feature_sizes
    from verify.measure.layers import Sampling, complexities

    m = number(parameters, "m", 5 if quick else 10)
    if m > MOST:
        raise NotDrawn(f"all signs of m points are taken: m must be at most {MOST}, got m={m}.")
    width, depth = number(parameters, "width", WIDTH), number(parameters, "depth", DEPTH)
    Psi = sample(m, data)
    m, n_0 = Psi.shape
    values: Data = {"m": m, "n_0": n_0, "width": width, "depth": depth, "own": data is None, "rows": {}}
    for name, p in P.items():
        spec = family(p, n_0, width, depth)
        layers = complexities(spec, Psi, feature_sizes(Psi, spec.q), Sampling(0.05, 2 ** (m - 1), 0, "cpu"))
        values["rows"][name] = [
            {
                "k": row.k,
                "lower": row.lower,
                "upper": row.upper,
                "exact": value is not None,
                **{lemma: getattr(row, lemma.replace("-", "_")) for lemma in _LEMMAS},
            }
            for row, value in zip(layers.rows, layers.values, strict=True)
        ]
    return values


@styled
def draw(data: Data) -> Figure:
    """The bar (or the dash, if it is known exactly) is R_S(H_k); each marker is the bound of a lemma."""
    single, depth = is_single(data, by_default=False), data["depth"]
    across = width(data, single=False)
    figure, axes = (
        panels(3, 1, height=5.6, width=across, sharey=True, sharex=True)
        if single
        else panels(1, 3, width=across, height=2.7, sharey=True)
    )
    values = [row[name] for rows in data["rows"].values() for row in rows for name in (*_LEMMAS, "lower") if row[name]]
    low = 0.1 if min(values) > 0.1 else 0.7 * min(values)
    high = 8.0 if max(values) < 8 else 1.4 * max(values)
    for panel, (name, rows) in zip(axes, data["rows"].items(), strict=True):
        for place, (lemma, style) in enumerate(_LEMMAS.items()):
            known = [(row["k"] + 0.13 * (place - 1.5), row[lemma]) for row in rows if row[lemma]]
            panel.plot(*zip(*known, strict=True), linestyle="none", **style)
        for row in rows:
            _value(panel, row)
        panel.set_yscale("log")
        panel.set_ylim(low, high)
        if (low, high) == (0.1, 8.0):
            panel.set_yticks(_TICKS, [f"{tick:g}" for tick in _TICKS])
        panel.minorticks_off()
        panel.set_xticks(range(1, depth + 1))
        panel.set_xlim(0.5, depth + 0.5)
        panel.set_title(P_NAMES[name])
    for panel in axes if single else axes[:1]:
        panel.set_ylabel(r"$\mathfrak{R}_S(H_k)$")
    for panel in axes[-1:] if single else axes:
        panel.set_xlabel("layer $k$")
    axes[0].plot([], [], color=INK, linewidth=1.8, label=r"$\mathfrak{R}_S(H_k)$, exact")
    axes[0].bar([1], [0], color=INK, alpha=0.25, label="lower to upper value")
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=2 if single else 3, columnspacing=1.5)
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
        f"corrected and Lemma 2 peeled, for m = {data['m']} points {'in the square' if data['own'] else 'of a file'}, "
        f"n_0 = {data['n_0']}, {data['width']} ReLU units a layer, Lambda_(k,k-1) = n_(k-1)^(-1/q). All "
        "signs are enumerated. A dash is an exact value. A bar "
        f"reaches from the value of the best weights found to the least known upper value. R_S(H_k), k = 1, .., "
        f"{data['depth']}: {spans}. Lemma 1 uses the least upper values of the layers below."
    )
