"""The bounds on the risk, as printed and as corrected, against m, depth, ρ, p and width, one panel for each."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from adanet_theory import catalogue
from figures.canvas import FULL, Data, NotDrawn, is_single, panels, shade_vacuous, styled
from figures.family import WIDTH, asked, bounds, is_in_range, is_possible, margins, spread, title, value
from figures.parameters import ONE, SPAN
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
_AXES = {"m": "sample size $m$", "depth": "depth $l$", "rho": r"margin $\rho$", "p": "norm $p$", "width": "width $n_k$"}
_P_TICKS = {1.5: "3/2", 2.0: "2", 4.0: "4", np.inf: r"$\infty$"}


_MARKERS = "s^vDXP*"  # of the registered bounds


def _line(id: str) -> dict[str, Any]:
    """The line style of each bound, in their order; a registered bound has a thin line with a marker."""
    own = catalogue.ids(catalogue.registered())
    if id not in own:
        again, place = divmod(catalogue.ids(bounds()).index(id), len(_LINES))
        return dict(_LINES[place]) | ({"marker": _MARKERS[again % len(_MARKERS)], "markersize": 2.6} if again else {})
    marker = _MARKERS[own.index(id) % len(_MARKERS)]
    return {"color": INK, "linestyle": "-", "linewidth": 0.6, "marker": marker, "markersize": 3.2}


PARAMETERS = dict.fromkeys(("depth", "rho", "m", "p", "width"), SPAN) | {"n_0": ONE, "delta": ONE}
"""The parameters: a span (--depth 2:20) is the range of its panel, a number (--width 8) the value in all others."""


def _values(quick: bool, spans: Data) -> dict[str, list[Any]]:
    count = 9 if quick else 49
    inverse_q = np.linspace(0.3, 1.0, count)  # of p: from where M_l exceeds ρ to p = inf
    with np.errstate(divide="ignore"):
        p = 1 / (1 - inverse_q)
    grids: dict[str, list[Any]] = {
        "m": [int(m) for m in np.logspace(2, 9, count).round()],
        "depth": list(range(2, 11)),
        "rho": margins(count),
        "p": sorted({*p.tolist(), 2.0}),
        "width": sorted({int(n) for n in np.logspace(np.log10(2), 3, count).round()} | {WIDTH}),
    }
    return grids | {name: spread(name, span, count) for name, span in spans.items()}


def compute(*, quick: bool, **parameters: Any) -> Data:
    """For each variable its values, and each bound's raw value there; None if it has none."""
    base, spans = asked(parameters)
    if not is_possible(base):
        raise NotDrawn(f"no member has margins above rho = {base.rho:g} at p = {base.p:g}, width {base.width}.")
    data: Data = {"base": asdict(base)}
    for variable, values in _values(quick, spans).items():
        settings = [setting for value in values if is_possible(setting := replace(base, **{variable: value}))]
        data[variable] = {
            "values": [getattr(setting, variable) for setting in settings],
            "in_range": [is_in_range(setting) for setting in settings],
            "raw": {bound.id: [value(bound, setting).raw for setting in settings] for bound in bounds()},
        }
    return data


@styled
def draw(data: Data) -> Figure:
    """Five panels and a legend; a printed bound is pale where the assumption |h| <= 1 fails."""
    single = is_single(data, by_default=False)
    figure, axes = (
        panels(3, 2, height=5.2, sharey=True) if single else panels(2, 3, width=FULL, height=3.6, sharey=True)
    )
    for panel, variable in zip(axes, _AXES, strict=False):
        _panel(panel, variable, data[variable], data["base"][variable])
    for panel in axes[:: 2 if single else 3]:
        panel.set_ylabel("bound on the risk $R(f)$")
    axes[0].text(0.97, 0.96, "vacuous", transform=axes[0].transAxes, ha="right", va="top", color=INK)
    _key(axes[5])
    if single:  # beside the panels it would take their width
        handles, labels = axes[5].get_legend_handles_labels()
        axes[5].legend_ = None
        figure.legend(
            handles, labels, loc="outside lower center", ncols=2, handlelength=1.6, handletextpad=0.5, columnspacing=0.5
        )
    return figure


def _panel(axes: Axes, variable: str, curves: Data, base: float) -> None:
    from matplotlib.ticker import MaxNLocator

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
        axes.xaxis.set_major_locator(MaxNLocator(5, integer=True))
    else:
        axes.set_xscale("log")
        _ticks(axes, x)


def _ticks(axes: Axes, x: np.ndarray) -> None:
    """At most five numbers: powers of ten, or 1, 2, 5 times these, written out, if x spans few of them."""
    from matplotlib.ticker import FixedLocator, FuncFormatter, NullFormatter

    low, high = (int(power) for power in (np.floor(np.log10(x[0])), np.ceil(np.log10(x[-1]))))
    powers = [10.0**k for k in range(low, high + 1) if x[0] <= 10.0**k <= x[-1]]
    if len(powers) < 3:
        marks = [c * 10.0**k for k in range(low, high + 1) for c in (1, 2, 5)]
        marks = [mark for mark in marks if x[0] <= mark * (1 + 1e-9) and mark <= x[-1] * (1 + 1e-9)]
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    else:
        marks = powers
    axes.xaxis.set_major_locator(FixedLocator(marks[:: -(-len(marks) // 5)] if marks else x[[0, -1]].tolist()))
    axes.xaxis.set_minor_formatter(NullFormatter())


def _key(axes: Axes) -> None:
    axes.set_axis_off()
    for bound in bounds():
        axes.plot([], [], label=title(bound), **_line(bound.id))
    axes.plot([], [], color=INK, alpha=0.4, linewidth=0.8, linestyle="--", label=r"pale: $|h| \leq 1$ fails")
    axes.plot([], [], color=INK, linewidth=0.5, linestyle=(0, (1, 3)), label="value in the other panels")
    axes.legend(loc="center left", handlelength=2.4, borderaxespad=0.0, labelspacing=0.7)


def complexities() -> str:
    """The lemma that bounds the complexity in each bound.

    >>> complexities().partition(", ")[0]
    'lemma-2 in theorem-1'
    """
    lemmas = dict.fromkeys(bound.complexity for bound in bounds() if bound.complexity is not None)
    users = {lemma: [bound.id for bound in bounds() if bound.complexity == lemma] for lemma in lemmas}
    return " and by ".join(f"{lemma} in {', '.join(ids)}" for lemma, ids in users.items())


def _number(raw: float | None) -> str:
    return "undefined" if raw is None else f"{raw:.3g}"


def caption(data: Data) -> str:
    base = data["base"]
    at = data["depth"]["values"].index(base["depth"])
    numbers = "; ".join(f"{name} {_number(values[at])}" for name, values in data["depth"]["raw"].items())
    inside = ", so that |h| <= 1 there" if data["depth"]["in_range"][at] else ""
    return (
        "Every bound on the risk that needs no sample, as printed and corrected, against the sample size m, the depth "
        "l, the margin rho, the norm p and the width n_k. Each panel varies one and keeps the others at "
        f"m = {base['m']}, l = {base['depth']}, rho = {base['rho']:g}, p = {base['p']:g}, n_k = {base['width']}, where "
        f"the values are: {numbers}. Layered ReLU families, n_0 = {base['n_0']}, ||Psi||_inf <= 1, Lambda_(1,0) = "
        f"{base['n_0']}^(-1/2) and Lambda_(k,k-1) = {WIDTH}^(-1/2){inside}. All mixture weight is on the top "
        f"layer, all margins of f/W are above rho, and delta = {base['delta']:g}. Values above 1 (grey) are vacuous. "
        f"R_m(H_k) is bounded by {complexities()}; a-posteriori-bounded takes the largest path norm in the family. p "
        "and width start where M_l > rho, because below that no member has such margins."
    )
