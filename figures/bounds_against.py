"""The bounds on the risk against m, depth, ρ, p and width: as printed against corrected, one panel for each."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from adanet_theory import catalogue
from figures.canvas import FULL, Data, panels, shade_vacuous, styled
from figures.family import DELTA, N_0, WIDTH, Setting, bounds, is_in_range, is_possible, margins, value
from verify.show.plots import BLUE, GREEN, INK, ORANGE, PURPLE, RED, SKY

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

TOP = 1e4
_LINES: tuple[dict[str, Any], ...] = (
    {"color": ORANGE, "linestyle": "-."},
    {"color": RED, "linestyle": "--"},
    {"color": PURPLE, "linestyle": ":", "linewidth": 1.6},
    {"color": BLUE, "linestyle": "-"},
    {"color": SKY, "linestyle": "-", "linewidth": 2.8, "zorder": 1.8},  # under margin-bound, which it nearly meets
    {"color": INK, "linestyle": (0, (4, 1.5)), "linewidth": 1.6},
    {"color": GREEN, "linestyle": "-", "marker": "o", "markersize": 2.6},
)
_AXES = {
    "m": "sample size $m$",
    "depth": "depth $l$",
    "rho": r"margin $\rho$",
    "p": "norm $p$",
    "width": "width $n_k$",
}
_P_TICKS = {1.5: "3/2", 2.0: "2", 4.0: "4", np.inf: r"$\infty$"}


def _line(id: str) -> dict[str, Any]:
    """A style of its own for each bound, in their order."""
    place = catalogue.ids(bounds()).index(id)
    return dict(_LINES[place % len(_LINES)])


def _values(quick: bool) -> dict[str, list[Any]]:
    count = 9 if quick else 49
    inverse_q = np.linspace(0.3, 1.0, count)  # of p: from where M_l exceeds ρ to p = inf
    with np.errstate(divide="ignore"):
        p = 1 / (1 - inverse_q)
    return {
        "m": [int(m) for m in np.logspace(2, 9, count).round()],
        "depth": list(range(2, 11)),
        "rho": margins(count),
        "p": sorted({*p.tolist(), 2.0}),
        "width": sorted({int(n) for n in np.logspace(np.log10(2), 3, count).round()} | {WIDTH}),
    }


def compute(*, quick: bool) -> Data:
    """For each variable its values, and each bound's raw value there; None where it has none."""
    base = Setting()
    found: Data = {"base": {"m": base.m, "depth": base.depth, "rho": base.rho, "p": base.p, "width": base.width}}
    for variable, values in _values(quick).items():
        settings = [setting for value in values if is_possible(setting := replace(base, **{variable: value}))]
        found[variable] = {
            "values": [getattr(setting, variable) for setting in settings],
            "in_range": [is_in_range(setting) for setting in settings],
            "raw": {bound.id: [value(bound, setting).raw for setting in settings] for bound in bounds()},
        }
    return found


@styled
def draw(data: Data) -> Figure:
    """Five panels and a key; a printed bound is pale where the assumption |h| <= 1 fails."""
    figure, axes = panels(2, 3, width=FULL, height=3.6, sharey=True)
    for panel, variable in zip(axes, _AXES, strict=False):
        _panel(panel, variable, data[variable], data["base"][variable])
    for panel in (axes[0], axes[3]):
        panel.set_ylabel("bound on the risk $R(f)$")
    axes[0].text(0.97, 0.96, "vacuous", transform=axes[0].transAxes, ha="right", va="top", color=INK)
    _key(axes[5])
    return figure


def _panel(axes: Axes, variable: str, curves: Data, base: float) -> None:
    x = np.array(curves["values"], dtype=float)
    inside = np.array(curves["in_range"])
    if variable == "p":
        x, base = 1 - 1 / x, 1 - 1 / base
    for name, raw in curves["raw"].items():
        y = np.array([np.nan if value is None else value for value in raw])
        style = _line(name)
        if "marker" in style:
            style["markevery"] = max(1, len(x) // 8)
        if catalogue.bound(name).is_printed:
            outside = ~inside | np.append(~inside[1:], False)  # from the last point inside, so that the two meet
            axes.plot(x, np.where(outside, y, np.nan), **{**style, "alpha": 0.4, "linewidth": 0.8})
            y = np.where(inside, y, np.nan)
        axes.plot(x, y, **style)
    axes.axvline(base, color=INK, linewidth=0.5, linestyle=(0, (1, 3)))
    shade_vacuous(axes, TOP)
    axes.set_yscale("log")
    axes.set_ylim(1e-2, TOP)
    axes.set_xlabel(_AXES[variable])
    axes.margins(x=0.02)
    if variable == "p":
        axes.set_xticks([1 - 1 / p for p in _P_TICKS], list(_P_TICKS.values()))
    elif variable == "depth":
        axes.set_xticks(range(2, 11, 2))
    else:
        axes.set_xscale("log")
    if variable == "m":
        axes.set_xticks([1e2, 1e4, 1e6, 1e8])


def _key(axes: Axes) -> None:
    axes.set_axis_off()
    for bound in bounds():
        axes.plot([], [], label=bound.title, **_line(bound.id))
    axes.plot([], [], color=INK, alpha=0.4, linewidth=0.8, linestyle="--", label=r"pale: $|h| \leq 1$ fails")
    axes.plot([], [], color=INK, linewidth=0.5, linestyle=(0, (1, 3)), label="value in the other panels")
    axes.legend(loc="center left", handlelength=2.4, borderaxespad=0.0, labelspacing=0.7)


def complexities() -> str:
    """Which lemma bounds the complexity in which bound.

    >>> complexities().partition(", ")[0]
    'lemma-2 in theorem-1'
    """
    lemmas = dict.fromkeys(bound.complexity for bound in bounds() if bound.complexity is not None)
    users = {lemma: [bound.id for bound in bounds() if bound.complexity == lemma] for lemma in lemmas}
    return " and by ".join(f"{lemma} in {', '.join(ids)}" for lemma, ids in users.items())


def caption(data: Data) -> str:
    base = data["base"]
    at = data["depth"]["values"].index(base["depth"])
    numbers = "; ".join(f"{name} {values[at]:.3g}" for name, values in data["depth"]["raw"].items())
    return (
        "Every bound on the risk that needs no sample, as printed and corrected, against the sample size m, the depth "
        "l, the margin rho, the norm p and the width n_k. Each panel varies one and keeps the others at "
        f"m = {base['m']}, l = {base['depth']}, rho = {base['rho']:g}, p = {base['p']:g}, n_k = {base['width']}, where "
        f"the values are: {numbers}. Layered ReLU families, n_0 = {N_0}, ||Psi||_inf <= 1, Lambda_(1,0) = "
        f"{N_0}^(-1/2) and Lambda_(k,k-1) = {WIDTH}^(-1/2), so that |h| <= 1 there; all mixture weight on the top "
        f"layer, all margins of f/W above rho, delta = {DELTA:g}. Raw values: grey is vacuous. R_m(H_k) is bounded by "
        f"{complexities()}; a-posteriori-bounded takes the largest path norm in the family. p and width start where "
        "M_l > rho: below, no member has such margins."
    )
