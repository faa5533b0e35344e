"""The vacuity map: the least m at which each bound is below 1, over depth and margin."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from adanet_theory import catalogue
from adanet_theory.catalogue import Bound
from adanet_theory.risk.solve import smallest_m
from figures.canvas import FULL, Data, NotDrawn, is_single, panels, styled
from figures.family import WIDTH, asked, bounds, is_in_range, is_possible, margins, spread, title, value
from figures.parameters import ONE, SPAN
from verify.show.plots import INK

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from adanet_theory.checks import Array

LEAST, MOST = 2, 14  # powers of ten of m that the colours span


PARAMETERS = {"depth": SPAN, "rho": SPAN, "p": ONE, "width": ONE, "n_0": ONE, "delta": ONE}


def compute(*, quick: bool, **parameters: Any) -> Data:
    """m_needed[bound][i][j] at rho[i] and depth[j]: the least m with a value below 1."""
    base, spans = asked(parameters)
    depths = [2, 3, 5, 8] if quick else list(range(2, 11))
    rhos = margins(5 if quick else 17)
    if "depth" in spans:
        every = spread("depth", spans["depth"], 0)
        depths = every[:: max(1, len(every) // (4 if quick else 12))]
    if "rho" in spans:
        rhos = spread("rho", spans["rho"], len(rhos))
    if len(depths) < 2 or len(rhos) < 2 or not is_possible(replace(base, depth=depths[0], rho=min(rhos))):
        raise NotDrawn("a map needs a span of depths and of margins that some member has.")

    def needed(bound: Bound, rho: float, depth: int) -> int | None:
        there = replace(base, rho=rho, depth=depth)
        return smallest_m(lambda m: value(bound, replace(there, m=m))) if is_possible(there) else None

    maps = {bound.id: [[needed(bound, rho, depth) for depth in depths] for rho in rhos] for bound in bounds()}
    return {"depth": depths, "rho": rhos, "m_needed": maps, "base": asdict(base), "in_range": is_in_range(base)}


@styled
def draw(data: Data) -> Figure:
    """One map for each bound, shaded by log m and with lines at the powers of ten."""
    from matplotlib import colormaps
    from matplotlib.colors import ListedColormap

    single = is_single(data, by_default=False)
    columns = 2 if single else -(-len(data["m_needed"]) // 2)
    rows = -(-len(data["m_needed"]) // columns)
    size = {"height": 1.7 * rows} if single else {"height": 3.7, "width": FULL}
    figure, axes = panels(rows, columns, sharex=True, sharey=True, **size)
    depth, rho = np.array(data["depth"]), np.array(data["rho"])
    # the light end of a map, on which ink stays readable; it darkens evenly, in grey too
    colours = ListedColormap(colormaps["Blues"](np.linspace(0, 0.65, 256)))
    for panel, (name, m) in zip(axes, data["m_needed"].items(), strict=False):
        power = np.log10(np.array([[np.nan if value is None else value for value in row] for row in m]))
        shades = panel.pcolormesh(
            depth, rho, power, cmap=colours, vmin=LEAST, vmax=MOST, shading="nearest", rasterized=True
        )
        panel.set_title(title(catalogue.bound(name)), fontsize=8)
        panel.set_yscale("log")
        panel.set_xticks([d for d in depth if d % (2 if depth[-1] <= 12 else 4) == 0])
        _lines(panel, depth, rho, power)
    for panel in axes[::columns]:
        panel.set_ylabel(r"margin $\rho$")
    number = len(data["m_needed"])
    for panel in axes[max(0, number - columns) : number]:  # the lowest of each column
        panel.set_xlabel("depth $l$")
        panel.tick_params(labelbottom=True)
    for panel in axes[number:]:
        panel.set_axis_off()
    beside = {"location": "top", "pad": 0.02} if single else {"pad": 0.015}  # beside one column it would take its width
    bar = figure.colorbar(shades, ax=axes, extend="both", aspect=35, **beside)
    bar.set_ticks(range(LEAST, MOST + 1, 2), labels=[f"$10^{{{x}}}$" for x in range(LEAST, MOST + 1, 2)])
    bar.set_label("$m$ needed for a bound below 1")
    return figure


def _lines(axes: Axes, depth: Array, rho: Array, power: Array) -> None:
    """Lines at powers of ten, each labelled in the middle of its longest piece."""
    if np.isnan(power).all():  # a registered bound that no sample brings below 1
        return
    x = np.linspace(depth[0], depth[-1], 121)
    y = np.geomspace(rho[0], rho[-1], 121)
    along = np.array([np.interp(x, depth, row) for row in power])
    fine = np.array([np.interp(np.log(y), np.log(rho), column) for column in along.T]).T
    step = 2 if np.nanmax(power) - np.nanmin(power) > 5 else 1
    lines = axes.contour(x, y, fine, levels=range(LEAST + step, 19, step), colors=INK, linewidths=0.7)
    for level, pieces in zip(lines.levels, lines.allsegs, strict=True):
        for piece in pieces[:1]:
            place = _middle(axes, piece)
            if place is not None:
                box = {"facecolor": "white", "alpha": 0.75, "edgecolor": "none", "pad": 0.6}
                text = f"$10^{{{level:.0f}}}$"
                axes.text(*place, text, fontsize=8, ha="center", va="center", color=INK, bbox=box, clip_on=True)


def _middle(axes: Axes, piece: Array) -> tuple[float, float] | None:
    """The middle of a line, measured in parts of the axes; None if the line is too short for a label."""
    (left, right), (low, high) = axes.get_xlim(), np.log(axes.get_ylim())
    places = np.column_stack([(piece[:, 0] - left) / (right - left), (np.log(piece[:, 1]) - low) / (high - low)])
    inside = np.all((places > 0.06) & (places < 0.94), axis=1)
    steps = np.append(0, np.cumsum(np.hypot(*np.diff(places, axis=0).T)))
    if steps[-1] < 0.25 or not inside.any():
        return None
    at = int(np.argmin(np.where(inside, np.abs(steps - steps[-1] / 2), np.inf)))
    return float(piece[at, 0]), float(piece[at, 1])


def caption(data: Data) -> str:
    i = int(np.argmin(np.abs(np.log(np.array(data["rho"]) / 0.1))))
    j = int(np.argmin(np.abs(np.array(data["depth"]) - 3)))
    base, n_0 = data["base"], data["base"]["n_0"]
    at = "; ".join(f"{name} {_count(m[i][j])}" for name, m in data["m_needed"].items())
    return (
        "The sample size from which each bound on the risk is below 1, over the depth l and the margin rho. At l = "
        f"{data['depth'][j]} and rho = {data['rho'][i]:.3g} it is: {at}. Layered ReLU families, p = {base['p']:g}, "
        f"n_0 = {n_0}, widths {base['width']}, Lambda_(1,0) = {n_0}^(-1/2), Lambda_(k,k-1) = {WIDTH}^(-1/2)"
        f"{', so that |h| <= 1 as Theorem 1 needs' if data['in_range'] else ''}. All mixture weight is on the top "
        f"layer, all margins of f/W are above rho, and delta = {base['delta']:g}. For each further layer the bounds "
        "with Lemma 2 need about 4 times the sample (Corollary 1: 16 times). Those with lemma-2-peeled and "
        "a-posteriori-bounded need almost no more."
    )


def _count(m: int | None) -> str:
    return "more than 1e18" if m is None else f"{m:.3g}"
