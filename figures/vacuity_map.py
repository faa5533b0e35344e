"""The vacuity map: the least m at which each bound says something, over depth and margin."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from adanet_theory import catalogue
from adanet_theory.catalogue import Bound
from adanet_theory.solve import smallest_m
from figures.canvas import FULL, Data, panels, styled
from figures.family import DELTA, N_0, WIDTH, Setting, bounds, margins, value
from verify.show.plots import INK

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LEAST, MOST = 2, 14  # powers of ten of m that the colours span


def compute(*, quick: bool) -> Data:
    """m_needed[bound][i][j] at rho[i] and depth[j]: the least m with a value below 1."""
    depths = [2, 3, 5, 8] if quick else list(range(2, 11))
    rhos = margins(5 if quick else 17)

    def needed(bound: Bound, rho: float, depth: int) -> int | None:
        base = Setting(rho=rho, depth=depth)
        return smallest_m(lambda m: value(bound, replace(base, m=m)))

    found = {bound.id: [[needed(bound, rho, depth) for depth in depths] for rho in rhos] for bound in bounds()}
    return {"depth": depths, "rho": rhos, "m_needed": found}


@styled
def draw(data: Data) -> Figure:
    """One map for each bound, shaded by log m and with lines at the powers of ten."""
    from matplotlib import colormaps
    from matplotlib.colors import ListedColormap

    columns = -(-len(data["m_needed"]) // 2)
    figure, axes = panels(2, columns, width=FULL, height=3.7, sharex=True, sharey=True)
    depth, rho = np.array(data["depth"]), np.array(data["rho"])
    # the light end of a map, on which ink stays readable; it darkens evenly, in grey too
    colours = ListedColormap(colormaps["Blues"](np.linspace(0, 0.65, 256)))
    for panel, (name, m) in zip(axes, data["m_needed"].items(), strict=False):
        power = np.log10(np.array([[np.nan if value is None else value for value in row] for row in m]))
        shades = panel.pcolormesh(
            depth, rho, power, cmap=colours, vmin=LEAST, vmax=MOST, shading="nearest", rasterized=True
        )
        step = 2 if np.nanmax(power) - np.nanmin(power) > 5 else 1
        levels = [x for x in range(LEAST + 1, 19) if x % step == 0]
        lines = panel.contour(depth, rho, power, levels=levels, colors=INK, linewidths=0.7)
        panel.clabel(lines, fontsize=8, fmt=lambda x: f"$10^{{{x:.0f}}}$", inline_spacing=2)
        panel.set_title(catalogue.bound(name).title, fontsize=8)
        panel.set_yscale("log")
        panel.set_xticks([d for d in depth if d % 2 == 0])
    for panel in (axes[0], axes[columns]):
        panel.set_ylabel(r"margin $\rho$")
    for panel in axes[columns:]:
        panel.set_xlabel("depth $l$")
    for panel in axes[len(data["m_needed"]) :]:
        panel.set_axis_off()
        axes[columns - 1].set_xlabel("depth $l$")
        axes[columns - 1].tick_params(labelbottom=True)
    bar = figure.colorbar(shades, ax=axes, extend="both", aspect=35, pad=0.015)
    bar.set_ticks(range(LEAST, MOST + 1, 2), labels=[f"$10^{{{x}}}$" for x in range(LEAST, MOST + 1, 2)])
    bar.set_label("$m$ needed for a bound below 1")
    return figure


def caption(data: Data) -> str:
    i = int(np.argmin(np.abs(np.log(np.array(data["rho"]) / 0.1))))
    j = data["depth"].index(3)
    at = "; ".join(f"{name} {_count(m[i][j])}" for name, m in data["m_needed"].items())
    return (
        "The sample size from which each bound on the risk is below 1, over the depth l and the margin rho. At l = "
        f"3 and rho = {data['rho'][i]:.3g} it is: {at}. Layered ReLU families, p = 2, n_0 = {N_0}, widths {WIDTH}, "
        "Lambda_(k,k-1) = n_(k-1)^(-1/2), so that |h| <= 1 as Theorem 1 needs; all mixture weight on the top "
        f"layer, all margins of f/W above rho, delta = {DELTA:g}. Deep down the bounds on Lemma 2 need about 4 "
        "times (Corollary 1: 16 times) the sample for each further layer, the others next to nothing."
    )


def _count(m: int | None) -> str:
    return "more than 1e18" if m is None else f"{m:.3g}"
